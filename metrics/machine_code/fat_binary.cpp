// Parses and unpacks fat binaries. NVIDIA does not document the layout; it is as nvcc 13.0 writes
// it for sm_75 to sm_121 and as cuobjdump reads it: a container of entries of code, each behind a
// header, of which the first 64 bytes are the same for all.
#include "metrics/machine_code/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>

#include "metrics/architecture/arch_name.h"
#include "metrics/base/mapped_memory.h"
#include "metrics/machine_code/byte_text.h"

namespace warpgauge::metrics {
namespace {

using Kind = FatBinaryEntry::Kind;
using Compression = FatBinaryEntry::Compression;

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kLinkedVersion = 2;
constexpr std::uint32_t kContainerMagic = 0xba55ed50;
constexpr std::uint16_t kContainerVersion = 1;
constexpr std::uint16_t kEntryVersion = 0x101;
constexpr std::uint16_t kKindPtx = 1, kKindCubin = 2, kKindLto = 8;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagArchSpecific = 0x100000, kFlagFamilySpecific = 0x200000;  // "a", "f"

constexpr std::uint64_t kMaxUnpackedBytes = std::uint64_t{1} << 30;
// The best ratios of the formats: 255 bytes for one, and a block of 128 KiB for four.
constexpr std::uint64_t kMaxLz4Ratio = 255, kMaxZstdRatio = 32768;

struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* container;
  const std::byte* const* objects;  // if linked: their containers, then null
};

struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  // size of all entries
};

struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;             // after the header, with zeros up to a multiple of 8
  std::uint32_t compressed_bytes;  // without these zeros; 0 if not compressed
  std::uint32_t options_offset;
  std::uint16_t minor, major;  // version of the PTX ISA or of the cubin's ABI
  std::uint32_t arch, name_offset, name_bytes;
  std::uint64_t flags, reserved, unpacked_bytes;
};
static_assert(sizeof(Container) == 16 && sizeof(Entry) == 64);

[[noreturn]] void refuse_fat_binary(std::size_t offset, std::string_view problem) {
  throw FatBinaryError(
      fmt::format("not a usable fat binary: at offset {}, {}. Compile the code in it again with "
                  "nvcc 13",
                  offset, problem));
}

/// Copies a structure out of the bytes, which need not be aligned. `what` names it in the error.
template <typename Struct>
Struct read(std::span<const std::byte> bytes, std::size_t offset, std::string_view what) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  if (offset > bytes.size() || sizeof(Struct) > bytes.size() - offset) {
    refuse_fat_binary(offset,
                      fmt::format("{} reaches beyond the end ({} bytes)", what, bytes.size()));
  }
  Struct out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

Compression compression_of(const Entry& entry) {
  if (entry.flags & kFlagLz4) return Compression::lz4;
  if (entry.flags & kFlagZstd) return Compression::zstd;
  return Compression::none;
}

std::string arch_of(const Entry& entry) {
  const char suffix = entry.flags & kFlagArchSpecific     ? 'a'
                      : entry.flags & kFlagFamilySpecific ? 'f'
                                                          : '\0';
  return ArchName{.number = static_cast<int>(entry.arch), .suffix = suffix}.str();
}

Kind kind_of(const Entry& entry) {
  if (entry.kind == kKindPtx) return Kind::ptx;
  if (entry.kind == kKindCubin) return Kind::cubin;
  return entry.kind == kKindLto ? Kind::lto : Kind::other;
}

/// Checks the sizes in the header of an entry whose code begins at `at`, and makes the entry.
FatBinaryEntry entry_at(std::span<const std::byte> bytes, std::size_t at, const Entry& header) {
  FatBinaryEntry out{.kind = kind_of(header),
                     .arch = arch_of(header),
                     .arch_number = static_cast<int>(header.arch),
                     .compression = compression_of(header),
                     .stored = bytes.subspan(at, header.bytes),
                     .unpacked_bytes = header.bytes};
  if (out.compression != Compression::none) {
    if (header.compressed_bytes > header.bytes) {
      refuse_fat_binary(at, fmt::format("{} compressed bytes are said to be in {}",
                                        header.compressed_bytes, header.bytes));
    }
    out.stored = out.stored.first(header.compressed_bytes);
    out.unpacked_bytes = header.unpacked_bytes;
    const auto ratio = out.compression == Compression::lz4 ? kMaxLz4Ratio : kMaxZstdRatio;
    if (out.unpacked_bytes > out.stored.size() * ratio) {
      refuse_fat_binary(at,
                        fmt::format("{} compressed bytes cannot hold the {} that they are said to",
                                    out.stored.size(), out.unpacked_bytes));
    }
  }
  if (out.unpacked_bytes > kMaxUnpackedBytes) {
    refuse_fat_binary(at, fmt::format("{} bytes of code are more than 1 GiB", out.unpacked_bytes));
  }
  return out;
}

