// Looks into a cubin (an ELF file with GPU code): its kernels, their code, and its other sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/elf_sections.h"

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
  /// Bytes of the constant banks that belong to the kernel alone (its parameters among them). ptxas
  /// 13 no longer reports them for sm_90 and later; where it does, the two are equal.
  std::uint64_t constant_bytes(std::string_view kernel) const;
  /// Bytes of the `__constant__` variables, which all kernels of the module share.
  std::uint64_t module_constant_bytes() const;
  /// Static shared memory of a block of the kernel, including that of the functions it calls. Needs
  /// a linked cubin: only the device linker adds them up.
  std::uint64_t shared_static_bytes(std::string_view kernel) const;
  /// The architecture as a number: 90 for sm_90 and for sm_90a.
  int sm() const { return sm_; }
  /// Version of the format: 7 as CUDA 12 writes it, 8 as CUDA 13 does.
  int abi() const { return abi_; }
  /// Its full name, which the ELF header lacks: "sm_90a" where ptxas or the device linker noted the
  /// option -arch, as those of CUDA 13 do; else that of the number.
  std::string arch() const;
  /// The bytes of the first section of that name; empty if there is none.
  std::span<const std::byte> section(std::string_view name) const;
  /// The same, or of the one section "name.NUMBER", as a cubin for the device linker calls it;
  /// empty if there are several, as in a linked one.
  std::span<const std::byte> numbered_section(std::string_view name) const;
  /// Where the section `name` points into the code of kernels: offset -> kernel. What does not make
  /// sense is left out.
  std::map<std::uint64_t, std::string_view> kernels_at(std::string_view name) const;
  /// A function: a kernel, or what kernels call.
  struct Function {
    std::string_view name;
    std::string_view kernel;   ///< in whose section its code is; its own name if it has one itself
    std::uint64_t offset = 0;  ///< in that section
    bool is_entry = false;     ///< a kernel
  };
  /// By the number of their symbol. What does not make sense is left out.
  std::map<std::uint32_t, Function> functions() const;
  /// The functions that are called here and defined elsewhere, by the number of their symbol.
  std::map<std::uint32_t, std::string_view> functions_elsewhere() const;
  /// All sections, that of index 0 among them.
  std::span<const ElfSection> sections() const { return sections_; }
  std::span<const std::byte> image() const { return image_; }

 private:
  const ElfSection* find(std::string_view name) const;
  /// A symbol of a function, and its name; nothing for other symbols.
  struct FunctionSymbol;
  std::vector<FunctionSymbol> function_symbols() const;

  std::span<const std::byte> image_;
  std::vector<ElfSection> sections_;  // that of index 0, which is none, among them
  int sm_ = 0, abi_ = 0;
};

/// The architecture as a number in the header of a cubin; 0 where that is cut off.
int sm_of_cubin(std::span<const std::byte> header);

}  // namespace warpgauge::metrics
