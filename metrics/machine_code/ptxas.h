// Reads what `nvcc -Xptxas -v` prints: registers, spills, stack and memory of every kernel.
#pragma once

#include <cstdint>
#include <map>
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
  std::uint32_t registers = 0;
  std::uint32_t barriers = 0;
  std::uint64_t frame_bytes = 0;  ///< of the kernel itself, without what it calls
  /// With the frames along the deepest chain of calls, as CUDA 12.8 and later print it. Functions
  /// that call themselves count nothing here.
  std::uint64_t cumulative_stack_bytes = 0;
  std::vector<CalledFunction> called;  ///< directly or not, as far as they are not inlined
  std::uint64_t spill_store_bytes = 0;
  std::uint64_t spill_load_bytes = 0;
  std::uint64_t shared_static_bytes = 0;
  /// Bank -> bytes, as printed with the kernel; from sm_90 on ptxas names no bank at all.
  std::map<int, std::uint64_t> constant_bytes;
  /// `__constant__` variables (bank 3) of the module, for which they are printed once.
  std::uint64_t module_constant_bytes = 0;

  /// The stack that a thread needs. Where functions call themselves, no compiler knows how deep:
  /// then it is one frame of the kernel and of each function that it calls.
  std::uint64_t stack_bytes() const;
  /// Whether this is the same kernel: all is equal but the constants of the module, for a template
  /// may stand in several.
  bool agrees_with(PtxasKernel other) const;
  bool operator==(const PtxasKernel&) const = default;
};

/// Text that cannot be relied on: no kernel is recognised, a kernel lacks its register or stack
/// line, a number is cut off, or one kernel is printed twice with different numbers. what() reads
/// path:line: problem. remedy.
class PtxasError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// All kernels (entry functions) in `text`, in order; none if ptxas says so of each module. One
/// that is printed again with the same numbers (a template in two files) is listed once. Device
/// functions of separate compilation (-rdc=true) count into no kernel: only the device linker knows
/// who calls them. `path` names the text in errors.
std::vector<PtxasKernel> parse_ptxas(std::string_view text, std::string_view path);

}  // namespace warpgauge::metrics
