// The machine code of the kernels of a case, by the line of source that it is blamed on.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::explain {

struct MachineInstruction {
  std::uint64_t address = 0;  ///< in the code of its kernel
  std::string sass;           ///< as nvdisasm writes it; empty without nvdisasm
  std::string ptx;            ///< the PTX that it was made of; empty where it is not known
};

/// The instructions that a kernel has on a line, by address.
struct LineCode {
  std::string file;  ///< as in facts
  int line = 0;
  std::string kernel;  ///< demangled
  std::vector<MachineInstruction> instructions;
};

struct CodeOfLines {
  std::vector<LineCode> lines;
  std::string note;  ///< sentences: what is shown of the code, and why not more
};

/// The code of these kernels (mangled names) as this program holds it for `arch`. Runs nvdisasm
/// where PATH or $CUDA_HOME/bin has it. Throws metrics::FatBinaryError.
CodeOfLines code_of_lines(const std::set<std::string>& kernels, const std::string& arch);

/// The instructions in what `nvdisasm -c` printed, by kernel and address.
std::map<std::string, std::map<std::uint64_t, std::string>> read_disassembly(std::string_view text);

}  // namespace warpgauge::explain
