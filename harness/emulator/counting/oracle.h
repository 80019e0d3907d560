// Asks the machine code of the same compilation which accesses of the PTX survive, and how wide.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/counting/oracle_answer.h"
#include "harness/emulator/counting/ptx_accesses.h"
#include "harness/emulator/counting/ptx_flow.h"
#include "metrics/cubin.h"
#include "metrics/line_table.h"

namespace warpgauge::emulator::ptx {
struct Module;
}

namespace warpgauge::emulator::counting {

/// Knows one cubin and the PTX that is emulated in its place. Where the two cannot be compared (no
/// cubin, no line table, PTX of another compilation, a section of unknown form) the answers are
/// predictions, with the reason.
class Oracle {
 public:
  /// `ptx` is the text that `module` was parsed from. `cubin` may be empty; its bytes must outlive
  /// the oracle, the others need not.
  Oracle(const ptx::Module& module, std::string_view ptx, std::span<const std::byte> cubin);

  /// One that can only predict widths, because of `reason`.
  Oracle(const ptx::Module& module, std::string reason);

  OracleAnswer about(std::string_view kernel) const;

 private:
  void read_accesses(const ptx::Module& module);
  struct MachineCode {
    metrics::Cubin cubin;
    metrics::SourceLines sources;
    metrics::PtxLines lines;
  };
  OracleAnswer predict(std::string_view kernel, const std::string& reason) const;

  std::map<std::string, std::vector<PtxAccess>, std::less<>> accesses_;  // by kernel
  std::vector<PtxFlow> flows_;                                           ///< of all functions
  std::set<std::string, std::less<>> allocating_;  ///< kernels that call malloc
  std::optional<MachineCode> code_;
  std::string refusal_;  // why there is no code_
};

}  // namespace warpgauge::emulator::counting
