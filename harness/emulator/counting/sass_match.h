// Matches the instructions of the machine code with the accesses of the PTX they were made of.
#pragma once

#include <span>
#include <string_view>

#include "harness/emulator/counting/code_with_lines.h"
#include "harness/emulator/counting/match.h"
#include "harness/emulator/counting/ptx_accesses.h"
#include "harness/emulator/counting/ptx_flow.h"

namespace warpgauge::emulator::counting {

/// `accesses` are those of the kernel and must outlive the result; `flows` are those of the module.
Comparison compare(std::span<const PtxAccess> accesses, std::span<const PtxFlow> flows,
                   const CodeWithLines& code, std::string_view kernel);

}  // namespace warpgauge::emulator::counting
