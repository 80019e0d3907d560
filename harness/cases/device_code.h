// The GPU code inside this program: the cubins and the PTX of its fat binaries, and the names of
// its kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge {

/// A cubin of this program.
struct EmbeddedCubin {
  std::string arch;  ///< "sm_90", "sm_90a"
  std::span<const std::byte> image;
  bool is_linked = false;  ///< by the device linker (nvcc -rdc=true)
};

/// PTX of this program.
struct EmbeddedPtx {
  std::string arch;  ///< "sm_90a": made for compute_90a
  std::string text;
};

/// All cubins of this program, unpacked if they were compressed. Throws metrics::FatBinaryError.
const std::vector<EmbeddedCubin>& embedded_cubins();

/// All PTX of this program; none for an architecture of which only machine code was asked for
/// (nvcc -gencode ...,code=sm_90). Throws metrics::FatBinaryError.
const std::vector<EmbeddedPtx>& embedded_ptx();

/// The cubins that hold `kernel` for `arch`: a template of several sources is in several. Throws
/// metrics::FatBinaryError.
std::vector<const EmbeddedCubin*> find_cubins(std::string_view kernel, std::string_view arch);

/// The first of them, or nullptr.
const EmbeddedCubin* find_cubin(std::string_view kernel, std::string_view arch);

/// Does what find_cubin() does when it is first asked: read all of them. In front of a fork, it
/// does so for all processes.
void read_cubins();

/// The PTX that defines `kernel` for `arch`, or nullptr. Throws metrics::FatBinaryError.
const EmbeddedPtx* find_ptx(std::string_view kernel, std::string_view arch);

/// The hash of the code of `kernel` for `arch` (see metrics::Cubin); empty if it is not embedded.
/// Worked out once: every fact carries it.
const std::string& sass_hash(const std::string& kernel, const std::string& arch);

/// The hash of the source files that the code of `kernel` for `arch` comes from, as they are now,
/// those of the toolkit left out; empty without line information, or where a file cannot be read.
const std::string& source_hash(const std::string& kernel, const std::string& arch);

/// The blocks of a cluster, in x, y and z, that the code of `kernel` for `arch` is made for
/// (__cluster_dims__); nothing where it is for none, or not embedded.
std::optional<std::array<std::uint32_t, 3>> cluster_of_code(const std::string& kernel,
                                                            const std::string& arch);

/// The mangled name of the kernel whose host stub is at `stub`; empty if unknown.
std::string kernel_name(const void* stub);

// Called by the wrapped registration functions, before main. What is registered is read when it is
// first asked for, where errors can be caught.
void register_fat_binary(const void* wrapper);
void register_kernel(const void* stub, const char* name);

}  // namespace warpgauge