/// Appends the entries of the container at `at`; returns where it ends.
std::size_t read_container(std::span<const std::byte> bytes, std::size_t at,
                           std::vector<FatBinaryEntry>& entries) {
  const auto container = read<Container>(bytes, at, "the header of a container");
  if (container.magic != kContainerMagic) {
    refuse_fat_binary(at, fmt::format("a container begins with {:#x}, not with {:#x}",
                                      container.magic, kContainerMagic));
  }
  if (container.version != kContainerVersion || container.header_bytes < sizeof(Container)) {
    refuse_fat_binary(
        at, fmt::format("the container is of version {} with a header of {} bytes, which is "
                        "unknown here",
                        container.version, container.header_bytes));
  }
  if (container.header_bytes > bytes.size() - at ||
      container.bytes > bytes.size() - at - container.header_bytes) {
    refuse_fat_binary(at, fmt::format("the container ({} bytes) reaches beyond the end ({} bytes)",
                                      container.bytes, bytes.size()));
  }
  at += container.header_bytes;
  const std::size_t end = at + container.bytes;
  const auto inside = bytes.first(end);
  while (at < end) {
    const auto entry = read<Entry>(inside, at, "the header of an entry");
    if (entry.version != kEntryVersion || entry.header_bytes < sizeof(Entry)) {
      refuse_fat_binary(
          at, fmt::format("the entry is of version {:#x} with a header of {} bytes, which is "
                          "unknown here",
                          entry.version, entry.header_bytes));
    }
    if (entry.header_bytes > end - at || entry.bytes > end - at - entry.header_bytes) {
      refuse_fat_binary(
          at, fmt::format("the entry ({} bytes) reaches beyond the end of its container ({})",
                          entry.bytes, end));
    }
    at += entry.header_bytes;
    entries.push_back(entry_at(inside, at, entry));
    at += entry.bytes;
  }
  return end;
}

[[noreturn]] void fail_unpacking(const FatBinaryEntry& entry, std::string_view problem) {
  throw FatBinaryError(fmt::format(
      "not a usable fat binary: its {} code for {} ({} bytes) does not unpack to {} bytes: {}. "
      "Compile it again, or with --no-compress",
      entry.compression == Compression::lz4 ? "LZ4" : "zstd", entry.arch, entry.stored.size(),
      entry.unpacked_bytes, problem));
}

}  // namespace

std::vector<std::byte> FatBinaryEntry::unpack() const {
  if (compression == Compression::none) return {stored.begin(), stored.end()};
  std::vector<std::byte> out(unpacked_bytes);
  if (compression == Compression::lz4) {
    static_assert(kMaxUnpackedBytes <= std::numeric_limits<int>::max());
    if (stored.size() > kMaxUnpackedBytes) fail_unpacking(*this, "there are too many");
    const int size = LZ4_decompress_safe(
        reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(stored.size()), static_cast<int>(out.size()));
    if (size < 0) fail_unpacking(*this, "they are damaged");
    if (static_cast<std::size_t>(size) != out.size()) {
      fail_unpacking(*this, fmt::format("there are only {}", size));
    }
  } else {
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
    if (ZSTD_isError(size)) fail_unpacking(*this, ZSTD_getErrorName(size));
    if (size != out.size()) fail_unpacking(*this, fmt::format("there are only {}", size));
  }
  return out;
}

std::vector<std::byte> FatBinaryEntry::beginning(std::size_t most) const {
  std::vector<std::byte> out(std::min(most, unpacked_bytes));
  if (compression == Compression::none) {
    std::ranges::copy(stored.first(out.size()), out.begin());
  } else if (compression == Compression::lz4) {
    const int wanted = static_cast<int>(out.size());
    const int size = LZ4_decompress_safe_partial(
        reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(std::min<std::size_t>(stored.size(), kMaxUnpackedBytes)), wanted, wanted);
    if (size != wanted) fail_unpacking(*this, "they are damaged");
  } else {
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                       &ZSTD_freeDCtx);
    ZSTD_inBuffer in{stored.data(), stored.size(), 0};
    ZSTD_outBuffer begin{out.data(), out.size(), 0};
    while (begin.pos < begin.size) {
      const std::size_t before = in.pos + begin.pos;
      const std::size_t result = ZSTD_decompressStream(context.get(), &begin, &in);
      if (ZSTD_isError(result)) fail_unpacking(*this, ZSTD_getErrorName(result));
      if (in.pos + begin.pos == before) fail_unpacking(*this, "they are cut off");
    }
  }
  return out;
}

