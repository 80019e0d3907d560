// Finds the machine code in a file: a cubin, a fat binary, an object, a shared library, a program,
// or an archive of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
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

/// PTX in a file, unpacked.
struct FoundPtx {
  std::string arch;   ///< "sm_90a": of PTX for compute_90a
  std::string place;  ///< as of a cubin
  std::string text;
};

/// The result of reading a file.
struct CodeFile {
  bool is_known = false;             ///< the file can hold code for GPUs, whether or not it does
  std::size_t cubins = 0, ptx = 0;   ///< pieces of code, wanted or not
  std::vector<std::string> to_link;  ///< wanted pieces that the device linker is yet to compile
  std::vector<std::string> skipped;  ///< files of an archive that cannot hold code
  std::vector<std::string> damaged;  ///< a sentence with place and problem for each damaged piece
};

/// True if the file begins like one that can hold code for GPUs.
bool may_have_code(std::span<const std::byte> file);

/// True if a file of that name should have code: a library, an object, a cubin, a wheel... Also
/// where it is packed: "lib.so.gz", "build.tar.xz".
bool is_named_as_code(std::string_view name);

/// Why a file that is named as code, and does not begin like any, is not readable; nothing for a
/// script of the linker, which only names libraries.
std::optional<std::string> why_no_code_file(std::span<const std::byte> file);

/// Calls `visit` for each cubin whose architecture is `wanted`. A cubin is unpacked for the call
/// alone. Damaged pieces, and cubins for which `visit` throws CubinError, are left out and listed
/// in the result. `visit_ptx`, if set, is called for wanted PTX, that of objects in a program that
/// the device linker linked among it.
CodeFile read_code_file(std::span<const std::byte> file,
                        const std::function<bool(std::string_view arch)>& wanted,
                        const std::function<void(const FoundCubin&)>& visit,
                        const std::function<void(const FoundPtx&)>& visit_ptx = {});

}  // namespace warpgauge::metrics
