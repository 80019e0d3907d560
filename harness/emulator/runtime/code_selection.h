// Selects the code of a fat binary that the emulated GPU runs.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::emulator::runtime {

/// A fat binary without PTX for the architecture. what() names the flag to add.
class NoPtx : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SelectedCode {
  std::string ptx;
  std::string ptx_arch;          ///< "sm_90a": what the PTX was made for
  std::vector<std::byte> cubin;  ///< for the emulated architecture; empty if there is none
};

/// The PTX of a fat binary that is named like `arch`, and the machine code of that name. Where
/// there is no such PTX and `older_ptx` is true: the newest that the chip runs, and of one number a
/// before f before neither, as "sm_90a" on sm_90. Throws NoPtx, and metrics::FatBinaryError.
SelectedCode select_code(std::span<const std::byte> fat_binary, std::string_view arch,
                         bool older_ptx);

/// Only the machine code for `arch`; empty if there is none. Throws metrics::FatBinaryError.
std::vector<std::byte> select_cubin(std::span<const std::byte> fat_binary, std::string_view arch);

}  // namespace warpgauge::emulator::runtime
