// Holds what ptxas' text says of a kernel against the machine code that runs.
#pragma once

#include <stdexcept>
#include <string>

#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/ptxas.h"

namespace warpgauge::metrics {

class Cubin;

/// A text that says other things of a kernel than its machine code: it is of another build, or was
/// edited. what() reads path:line: problem. remedy.
class ContradictionError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "40 registers, but 32 in the machine code": all that the text says otherwise; empty if it
/// agrees. Equal have to be registers, barriers, the stack frame, the stack with all that is
/// called, static shared memory and the constant banks of the kernel, as far as the text and the
/// cubin have them. In linked code (-rdc=true) the kernel has the frame and the constants of the
/// text, and at least its registers, barriers and shared memory. Spills cannot be compared: no
/// cubin has them.
std::string contradiction(const PtxasKernel& text, const Cubin& cubin,
                          const KernelResources& resources, bool is_linked);

}  // namespace warpgauge::metrics
