// The kernels of a module in the machine code of the same compilation.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/oracle.h"
#include "harness/emulator/machine/core/access_plan.h"
#include "harness/emulator/ptx/module.h"
#include "harness/emulator/runtime/code_selection.h"
#include "metrics/counting/emulator_report.h"
#include "metrics/machine_code/kernel_resources.h"

namespace warpgauge::emulator::runtime {

class MachineCode {
 public:
  struct Answer {
    machine::AccessPlans plans;
    counting::KernelTrust trust;
    metrics::ReportedCode code;  ///< empty without machine code
  };

  /// `module` was parsed from the PTX of `code`. Both must outlive this.
  MachineCode(const ptx::Module& module, const SelectedCode& code);

  /// An object that was compiled apart (nvcc -rdc=true), with its code, which must outlive this.
  struct Object {
    ptx::Module module;
    const SelectedCode* code;
    int first_line;  ///< where its PTX begins in the program's, less 1
  };
  /// `program` was linked from the PTX of the objects, and `cubin` from their machine code; the
  /// program must outlive this. A kernel is compared with the machine code of its object. Where it
  /// calls functions, which have machine code of their own, widths are predicted.
  MachineCode(std::vector<Object> objects, const ptx::Module& program,
              std::vector<std::byte> cubin);
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  Answer about(const std::string& kernel) const;

 private:
  struct Part {
    counting::Oracle oracle;
    int first_line;
  };
  const std::vector<Object> objects_;
  std::vector<Part> parts_;                     ///< look into them
  std::map<std::string, std::size_t> part_of_;  ///< by kernel; the first where it is not there
  std::set<std::string> launching_;             ///< kernels that may call the device runtime
  std::vector<std::byte> linked_;
  std::span<const std::byte> cubin_;  ///< the code that runs
  std::map<std::string, metrics::KernelResources> resources_;
};

}  // namespace warpgauge::emulator::runtime
