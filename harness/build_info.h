// What a program knows of how it was built. Defined in build_info.cpp, which each program compiles
// for itself.
#pragma once

#include <string_view>

namespace warpgauge {

struct BuildInfo {
  std::string_view version;          ///< of warpgauge, "1.2.3"
  std::string_view source_root;      ///< paths in facts are relative to it
  std::string_view ptxas_folder;     ///< where the build keeps what ptxas said of the kernels
  std::string_view cuda_flags;       ///< with which the kernels were compiled
  std::string_view emulated_cudart;  ///< the emulated runtime as a shared library
};

extern const BuildInfo kBuildInfo;

}  // namespace warpgauge
