// Selects the code that the emulated GPU runs, of a fat binary or of what a program loads.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::emulator::runtime {

/// Code without PTX for the architecture. what() names the flag to add.
class NoPtx : public std::runtime_error {
 public:
  explicit NoPtx(const std::string& why, bool runs_on_gpu = false)
      : std::runtime_error(why), runs_on_gpu(runs_on_gpu) {}
  const bool runs_on_gpu;  ///< machine code is there
};

/// The architecture that code is wanted for.
struct WantedCode {
  std::string arch;
  /// Where a fat binary has no PTX of that name: takes the newest that the chip runs, and of one
  /// number a before f before neither, as "sm_90a" on sm_90.
  bool older_ptx = false;
};

struct SelectedCode {
  std::string ptx;
  std::string ptx_arch;          ///< "sm_90a": what the PTX was made for
  std::vector<std::byte> cubin;  ///< for the emulated architecture; empty if there is none
  std::string why_no_cubin = "no machine code for the architecture was compiled with it";
};

/// The PTX of a fat binary that is named like the wanted architecture, and the machine code of that
/// name. Throws NoPtx, and metrics::FatBinaryError.
SelectedCode select_code(std::span<const std::byte> fat_binary, const WantedCode& wanted);

/// The code of a module.
struct ModuleCode {
  std::vector<SelectedCode> objects;  ///< of each linked object that has PTX, or its own
  /// Why objects are not in it: those of libraries may have machine code alone (libcudadevrt). What
  /// they define is missing where it is called. Empty: all have PTX.
  std::string left_out;
  std::vector<std::byte> linked_cubin;  ///< of what the device linker made
};

/// The code of what __cudaRegisterFatBinary gets. Throws NoPtx, and metrics::FatBinaryError.
ModuleCode select_registered(const void* wrapper, const WantedCode& wanted);

/// The code of what a program loads: PTX, a cubin that keeps its PTX (-lineinfo), a fat binary, or
/// what __cudaRegisterFatBinary gets. As a driver does, it takes older PTX. Copies all of it.
/// Throws NoPtx, metrics::FatBinaryError, CubinError or ElfError, std::invalid_argument for what is
/// none of these, and ptx::PtxError for PTX of another architecture or a later version.
ModuleCode select_loaded(const void* image, const WantedCode& wanted);

}  // namespace warpgauge::emulator::runtime
