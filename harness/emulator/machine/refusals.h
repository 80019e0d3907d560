// What a module has that is not emulated.
#pragma once

#include <string>
#include <vector>

#include "harness/emulator/machine/core/architecture.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::ptx {
struct Module;
}  // namespace warpgauge::emulator::ptx

namespace warpgauge::emulator::machine {

/// An instruction that is a fault where it is reached.
struct Refusal {
  int line = 0;                ///< in the text of the PTX
  metrics::SourceLine source;  ///< its file is empty where it is not known
  std::string instruction;     ///< "cp.async.bulk"
  std::string why;             ///< empty: the instruction is not known
};

/// Those of its kernels, and of all that they call, by line; nothing is run. Throws ptx::PtxError.
std::vector<Refusal> refusals(ptx::Module module, const Architecture& architecture);

}  // namespace warpgauge::emulator::machine
