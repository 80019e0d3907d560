// The architectures that the kernels of this program were compiled for.
#pragma once

#include <string>
#include <vector>

namespace warpgauge {

/// `wanted`, each once, or all of the build if that is empty. Throws std::invalid_argument with the
/// nearest name if one of them was not compiled for.
std::vector<std::string> chosen_archs(const std::vector<std::string>& wanted);

/// The architecture that the emulator has by default: sm_90, or the newest of a build without it.
std::string default_emulated_arch();

}  // namespace warpgauge
