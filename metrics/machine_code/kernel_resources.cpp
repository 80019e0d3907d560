// Reads the attributes of .nv.info that tell resources.
#include "metrics/machine_code/kernel_resources.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "metrics/architecture/arch_name.h"
#include "metrics/machine_code/nv_info.h"
#include "metrics/machine_code/sass.h"

namespace warpgauge::metrics {
namespace {

// Attributes of .nv.info: the symbol of the kernel, and a number.
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kStackSize = 0x12;
// Attributes of the kernel's own section.
constexpr std::uint8_t kBarrierCount = 0x4c;
constexpr std::uint8_t kBlocksOfCluster = 0x3d;
constexpr std::uint8_t kMostThreads = 0x05, kRequiredThreads = 0x10;
constexpr std::uint32_t kMostRegisters = 255;
constexpr std::uint32_t kMostStack = 512 * 1024;  // local memory of a thread; recursion has ~0u
constexpr std::uint8_t kNewAbi =
    8;  // since CUDA 13, which leaves out the barriers where they are 0

using nv_info::at, nv_info::Bytes, nv_info::for_each_record, nv_info::Record;

std::string_view symbol_name(const Cubin& cubin, std::uint32_t index) {
  const auto symbol = at<Elf64_Sym>(cubin.section(".symtab"), index * sizeof(Elf64_Sym));
  const Bytes names = cubin.section(".strtab");
  if (!symbol || symbol->st_name >= names.size()) return "";
  const char* const begin = reinterpret_cast<const char*>(names.data()) + symbol->st_name;
  return {begin, strnlen(begin, names.size() - symbol->st_name)};
}

/// The value, or nullopt if it is above `most`.
std::optional<std::uint32_t> up_to(std::uint32_t most, std::uint32_t value) {
  return value <= most ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> barriers_of(const Cubin& cubin, const std::string& kernel) {
  std::optional<std::uint32_t> barriers;
  if (cubin.abi() >= kNewAbi) barriers = 0;
  for_each_record(cubin.section(".nv.info." + kernel), [&](const Record& record) {
    if (record.attribute != kBarrierCount) return;
    barriers =
        record.layout == nv_info::kByteValue ? at<std::uint8_t>(record.value, 0) : std::nullopt;
  });
  return barriers;
}

using Dimensions = std::array<std::uint32_t, 3>;

/// The value in x, y and z of an attribute of the kernel's own section.
std::optional<Dimensions> dimensions_in(const Cubin& cubin, const std::string& kernel,
                                        std::uint8_t attribute) {
  std::optional<Dimensions> dimensions;
  for_each_record(cubin.section(".nv.info." + kernel), [&](const Record& record) {
    if (record.attribute != attribute || record.layout != nv_info::kSizedValue) return;
    dimensions = at<Dimensions>(record.value, 0);
  });
  return dimensions;
}

/// True if the code may have setmaxnreg: only code for one architecture or a family, such as
/// sm_90a, may.
bool has_register_changes(const Cubin& cubin) {
  const auto arch = ArchName::parse(cubin.arch());
  return arch && arch->suffix != 0;
}

void add_register_changes(const Cubin& cubin, const std::string& name, KernelResources& kernel) {
  for (const std::uint32_t registers : register_changes(cubin, name)) {
    kernel.least_registers = std::min(kernel.least_registers.value_or(registers), registers);
    kernel.most_registers = std::max(kernel.most_registers.value_or(registers), registers);
  }
}

}  // namespace

std::map<std::string, KernelResources> resources_of_kernels(const Cubin& cubin) {
  std::map<std::string, KernelResources> kernels;
  for_each_record(cubin.section(".nv.info"), [&](const Record& record) {
    if (record.layout != nv_info::kSizedValue || record.value.size() != 8) return;
    const auto symbol = at<std::uint32_t>(record.value, 0),
               value = at<std::uint32_t>(record.value, 4);
    const auto of_kernel = [&]() -> KernelResources& {
      return kernels[std::string(symbol_name(cubin, *symbol))];
    };
    if (record.attribute == kRegisterCount) of_kernel().registers = up_to(kMostRegisters, *value);
    if (record.attribute == kFrameSize) of_kernel().frame_bytes = up_to(kMostStack, *value);
    if (record.attribute == kStackSize) of_kernel().stack_bytes = up_to(kMostStack, *value);
  });
  for (auto& [name, kernel] : kernels) {
    kernel.barriers = barriers_of(cubin, name);
    kernel.cluster = dimensions_in(cubin, name, kBlocksOfCluster);
    const auto required = dimensions_in(cubin, name, kRequiredThreads);
    kernel.most_threads = required ? required : dimensions_in(cubin, name, kMostThreads);
    if (has_register_changes(cubin)) add_register_changes(cubin, name, kernel);
  }
  return kernels;
}

std::map<std::string, KernelResources> resources_of_kernels(std::span<const std::byte> image) {
  try {
    return resources_of_kernels(Cubin(image));
  } catch (const CubinError&) {
    return {};  // without machine code no resources are known
  }
}

}  // namespace warpgauge::metrics
