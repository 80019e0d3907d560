// What the machine code of the same compilation tells of the kernels of a module.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "harness/emulator/line_counts.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/oracle.h"
#include "harness/emulator/ptx/module.h"
#include "harness/emulator/runtime/code_selection.h"

namespace warpgauge::emulator {

class MachineCode {
 public:
  struct Answer {
    machine::AccessPlans plans;
    KernelTrust trust;
    int registers = 0;  ///< per thread; 0 if there is no machine code to tell
  };

  /// `module` was parsed from the PTX of `code`, which must outlive this.
  MachineCode(const ptx::Module& module, const SelectedCode& code);

  Answer about(const std::string& kernel) const;

 private:
  Oracle oracle_;
  std::map<std::string, int> registers_;
};

}  // namespace warpgauge::emulator
