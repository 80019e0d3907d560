// Parses the table of a zip's files (APPNOTE.TXT of PKWARE), and inflates them with zlib.
#include "metrics/machine_code/zip.h"

#include <fmt/format.h>
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "metrics/machine_code/byte_text.h"

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kLocalMagic = "PK\x03\x04", kTableMagic = "PK\x01\x02",
                           kEndMagic = "PK\x05\x06";
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint16_t kEncrypted = 1 << 0, kSizesFollow = 1 << 3;  // flags
constexpr std::uint16_t kElsewhere16 = 0xffff;                       // zip64 has it
constexpr std::uint32_t kElsewhere32 = 0xffffffff;
constexpr std::uint64_t kMostInflated = 1032;  // bytes that deflate makes of one, at best

#pragma pack(push, 1)
struct LocalHeader {
  std::array<char, 4> magic;
  std::uint16_t version, flags, method, time, date;
  std::uint32_t crc, stored_bytes, bytes;
  std::uint16_t name_bytes, extra_bytes;
};
struct TableEntry {
  std::array<char, 4> magic;
  std::uint16_t made_by, version, flags, method, time, date;
  std::uint32_t crc, stored_bytes, bytes;
  std::uint16_t name_bytes, extra_bytes, comment_bytes, disk, internal;
  std::uint32_t external, offset;
};
struct End {
  std::array<char, 4> magic;
  std::uint16_t disk, disk_of_table, entries_of_disk, entries;
  std::uint32_t table_bytes, table_offset;
  std::uint16_t comment_bytes;
};
#pragma pack(pop)

[[noreturn]] void refuse_zip(std::uint64_t offset, std::string_view problem) {
  throw ZipError(fmt::format(
      "not a usable zip: at offset {}, {}. Make it again, or unpack it and name the folder", offset,
      problem));
}

[[noreturn]] void refuse_member(const ZipMember& member, std::string_view problem) {
  throw ZipError(
      fmt::format("{} in a zip: {}. Make the zip again, or unpack it and name the folder",
                  member.name, problem));
}

template <typename Struct>
std::optional<Struct> header_at(Bytes bytes, std::uint64_t offset, std::string_view magic) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  if (offset > bytes.size() || sizeof(Struct) > bytes.size() - offset) return std::nullopt;
  Struct out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  if (std::string_view(out.magic.data(), out.magic.size()) != magic) return std::nullopt;
  return out;
}

/// The last end record whose comment reaches to the end of the bytes, and its place.
std::pair<End, std::uint64_t> end_of(Bytes bytes) {
  constexpr std::uint64_t kLongest = sizeof(End) + std::numeric_limits<std::uint16_t>::max();
  const std::uint64_t first = bytes.size() > kLongest ? bytes.size() - kLongest : 0;
  for (std::uint64_t at = bytes.size(); at-- > first;) {
    const auto end = header_at<End>(bytes, at, kEndMagic);
    if (end && at + sizeof(End) + end->comment_bytes == bytes.size()) return {*end, at};
  }
  refuse_zip(bytes.size(), "the table of its files is cut off");
}

/// The place of a file's header and bytes.
struct Extent {
  std::uint64_t begin, end;
  auto operator<=>(const Extent&) const = default;
};

/// Throws for a file between the `known` parts, which do not overlap and come in order.
void refuse_hidden(Bytes bytes, const std::vector<Extent>& known) {
  std::uint64_t begin = 0;
  for (const Extent& extent : known) {
    const std::string_view between = text_of(bytes.subspan(begin, extent.begin - begin));
    if (const std::size_t file = between.find(kLocalMagic); file != between.npos) {
      refuse_zip(begin + file, "there is a file that the table of files does not list");
    }
    begin = extent.end;
  }
}

/// Fills in the bytes of a member, whose own header must say what the table does.
Extent find_bytes(Bytes bytes, const TableEntry& entry, ZipMember& member) {
  const auto local = header_at<LocalHeader>(bytes, entry.offset, kLocalMagic);
  if (!local) refuse_zip(entry.offset, fmt::format("there is no header of {}", member.name));
  const std::uint64_t name = std::uint64_t{entry.offset} + sizeof(LocalHeader),
                      begin = name + local->name_bytes + local->extra_bytes;
  if (begin > bytes.size() || entry.stored_bytes > bytes.size() - begin) {
    refuse_zip(entry.offset, fmt::format("{} ({} bytes) reaches beyond the end ({} bytes)",
                                         member.name, entry.stored_bytes, bytes.size()));
  }
  const auto differs = [&](std::uint32_t own, std::uint32_t listed) {
    const bool is_elsewhere = (local->flags & kSizesFollow) != 0 || own == kElsewhere32;
    return own != listed && !is_elsewhere;
  };
  if (text_of(bytes.subspan(name, local->name_bytes)) != member.name ||
      local->method != entry.method || ((local->flags ^ entry.flags) & kEncrypted) != 0 ||
      differs(local->stored_bytes, entry.stored_bytes) || differs(local->bytes, entry.bytes) ||
      differs(local->crc, entry.crc)) {
    refuse_zip(entry.offset,
               fmt::format("the header of {} differs from the table of files", member.name));
  }
  member.stored = bytes.subspan(begin, entry.stored_bytes);
  return {entry.offset, begin + entry.stored_bytes};
}

