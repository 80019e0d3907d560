// CUDA toolkits that are installed or unpacked somewhere.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace warpgauge::toolchain {

struct Toolkit {
  std::filesystem::path path;          ///< as it was named
  std::filesystem::path programs;      ///< the folder that has ptxas
  std::string version;                 ///< the version of ptxas: "12.4.131"
  std::vector<std::string> archs;      ///< architectures of ptxas, as it lists them: "sm_90a"
  std::chrono::seconds time_limit{0};  ///< for each run of its compilers; 0: none

  /// "CUDA 12.4.131 in PATH".
  std::string str() const;
};

/// The toolkit in a folder: in `bin` of it, or where NVIDIA's compiler wheels have it. Throws
/// std::runtime_error if there is none, or its ptxas does not run.
Toolkit toolkit_in(const std::filesystem::path& folder, std::chrono::seconds time_limit);

/// Throws std::runtime_error if the toolkit does not compile for this architecture.
void require_arch(const Toolkit& toolkit, const std::string& arch);

}  // namespace warpgauge::toolchain
