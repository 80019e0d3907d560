// Which code of a fat binary the emulated GPU runs.
#pragma once

#include <cstddef>
#include <set>
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
  std::string ptx_arch;          ///< "sm_90": what the PTX was made for
  std::vector<std::byte> cubin;  ///< of the emulated architecture; empty if there is none
};

/// 90 of "sm_90" and of "sm_90a".
int arch_number(std::string_view arch);

/// The PTX of a fat binary for `arch`, and its machine code. PTX for "sm_90a" (code that only this
/// chip runs) is for sm_90, too; what is named exactly like `arch` comes first. Where there is none
/// and `older_ptx` is true: the newest for an older architecture. Throws NoPtx, and
/// metrics::FatBinaryError.
SelectedCode select_code(std::span<const std::byte> fat_binary, std::string_view arch,
                         bool older_ptx);

/// Only the machine code for `arch`; empty if there is none. Throws metrics::FatBinaryError.
std::vector<std::byte> select_cubin(std::span<const std::byte> fat_binary, std::string_view arch);

/// The architectures that a fat binary holds PTX for ("sm_75", "sm_90a"). Throws
/// metrics::FatBinaryError.
std::set<std::string> ptx_architectures(std::span<const std::byte> fat_binary);

}  // namespace warpgauge::emulator::runtime
