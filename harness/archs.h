// The architectures that the kernels of this program were compiled for.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace warpgauge {

/// `wanted`, or all of the build if that is empty. Throws std::invalid_argument with the nearest
/// name if one of them was not compiled for.
std::vector<std::string> chosen_archs(const std::vector<std::string>& wanted);

/// ", did you mean 'sm_90'?" or nothing, of a name that is not among `known`; CMake's 90 is told,
/// too.
std::string meant_arch(const std::string& arch, std::span<const std::string> known);

/// What the emulator runs kernels as when nobody says: sm_90, or the newest of a build without it.
std::string default_emulated_arch();

}  // namespace warpgauge