/// A decompressor, with its end.
class Inflater {
 public:
  explicit Inflater(const ZipMember& member) : member_(member) {
    constexpr int kRaw = -MAX_WBITS;  // without zlib's own header
    if (inflateInit2(&stream_, kRaw) != Z_OK) refuse_member(member, "zlib has no memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The next piece; empty after the last.
  Bytes next() {
    if (is_at_end_) return {};
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
    stream_.avail_out = static_cast<uInt>(piece_.size());
    stream_.next_in = reinterpret_cast<const Bytef*>(rest_.data());
    const auto given = static_cast<uInt>(std::min(rest_.size(), kMost));
    stream_.avail_in = given;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    rest_ = rest_.subspan(given - stream_.avail_in);
    is_at_end_ = result == Z_STREAM_END;
    const Bytes made = Bytes(piece_).first(piece_.size() - stream_.avail_out);
    if (is_at_end_ ? !rest_.empty() : result != Z_OK || made.empty()) {
      refuse_member(member_, "its compressed bytes are damaged");
    }
    return made;
  }

 private:
  const ZipMember& member_;
  Bytes rest_ = member_.stored;
  z_stream stream_{};
  bool is_at_end_ = false;
  std::vector<std::byte> piece_ = std::vector<std::byte>(std::size_t{1} << 18);
};

}  // namespace

void ZipMember::unpack(const std::function<void(Bytes)>& visit) const {
  if (is_encrypted) refuse_member(*this, "it is encrypted");
  if (method != kStored && method != kDeflated) {
    refuse_member(*this, fmt::format("it is compressed by method {}, of which only 0 (stored) and "
                                     "8 (deflated) are read",
                                     method));
  }
  std::uint64_t unpacked = 0;
  uLong sum = crc32(0, nullptr, 0);
  const auto take = [&](Bytes piece) {
    unpacked += piece.size();
    if (unpacked > bytes) refuse_member(*this, fmt::format("it has more than {} bytes", bytes));
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    visit(piece);
  };
  if (method == kStored) {
    take(stored);
  } else {
    Inflater inflater(*this);
    for (Bytes piece = inflater.next(); !piece.empty(); piece = inflater.next()) take(piece);
  }
  if (unpacked != bytes) {
    refuse_member(*this, fmt::format("it has {} bytes, not {}", unpacked, bytes));
  }
  if (sum != crc) refuse_member(*this, "its checksum is wrong");
}

bool is_zip(Bytes bytes) {
  return text_of(bytes).starts_with(kLocalMagic) || text_of(bytes).starts_with(kEndMagic);
}

std::vector<ZipMember> read_zip(Bytes bytes) {
  const auto [end, end_at] = end_of(bytes);
  if (end.entries == kElsewhere16 || end.table_offset == kElsewhere32) {
    refuse_zip(end_at, "there are more files or bytes than a zip has without zip64");
  }
  if (end.disk != 0 || end.disk_of_table != 0 || end.entries_of_disk != end.entries) {
    refuse_zip(end_at, "it is one of several parts");
  }
  if (end.table_offset > end_at || end.table_bytes != end_at - end.table_offset) {
    refuse_zip(end_at, fmt::format("the table of files ({} bytes at offset {}) does not end here",
                                   end.table_bytes, end.table_offset));
  }
  std::vector<ZipMember> members;
  std::vector<Extent> extents = {{end.table_offset, end_at}};
  std::set<std::string> names;
  std::uint64_t at = end.table_offset;
  for (int i = 0; i < end.entries; ++i) {
    const auto entry = header_at<TableEntry>(bytes.first(end_at), at, kTableMagic);
    const std::uint64_t after = at + sizeof(TableEntry);
    if (!entry || entry->name_bytes > end_at - after) {
      refuse_zip(at, "the table of files is damaged");
    }
    ZipMember member{.name = std::string(text_of(bytes.subspan(after, entry->name_bytes))),
                     .method = entry->method,
                     .is_encrypted = (entry->flags & kEncrypted) != 0,
                     .crc = entry->crc,
                     .stored = {},
                     .bytes = entry->bytes};
    if (member.name.find('\0') != std::string::npos) {
      refuse_zip(at, "the name of a file has a zero byte");
    }
    if (!names.insert(member.name).second) {
      refuse_zip(at,
                 fmt::format("{} is there twice, and readers differ in which counts", member.name));
    }
    if (entry->stored_bytes == kElsewhere32 || entry->bytes == kElsewhere32 ||
        entry->offset == kElsewhere32) {
      refuse_zip(at, fmt::format("{} has more bytes than a zip has without zip64", member.name));
    }
    if (entry->bytes > entry->stored_bytes * kMostInflated) {
      refuse_zip(at, fmt::format("{} cannot have {} bytes in {}", member.name, entry->bytes,
                                 entry->stored_bytes));
    }
    extents.push_back(find_bytes(bytes, *entry, member));
    at = after + entry->name_bytes + entry->extra_bytes + entry->comment_bytes;
    const bool is_folder = member.name.ends_with('/') && member.stored.empty();
    if (!is_folder) members.push_back(std::move(member));
  }
  if (at != end_at) refuse_zip(at, "the table of files does not end where it is said to");
  std::ranges::sort(extents);
  const auto overlap = std::ranges::adjacent_find(
      extents, [](const Extent& one, const Extent& next) { return one.end > next.begin; });
  if (overlap != extents.end()) refuse_zip(overlap->begin, "two files share their bytes");
  refuse_hidden(bytes, extents);
  return members;
}

}  // namespace warpgauge::metrics