std::string FatBinaryEntry::unpack_text() const {
  const auto bytes = unpack();
  std::string text(text_of(bytes));
  text.resize(text.find_last_not_of('\0') + 1);  // npos + 1 is 0
  return text;
}

bool is_fat_binary(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kContainerMagic &&
         std::memcmp(bytes.data(), &kContainerMagic, sizeof kContainerMagic) == 0;
}

std::size_t find_fat_binary(std::span<const std::byte> bytes, std::size_t from) {
  const std::string_view text = text_of(bytes);
  const std::string_view magic(reinterpret_cast<const char*>(&kContainerMagic),
                               sizeof kContainerMagic);
  for (std::size_t at = from; (at = text.find(magic, at)) != text.npos; ++at) {
    if (bytes.size() - at < sizeof(Container) + sizeof(Entry)) break;
    const auto container = read<Container>(bytes, at, "the header of a container");
    if (container.version != kContainerVersion || container.header_bytes != sizeof(Container)) {
      continue;
    }
    const auto entry = read<Entry>(bytes, at + sizeof(Container), "the header of an entry");
    if (entry.version == kEntryVersion && entry.header_bytes >= sizeof(Entry)) return at;
  }
  return bytes.size();
}

std::span<const std::byte> fat_binary_at(std::span<const std::byte> bytes, std::size_t at) {
  const auto rest = bytes.subspan(at);
  const auto container = read<Container>(rest, 0, "the header of a container");
  const std::size_t after =
      rest.size() - std::min<std::size_t>(container.header_bytes, rest.size());
  return rest.first(rest.size() - after + std::min<std::size_t>(container.bytes, after));
}

std::vector<FatBinaryEntry> read_fat_binary(std::span<const std::byte> bytes) {
  std::vector<FatBinaryEntry> entries;
  std::size_t at = 0;
  do {
    at = read_container(bytes, at, entries);
  } while (at < bytes.size());
  return entries;
}

namespace {

Wrapper read_wrapper(const void* address) {
  Wrapper wrapper;
  std::memcpy(&wrapper, address, sizeof wrapper);
  if (wrapper.magic != kWrapperMagic || wrapper.container == nullptr) {
    refuse_fat_binary(0, fmt::format("what was registered begins with {:#x}, not with {:#x}",
                                     wrapper.magic, kWrapperMagic));
  }
  return wrapper;
}

}  // namespace

// Its sizes are trusted only as far as memory is mapped.
std::span<const std::byte> fat_binary_in_memory(const std::byte* address) {
  const std::span<const std::byte> memory(address, readable_bytes(address));
  const auto container = read<Container>(memory, 0, "the header of the container in memory");
  if (container.magic != kContainerMagic) {
    refuse_fat_binary(0, fmt::format("the container in memory begins with {:#x}, not with {:#x}",
                                     container.magic, kContainerMagic));
  }
  if (container.header_bytes > memory.size() ||
      container.bytes > memory.size() - container.header_bytes) {
    refuse_fat_binary(
        0, fmt::format("the container in memory ({} bytes) reaches beyond the program's memory",
                       container.bytes));
  }
  return memory.first(container.header_bytes + container.bytes);
}

bool is_fat_binary_wrapper(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kWrapperMagic &&
         std::memcmp(bytes.data(), &kWrapperMagic, sizeof kWrapperMagic) == 0;
}

std::span<const std::byte> registered_fat_binary(const void* wrapper) {
  return fat_binary_in_memory(read_wrapper(wrapper).container);
}

std::vector<std::span<const std::byte>> linked_fat_binaries(const void* address) {
  const Wrapper wrapper = read_wrapper(address);
  std::vector<std::span<const std::byte>> objects;
  if (wrapper.version != kLinkedVersion || wrapper.objects == nullptr) return objects;
  for (auto at = wrapper.objects; *at != nullptr; ++at)
    objects.push_back(fat_binary_in_memory(*at));
  return objects;
}

}  // namespace warpgauge::metrics
