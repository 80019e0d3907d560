// How a program is linked with CUDA, and so why the emulator did not come to see it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpgauge::programs {

struct Linkage {
  std::vector<std::string> needed = {};  ///< shared libraries: "libcudart.so.13"
  bool has_device_code = false;
  bool has_names = false;        ///< of its functions: it is not stripped
  bool loads_libraries = false;  ///< a loader is asked for
};

/// The linkage of an ELF file of 64 bits, found as the shell finds it; parts that cannot be read
/// are left out.
Linkage linkage_of(const std::string& program);

/// Whether it can use CUDA without loading a further library by itself.
bool has_cuda(const Linkage& linkage);

/// Why the CUDA runtime that a program with this linkage has was not replaced by that of this name
/// ("libcudart.so.13"), and what to do; empty if it has none but that.
std::string why_not_replaced(const Linkage& linkage, const std::string& runtime);

/// Why a program with this linkage did not call the runtime of this name, and what to do.
std::string why_not_called(const Linkage& linkage, const std::string& runtime);

}  // namespace warpgauge::programs
