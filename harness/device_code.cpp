#include "harness/device_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "metrics/cubin.h"

namespace warpgauge {
namespace {

// The layout of fat binaries is not documented by NVIDIA but has been stable since CUDA 4: a
// wrapper with a pointer to a container, and in it entries of code, each behind a header.
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::uint16_t kKindCubin = 2;
constexpr std::uint64_t kFlagsCompressed = 0x2000 | 0x8000;  // LZ4, zstd

struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* container;
};

struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;
};

struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, options;
  std::uint16_t minor, major;
  std::uint32_t arch, name_offset, name_bytes;
  std::uint64_t flags;
};

template <typename T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

struct Registered {
  std::vector<EmbeddedCubin> cubins;
  std::map<const void*, std::string> kernels;
};

Registered& registered() {
  static Registered instance;  // filled by static initialisers of other files
  return instance;
}

}  // namespace

void register_fat_binary(const void* address) {
  const auto wrapper = read<Wrapper>(static_cast<const std::byte*>(address));
  if (wrapper.magic != kWrapperMagic) return;
  const auto container = read<Container>(wrapper.container);
  if (container.magic != kContainerMagic) return;
  const std::byte* at = wrapper.container + container.header_bytes;
  const std::byte* const end = at + container.bytes;
  while (at + sizeof(Entry) <= end) {
    const auto entry = read<Entry>(at);
    if (entry.header_bytes < sizeof(Entry)) return;  // a layout we do not know
    if (entry.kind == kKindCubin && (entry.flags & kFlagsCompressed) == 0) {
      registered().cubins.push_back(
          {"sm_" + std::to_string(entry.arch), {at + entry.header_bytes, entry.bytes}});
    }
    at += entry.header_bytes + entry.bytes;
  }
}

void register_kernel(const void* stub, const char* name) { registered().kernels[stub] = name; }

const std::vector<EmbeddedCubin>& embedded_cubins() { return registered().cubins; }

const EmbeddedCubin* find_cubin(std::string_view kernel, std::string_view arch) {
  const auto holds = [&](const EmbeddedCubin& cubin) {
    return cubin.arch == arch && !metrics::Cubin(cubin.image).code(kernel).empty();
  };
  const auto found = std::ranges::find_if(embedded_cubins(), holds);
  return found == embedded_cubins().end() ? nullptr : &*found;
}

const std::string& sass_hash(const std::string& kernel, const std::string& arch) {
  static std::map<std::pair<std::string, std::string>, std::string> hashes;
  const auto [place, is_new] = hashes.try_emplace({kernel, arch});
  if (const EmbeddedCubin* cubin = is_new ? find_cubin(kernel, arch) : nullptr) {
    place->second = metrics::Cubin(cubin->image).sass_hash(kernel);
  }
  return place->second;
}

std::string kernel_name(const void* stub) {
  const auto found = registered().kernels.find(stub);
  return found == registered().kernels.end() ? "" : found->second;
}

}  // namespace warpgauge
