// Reads the records of .nv.info: a byte for the layout, a byte for the attribute, two for the size
// of what follows (layout 4) or for the value itself.
#include "metrics/kernel_resources.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "metrics/cubin.h"

namespace warpgauge::metrics {
namespace {

constexpr std::uint8_t kSizedValue = 4;
constexpr std::uint8_t kRegisterCount = 0x2f;  // symbol of the kernel, number of registers
constexpr std::uint8_t kStackSize = 0x12;      // symbol of the kernel, bytes with all that it calls
constexpr std::uint32_t kMostRegisters = 255;
constexpr std::uint32_t kMostStack = 512 * 1024;  // local memory of a thread; recursion has ~0u

using Bytes = std::span<const std::byte>;

template <typename Value>
std::optional<Value> at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(Value) > bytes.size() - offset) return {};
  Value out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

std::string_view symbol_name(const Cubin& cubin, std::uint32_t index) {
  const auto symbol = at<Elf64_Sym>(cubin.section(".symtab"), index * sizeof(Elf64_Sym));
  const Bytes names = cubin.section(".strtab");
  if (!symbol || symbol->st_name >= names.size()) return "";
  const char* const begin = reinterpret_cast<const char*>(names.data()) + symbol->st_name;
  return {begin, strnlen(begin, names.size() - symbol->st_name)};
}

/// The values of an attribute by kernel, up to `most`.
std::map<std::string, std::uint32_t> values_of(Bytes image, std::uint8_t wanted,
                                               std::uint32_t most) {
  std::map<std::string, std::uint32_t> out;
  try {
    const Cubin cubin(image);
    const Bytes records = cubin.section(".nv.info");
    std::uint64_t offset = 0;
    while (const auto layout = at<std::uint8_t>(records, offset)) {
      const auto attribute = at<std::uint8_t>(records, offset + 1);
      const auto bytes = at<std::uint16_t>(records, offset + 2);
      const auto symbol = at<std::uint32_t>(records, offset + 4);
      const auto value = at<std::uint32_t>(records, offset + 8);
      const bool is_wanted = *layout == kSizedValue && attribute == wanted && bytes == 8;
      if (is_wanted && symbol && value && *value <= most) {
        out.emplace(symbol_name(cubin, *symbol), *value);
      }
      offset += 4u + (*layout == kSizedValue ? bytes.value_or(0) : 0u);
    }
  } catch (const CubinError&) {
    // No machine code: nothing is known of its resources.
  }
  return out;
}

}  // namespace

std::map<std::string, std::uint32_t> registers_of_kernels(std::span<const std::byte> image) {
  return values_of(image, kRegisterCount, kMostRegisters);
}

std::map<std::string, std::uint32_t> stacks_of_kernels(std::span<const std::byte> image) {
  return values_of(image, kStackSize, kMostStack);
}

}  // namespace warpgauge::metrics
