// The GPU code in this program: the cubins and the PTX of its fat binaries, and the names of its
// kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge {

/// A cubin of this program.
struct EmbeddedCubin {
  std::string arch;  ///< "sm_90", "sm_90a"
  std::span<const std::byte> image;
  bool is_linked = false;  ///< made by the device linker (nvcc -rdc=true)
};

/// PTX of this program.
struct EmbeddedPtx {
  std::string arch;  ///< "sm_90a": made for compute_90a
  std::string text;
};

// What these functions return stays until the program ends, also where libraries register more
// code. All that look for code read what is new first: they throw metrics::FatBinaryError for a
// container and metrics::CubinError for a cubin that cannot be read.

/// All cubins of this program, unpacked if they were compressed.
const std::deque<EmbeddedCubin>& embedded_cubins();

/// All PTX of this program. An architecture that was compiled to machine code alone (nvcc -gencode
/// ...,code=sm_90) has none.
const std::deque<EmbeddedPtx>& embedded_ptx();

/// The cubins that hold `kernel` for `arch`: a template of several sources is in several.
std::vector<const EmbeddedCubin*> find_cubins(std::string_view kernel, std::string_view arch);

/// The first of them, or nullptr.
const EmbeddedCubin* find_cubin(std::string_view kernel, std::string_view arch);

/// Reads all cubins, as the first find_cubin() does. A call before a fork reads them for all
/// processes.
void read_cubins();

/// The PTX that defines `kernel` for `arch`, or nullptr.
const EmbeddedPtx* find_ptx(std::string_view kernel, std::string_view arch);

/// The hash of the code of `kernel` for `arch` (see metrics::Cubin); empty if the code is not
/// embedded. Computed once, because every fact carries it.
const std::string& sass_hash(const std::string& kernel, const std::string& arch);

/// The hash of the present source files of the code of `kernel` for `arch`, without those of the
/// toolkit; empty without line information, or where a file cannot be read.
const std::string& source_hash(const std::string& kernel, const std::string& arch);

/// The blocks of a cluster in x, y and z (__cluster_dims__) in the code of `kernel` for `arch`;
/// nullopt where the code has no such size or is not embedded.
std::optional<std::array<std::uint32_t, 3>> cluster_of_code(const std::string& kernel,
                                                            const std::string& arch);

/// The mangled name of the kernel with the host stub at `stub`; empty if unknown.
std::string kernel_name(const void* stub);

/// A hash of each fat binary of this program, by which programs of the same machine see whether
/// they have the same kernels. Throws metrics::FatBinaryError.
std::set<std::string> fat_binary_hashes();

// Called by the wrapped registration functions, before main. What is registered is read when it is
// first asked for, where errors can be caught.
void register_fat_binary(const void* wrapper);
void register_kernel(const void* stub, const char* name);

}  // namespace warpgauge
