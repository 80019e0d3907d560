// Looks into a cubin (an ELF file with GPU code): kernels, their code, and where it spills.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// An image that is no cubin or is damaged. what() says where in the file, and what to do.
class CubinError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A view of a cubin; the bytes must outlive it. The constructor checks all that is read later, so
/// no image, however damaged, makes the other functions fail.
class Cubin {
 public:
  explicit Cubin(std::span<const std::byte> image);  ///< throws CubinError if it is no 64-bit cubin

  /// Mangled names of the functions with code of their own. Besides the kernels these are, with
  /// -G or -rdc=true, the device functions that are not inlined.
  std::vector<std::string> kernels() const;
  /// Machine code of a kernel; empty if there is none of that name.
  std::span<const std::byte> code(std::string_view kernel) const;
  /// 16 hex digits that change exactly when the code of the kernel changes; empty if unknown.
  std::string sass_hash(std::string_view kernel) const;
  /// Offsets into code(kernel) of the instructions that touch local memory (LDL, STL) and can
  /// execute.
  std::vector<std::uint64_t> local_accesses(std::string_view kernel) const;
  /// Bytes of the constant banks that belong to the kernel alone (its parameters among them). ptxas
  /// 13 no longer tells them for sm_90 and later; where it does, the two are equal.
  std::uint64_t constant_bytes(std::string_view kernel) const;
  std::span<const std::byte> image() const { return image_; }

 private:
  struct Section {
    std::string_view name;
    std::span<const std::byte> bytes;
  };
  std::span<const std::byte> image_;
  std::vector<Section> sections_;
};

}  // namespace warpgauge::metrics
