// The architectures that the kernels of this program were compiled for.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {
struct Device;
}

namespace warpgauge {

struct Case;

/// Machine code of a kernel that a build lacks. what() says which, and what to do.
class NoMachineCode : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The architectures of the machine code with line tables that is in this program, in ascending
/// order ("sm_90", "sm_90a", "sm_100"): warpgauge_watch() asks for these tables, libraries of
/// others have none. Throws NoMachineCode if there is no such kernel.
const std::vector<std::string>& built_archs();

/// `wanted`, each once, or all of the build if that is empty. Throws std::invalid_argument with the
/// nearest name if one of them was not compiled for.
std::vector<std::string> chosen_archs(const std::vector<std::string>& wanted);

/// The architecture that the emulator has by default: sm_90, without it sm_90a, without both the
/// newest of the build; of one number sm_100 before sm_100a and sm_100f, which may use what the
/// emulator refuses.
std::string default_emulated_arch();
std::string default_emulated_arch(const std::vector<std::string>& built);  ///< in ascending order

/// Is there code of the case for this architecture? See Variants::needs().
bool exists_on(const Case& test_case, std::string_view arch);

/// The architecture that the case needs, as text: "sm_90 or later" or "sm_90a"; empty if any does.
std::string needs_text(const Case& test_case);

/// The full name of the architecture whose code runs on the device: on a GPU that of the build that
/// the driver takes ("sm_90a" on 9.0), or the GPU's own where the driver compiles PTX.
std::string running_arch(const metrics::Device& device);

}  // namespace warpgauge
