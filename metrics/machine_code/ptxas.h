// Reads what `nvcc -Xptxas -v` prints, in the log of a build: registers, spills, stack and shared
// memory of every kernel.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// A function that a kernel calls, compiled on its own.
struct CalledFunction {
  std::string name;  ///< mangled
  std::uint64_t frame_bytes = 0;

  bool operator==(const CalledFunction&) const = default;
};

/// ptxas' report on one kernel and architecture. Sizes in bytes per thread (stack, spills) or per
/// block (shared). A kind of memory or barrier that ptxas leaves out is 0.
struct PtxasKernel {
  std::string name;  ///< mangled
  std::string arch;  ///< "sm_90"
  int line = 0;      ///< where its report begins in the log
  std::uint32_t registers = 0;
  std::uint32_t barriers = 0;
  std::uint64_t frame_bytes = 0;  ///< the kernel's own, without what it calls
  /// With the frames along the deepest chain of calls, as CUDA 12.8 and later print it. Functions
  /// that call themselves count nothing here.
  std::uint64_t cumulative_stack_bytes = 0;
  std::vector<CalledFunction> called;  ///< directly or not, as far as they are not inlined
  std::uint64_t spill_store_bytes = 0;
  std::uint64_t spill_load_bytes = 0;
  std::uint64_t shared_static_bytes = 0;
  std::string stack_doubt;  ///< why stack_bytes() may be wrong; empty: it is right

  /// The stack that a thread needs. Where functions call themselves, no compiler knows how deep:
  /// then it is one frame of the kernel and of each function that it calls.
  std::uint64_t stack_bytes() const;
  bool operator==(const PtxasKernel&) const = default;
};

/// A log that cannot be relied on: it has nothing of ptxas, a line is cut off, a kernel lacks a
/// line, or a line may be of several kernels. what() reads path:line: problem. remedy.
class PtxasError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The report on each kernel (entry function) in `text`, in their order; a kernel of several files
/// has several. None if ptxas says so of each module. Other text may stand between and in front of
/// its lines, and compilers that ran at once may have written them. Device functions of separate
/// compilation (-rdc=true) count into no kernel: only the device linker knows who calls them.
/// `path` names the text in errors. Throws PtxasError.
std::vector<PtxasKernel> parse_ptxas(std::string_view text, std::string_view path);

}  // namespace warpgauge::metrics
