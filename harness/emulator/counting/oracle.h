// Asks the machine code of the same compilation which accesses of the PTX survive, and how wide.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/counting/oracle_answer.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::emulator::ptx {
struct Module;
}

namespace warpgauge::emulator::counting {

/// Knows one cubin and the PTX that is emulated in its place. Where the two cannot be compared (no
/// cubin, no line table, PTX of another compilation, a section of unknown form) the answers are
/// predictions, with the reason.
class Oracle {
 public:
  /// `ptx` is the text that `module` was parsed from. Module and cubin must
  /// outlive the oracle, the text need not.
  Oracle(const ptx::Module& module, std::string_view ptx, std::span<const std::byte> cubin);

  /// One that can only predict widths, because of `reason`.
  Oracle(const ptx::Module& module, std::string reason)
      : module_(module), refusal_(std::move(reason)) {}

  /// Reads the kernel anew each time.
  OracleAnswer about(std::string_view kernel) const;

 private:
  struct MachineCode {
    metrics::Cubin cubin;
    metrics::SourceLines sources;
    metrics::PtxLines lines;
  };

  const ptx::Module& module_;
  std::optional<MachineCode> code_;
  std::string refusal_;  // why there is no code_
};

}  // namespace warpgauge::emulator::counting
