// Texts of accesses, for messages.
#pragma once

#include <cstdint>
#include <string>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/window.h"

namespace warpgauge::emulator::machine {

/// "0x7f..."
std::string hexadecimal(std::uint64_t value);

/// "1 byte", "400 bytes"
std::string bytes_text(std::uint64_t bytes);

/// "global read of 4 bytes at 0x7f..."
std::string title(const Access& access, Window window, std::uint64_t address);

}  // namespace warpgauge::emulator::machine
