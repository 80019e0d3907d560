// Parses the headers of members, and the two ways to write long names.
#include "metrics/machine_code/archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "metrics/machine_code/byte_text.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kMagic = "!<arch>\n", kThinMagic = "!<thin>\n";
// The header of a member is text, filled up with blanks.
constexpr std::size_t kHeader = 60, kName = 16, kSizeAt = 48, kSize = 10;
constexpr std::string_view kHeaderEnd = "`\n";
constexpr std::string_view kLongNames = "//", kBsdName = "#1/";

[[noreturn]] void refuse_archive(std::size_t offset, std::string_view problem) {
  throw ArchiveError(fmt::format("not a usable archive: at offset {}, {}. Make it again with ar",
                                 offset, problem));
}

std::string_view without_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);  // npos + 1 is 0
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// True for GNU's and BSD's tables of symbols.
bool is_table_of_symbols(std::string_view name) {
  return name == "/" || name == "/SYM64/" || name.starts_with("__.SYMDEF");
}

/// "object.o" for "object.o/". "/17" is an offset into the table of long names.
std::string name_of(std::string_view name, std::string_view long_names, std::size_t offset) {
  if (!name.starts_with('/')) return std::string(name.substr(0, name.find('/')));
  const auto at = number_in(name.substr(1));
  if (!at || *at >= long_names.size()) {
    refuse_archive(offset, fmt::format("the name '{}' is not in the table of long names ({} bytes)",
                                       name, long_names.size()));
  }
  const std::string_view rest = long_names.substr(*at);
  return std::string(rest.substr(0, std::min(rest.find("/\n"), rest.find('\n'))));
}

/// Moves a long name from the front of the bytes, where BSD's ar writes it, into the member.
void take_bsd_name(ArchiveMember& member, std::string_view length) {
  const auto bytes = number_in(length);
  if (!bytes || *bytes > member.bytes.size()) {
    refuse_archive(member.offset,
                   fmt::format("a name of '{}' bytes does not fit into the {} of its file", length,
                               member.bytes.size()));
  }
  const std::string_view name = text_of(member.bytes.first(*bytes));
  member.name = name.substr(0, name.find('\0'));
  member.bytes = member.bytes.subspan(*bytes);
}

}  // namespace

bool is_archive(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  return text.starts_with(kMagic) || text.starts_with(kThinMagic);
}

std::vector<ArchiveMember> read_archive(std::span<const std::byte> bytes) {
  const std::string_view text = text_of(bytes);
  if (text.starts_with(kThinMagic)) {
    throw ArchiveError(
        "a thin archive, which only names its files: name these files, or make it without "
        "--thin");
  }
  if (!text.starts_with(kMagic)) refuse_archive(0, "it does not begin with !<arch>");
  std::vector<ArchiveMember> members;
  std::string_view long_names;
  for (std::size_t at = kMagic.size(); at < text.size();) {
    if (text.size() - at < kHeader) refuse_archive(at, "the header of a file is cut off");
    const std::string_view header = text.substr(at, kHeader);
    const std::string_view name = without_blanks(header.substr(0, kName));
    const auto size = number_in(without_blanks(header.substr(kSizeAt, kSize)));
    if (!header.ends_with(kHeaderEnd) || !size) refuse_archive(at, "there is no header of a file");
    at += kHeader;
    if (*size > text.size() - at) {
      refuse_archive(
          at, fmt::format("a file of {} bytes reaches beyond the end ({})", *size, text.size()));
    }
    ArchiveMember member{.name = std::string(name),
                         .offset = at,
                         .bytes = bytes.subspan(at, *size),
                         .is_table = name == kLongNames || is_table_of_symbols(name)};
    at += *size + *size % 2;
    if (name == kLongNames) {
      long_names = text_of(member.bytes);
    } else if (name.starts_with(kBsdName)) {
      take_bsd_name(member, name.substr(kBsdName.size()));
      member.is_table = is_table_of_symbols(member.name);
    } else if (!member.is_table) {
      member.name = name_of(name, long_names, member.offset);
    }
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace warpgauge::metrics
