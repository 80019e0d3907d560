// Finds the machine code in a file: a cubin, a fat binary, an object, a shared library, a program,
// or an archive of them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// A cubin in a file.
struct FoundCubin {
  std::string arch;   ///< "sm_90a"
  std::string place;  ///< in the file: "object.o, .nv_fatbin"; empty: all of it
  std::span<const std::byte> image;
};

/// How a file was read.
struct CodeFile {
  bool is_known = false;             ///< of a kind that can have code for GPUs, whether it has any
  std::size_t cubins = 0, ptx = 0;   ///< pieces of code, also those that were not asked for
  std::vector<std::string> damaged;  ///< what could not be read: place and problem, a sentence each
};

/// Whether its first bytes are those of a file that can have code for GPUs.
bool may_have_code(std::span<const std::byte> file);

/// Calls `visit` for each cubin for an architecture that is `wanted`: one at a time, which is
/// unpacked for the call alone. What is damaged is left out, and said; so is what `visit` throws
/// CubinError for.
CodeFile read_code_file(std::span<const std::byte> file,
                        const std::function<bool(std::string_view arch)>& wanted,
                        const std::function<void(const FoundCubin&)>& visit);

}  // namespace warpgauge::metrics
