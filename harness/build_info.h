// Facts about the program's build. build_info.cpp, which each program compiles for itself, defines
// them.
#pragma once

#include <span>
#include <string_view>

namespace warpgauge {

struct BuildInfo {
  std::string_view version;         ///< version of warpgauge, "1.2.3"
  std::string_view toolkit;         ///< CUDA whose nvcc compiled the kernels: "13.0"
  std::string_view newest_toolkit;  ///< the newest that this version of warpgauge is tested with
  std::string_view source_root;     ///< paths in facts are relative to it
  std::string_view built_from;      ///< a commit with the sources that were built; empty: none has
  std::span<const std::string_view> sources;  ///< git's pathspecs of what programs are built from
  std::string_view
      budgets_folder;  ///< folder with <family>.toml; empty: budgets lie beside the sources
  std::string_view project_file;     ///< budgets of the whole project, if it is there
  std::string_view cuda_flags;       ///< flags with which the kernels were compiled
  std::string_view gate_command;     ///< how people call the gate: "ci/gate"
  std::string_view programs_folder;  ///< folder with the programs in Python
  std::string_view emulated_cudart;  ///< the emulated runtime as a shared library
  std::string_view emulated_driver;  ///< the same for programs that also use the driver
  std::string_view audit;            ///< the loader tells it which files a program loads
  std::string_view environment;      ///< keeps variables in the environment of programs
  std::string_view injection;        ///< `attach` injects it; empty in a build without CUPTI
};

extern const BuildInfo kBuildInfo;

/// The path, with a relative one taken from the program's folder, so that an installation can be
/// moved as a whole. It is there until static objects are destroyed.
std::string_view beside_program(const char* path);

}  // namespace warpgauge
