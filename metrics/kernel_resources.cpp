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

constexpr std::uint8_t kByteValue = 2;  // of the record: its third byte is the value
constexpr std::uint8_t kSizedValue = 4;
// Symbol of the kernel, and a number.
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kStackSize = 0x12;
// In the kernel's own section.
constexpr std::uint8_t kBarrierCount = 0x4c;
constexpr std::uint32_t kMostRegisters = 255;
constexpr std::uint32_t kMostStack = 512 * 1024;  // local memory of a thread; recursion has ~0u
constexpr std::uint8_t kNewAbi =
    8;  // since CUDA 13, which leaves out the barriers where they are 0

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

struct Record {
  std::uint8_t layout = 0, attribute = 0;
  Bytes value;  // of two bytes where the layout is of no size
};

template <typename Visit>  // visit(record)
void for_each_record(Bytes records, Visit visit) {
  std::uint64_t offset = 0;
  while (const auto layout = at<std::uint8_t>(records, offset)) {
    const auto attribute = at<std::uint8_t>(records, offset + 1);
    const auto bytes = at<std::uint16_t>(records, offset + 2);
    if (!attribute || !bytes) return;
    const bool is_sized = *layout == kSizedValue;
    const std::uint64_t begin = offset + (is_sized ? 4 : 2), size = is_sized ? *bytes : 2;
    if (size > records.size() - begin) return;
    visit(Record{*layout, *attribute, records.subspan(begin, size)});
    offset = begin + size;
  }
}

/// Up to `most`.
std::optional<std::uint32_t> up_to(std::uint32_t most, std::uint32_t value) {
  return value <= most ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> barriers_of(const Cubin& cubin, const std::string& kernel) {
  std::optional<std::uint32_t> barriers;
  if (cubin.abi() >= kNewAbi) barriers = 0;
  for_each_record(cubin.section(".nv.info." + kernel), [&](const Record& record) {
    if (record.attribute != kBarrierCount) return;
    barriers = record.layout == kByteValue ? at<std::uint8_t>(record.value, 0) : std::nullopt;
  });
  return barriers;
}

std::map<std::string, KernelResources> read(const Cubin& cubin) {
  std::map<std::string, KernelResources> kernels;
  for_each_record(cubin.section(".nv.info"), [&](const Record& record) {
    if (record.layout != kSizedValue || record.value.size() != 8) return;
    const auto symbol = at<std::uint32_t>(record.value, 0),
               value = at<std::uint32_t>(record.value, 4);
    const auto of_kernel = [&]() -> KernelResources& {
      return kernels[std::string(symbol_name(cubin, *symbol))];
    };
    if (record.attribute == kRegisterCount) of_kernel().registers = up_to(kMostRegisters, *value);
    if (record.attribute == kFrameSize) of_kernel().frame_bytes = up_to(kMostStack, *value);
    if (record.attribute == kStackSize) of_kernel().stack_bytes = up_to(kMostStack, *value);
  });
  for (auto& [name, kernel] : kernels) kernel.barriers = barriers_of(cubin, name);
  return kernels;
}

}  // namespace

std::map<std::string, KernelResources> resources_of_kernels(std::span<const std::byte> image) {
  try {
    return read(Cubin(image));
  } catch (const CubinError&) {
    return {};  // no machine code: nothing is known of its resources
  }
}

}  // namespace warpgauge::metrics
