// The stack that a kernel needs, with what it calls, by ptxas' report.
#include "metrics/machine_code/ptxas_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace warpgauge::metrics {
namespace {

/// Whether the frames of the functions that it calls are not in the stack that ptxas names.
bool has_recursion(const PtxasKernel& kernel) {
  std::uint64_t largest = 0;
  for (const CalledFunction& function : kernel.called) {
    largest = std::max(largest, function.frame_bytes);
  }
  // Each function is on some chain of calls, so that a sum without one of them is of a recursion.
  return largest > 0 && kernel.cumulative_stack_bytes < kernel.frame_bytes + largest;
}

}  // namespace

std::uint64_t PtxasKernel::stack_bytes() const {
  if (!has_recursion(*this)) return std::max(cumulative_stack_bytes, frame_bytes);
  std::uint64_t sum = frame_bytes;
  for (const CalledFunction& function : called) sum += function.frame_bytes;
  return sum;
}

void doubt_stacks(std::vector<PtxasKernel>& kernels, const std::vector<std::size_t>& module_ends) {
  for (std::size_t place = 0; place < kernels.size(); ++place) {
    if (!has_recursion(kernels[place])) continue;
    const std::string doubt = fmt::format(
        "{} calls itself, or is of a kernel that another compiler reported on at the same time",
        std::ranges::max_element(kernels[place].called, {}, &CalledFunction::frame_bytes)->name);
    kernels[place].stack_doubt = doubt;
    for (const std::size_t end : module_ends) {
      if (end < place) kernels[end].stack_doubt = doubt;
    }
  }
}

}  // namespace warpgauge::metrics
