// Compiles PTX and CUDA sources with the compilers of a toolkit.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/toolchain/toolkit.h"

namespace warpgauge::toolchain {

struct Source {
  std::filesystem::path path;
  std::string name;             ///< the name of its cubins, which no other source has
  std::set<std::string> archs;  ///< the architectures that it is compiled for
};

/// One run of a compiler, and the files that it writes.
struct CompilerRun {
  std::string arch;
  std::vector<std::string> arguments;  ///< for the compiler, beside those that every run has
  std::filesystem::path output;        ///< the cubin or the program
  std::filesystem::path messages;      ///< what the compiler prints: `ptxas -v`
};

/// The sources of these files, each file once. If `archs` is empty, PTX is compiled for its
/// .target. Throws std::runtime_error for a file that is missing or is neither PTX nor CUDA, and
/// for CUDA without architectures.
std::vector<Source> sources_of(const std::vector<std::filesystem::path>& files,
                               const std::vector<std::string>& archs);

/// A hash of the text of all sources.
std::string hash_of(const std::vector<Source>& sources);

/// Throws std::runtime_error if the toolkit lacks the compiler or an architecture of the source.
void require_compiler(const Toolkit& toolkit, const Source& source);

/// Compiles a source to a cubin with line tables, PTX with ptxas and CUDA with nvcc. Throws
/// std::runtime_error with the compiler's messages if it fails.
void compile(const Toolkit& toolkit, const Source& source, const CompilerRun& run);

/// Throws std::runtime_error for PTX, which has no host code, and std::invalid_argument for
/// architectures that the emulator does not know.
void require_programs(const std::vector<Source>& sources);

/// Throws std::runtime_error if the emulator does not run programs of the toolkit's major version.
void require_runtime(const Toolkit& toolkit);

/// Builds one program of all sources with nvcc, for the emulator. Throws as compile() does.
void build(const Toolkit& toolkit, const std::vector<Source>& sources, const CompilerRun& run);

}  // namespace warpgauge::toolchain
