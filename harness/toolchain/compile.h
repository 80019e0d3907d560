// Compiles PTX and CUDA sources by the compilers of a toolkit.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/toolchain/toolkit.h"

namespace warpgauge::toolchain {

struct Source {
  std::filesystem::path path;
  std::string name;             ///< names its cubins: each source has another
  std::set<std::string> archs;  ///< the architectures that it is compiled for
};

/// The sources of these files, each file once. PTX is compiled for its .target where no
/// architectures are named. Throws std::runtime_error for a file that is not there or is neither
/// PTX nor CUDA, and for CUDA without architectures.
std::vector<Source> sources_of(const std::vector<std::filesystem::path>& files,
                               const std::vector<std::string>& archs);

/// The text of all sources as a hash.
std::string hash_of(const std::vector<Source>& sources);

/// Throws std::runtime_error if the toolkit lacks the compiler or an architecture of the source.
void require_compiler(const Toolkit& toolkit, const Source& source);

/// Compiles a source for one architecture, with line tables and these arguments: PTX by ptxas, CUDA
/// by nvcc. What the compiler says (`ptxas -v`) is written to `messages`. Throws std::runtime_error
/// with that if it fails.
void compile(const Toolkit& toolkit, const Source& source, const std::string& arch,
             const std::vector<std::string>& arguments, const std::filesystem::path& cubin,
             const std::filesystem::path& messages);

/// Throws std::runtime_error if a source is of no program, and std::invalid_argument for
/// architectures that the emulator does not know.
void require_programs(const std::vector<Source>& sources);

/// Throws std::runtime_error if the emulator does not run programs of the toolkit's major version.
void require_runtime(const Toolkit& toolkit);

/// Builds one program of all sources by nvcc, for the emulator, as compile() does.
void build(const Toolkit& toolkit, const std::vector<Source>& sources, const std::string& arch,
           const std::vector<std::string>& arguments, const std::filesystem::path& program,
           const std::filesystem::path& messages);

}  // namespace warpgauge::toolchain
