// Runs small kernels, written in PTX, on the machine. The tests of its engine share this.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/options.h"
#include "harness/emulator/machine/core/order.h"
#include "harness/emulator/machine/core/outcome.h"

namespace warpgauge::emulator::machine {

class Kernel;
class Machine;

using Words = std::vector<std::uint32_t>;

/// A kernel k of `body`. Each thread finds in %rd1 the address of its own word of the output, in
/// %rd0 that of all output, in %rd2 that of the input, in %r0 its number in the block, in %r1 its
/// number in the grid (blocks of one dimension). `items` are put in front of the kernel.
inline std::string kernel_text(std::string_view body, std::string_view items = "") {
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n";
  text += items;
  text += R"(
.visible .entry k(.param .u64 output, .param .u64 input) {
  .reg .pred %p<16>; .reg .b16 %h<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<16>;
  ld.param.u64 %rd0, [output];
  ld.param.u64 %rd2, [input];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r1, %r1, %r2, %r0;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd0, %rd1;
)";
  text += body;
  return text + "\n}\n";
}

/// Warp instructions that kernel_text puts in front of the body.
inline constexpr std::uint64_t kPrologue = 8;

/// A launch of the kernel k with what it leaves behind.
struct KernelRun {
  LaunchOutcome outcome;
  std::vector<Finding> findings;
  Words output;
};

/// Times that warps divided, at all branches together.
inline std::uint64_t divergent(const LaunchOutcome& outcome) {
  std::uint64_t sum = 0;
  for (const BranchTotals& branch : outcome.branches) sum += branch.divided;
  return sum;
}

struct Shape {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{32, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  int watched = 0;              ///< line of a branch; 0: none
  std::uint32_t registers = 0;  ///< a thread's at launch; 0: not known
  bool is_unwritten = false;    ///< the machine does not know that its memory was written
  std::optional<std::array<std::uint32_t, 3>> cluster = std::nullopt;  ///< blocks
  std::uint64_t order = 0;  ///< the seed of an order of warps and blocks; 0: the usual one
  std::uint64_t resident_blocks = 0;  ///< that the GPU holds at once; 0: not known
};

/// Options of tests: an endless loop ends as a failure.
inline Options limited() {
  Options options;
  options.step_limit = 10'000'000;
  return options;
}

/// The kernel k of `text` on a machine of its own. Its output has a word for each thread, 0 at
/// first.
class LoadedKernel {
 public:
  explicit LoadedKernel(const std::string& text, const Shape& shape = {}, const Words& input = {},
                        Options options = limited());
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  /// A launch of the shape, which points to memory of this object.
  Launch launch() const;
  /// Throws Fault.
  LaunchOutcome run(const Launch& launch);
  Words output() const;

 private:
  const Shape shape_;
  const std::unique_ptr<Machine> machine_;
  const std::unique_ptr<Interleaving> interleaving_;
  Kernel* const kernel_;
  std::array<std::byte*, 2> parameters_{};  ///< output, input
};

/// Runs the kernel k of `text` with these words of input. Throws Fault.
KernelRun run_kernel(const std::string& text, const Shape& shape = {}, const Words& input = {},
                     Options options = limited());

inline KernelRun run_body(std::string_view body, const Shape& shape = {}, const Words& input = {},
                          Options options = limited()) {
  return run_kernel(kernel_text(body), shape, input, std::move(options));
}

/// The texts of the findings of the checks in a run. It has one worker: the checks can miss one of
/// two accesses that two workers make at the same time.
std::vector<std::string> findings_of(const std::string& text, const Shape& shape,
                                     std::string_view checks, const Words& input = {});

/// The fault that the run ends with; nothing if it ends without one.
std::optional<Fault> fault_of(const std::string& text, const Shape& shape = {},
                              Options options = limited());

/// Sums over all executions of instructions that access this space.
inline AccessTotals totals_of(const LaunchOutcome& outcome, AccessTotals::Space space) {
  AccessTotals sum;
  for (const InstructionTotals& totals : outcome.totals) {
    if (totals.access.space != space) continue;
    sum.requests += totals.access.requests;
    sum.wavefronts += totals.access.wavefronts;
    sum.sectors += totals.access.sectors;
  }
  return sum;
}

/// Warp instructions that stored to global memory: 1 a warp if all its lanes were together.
inline std::uint64_t stores(const LaunchOutcome& outcome) {
  return totals_of(outcome, AccessTotals::Space::global_store).requests;
}

/// {function(0), function(1), ...}
template <typename Function>
Words words(std::size_t count, Function function) {
  Words result(count);
  for (std::size_t n = 0; n < count; ++n) result[n] = static_cast<std::uint32_t>(function(n));
  return result;
}

}  // namespace warpgauge::emulator::machine
