// Recognises toolkits by the folders in a path, and blames lines outside of them.
#include "metrics/base/source_line.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <ranges>
#include <system_error>
#include <vector>

namespace warpgauge::metrics {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "13.0"
bool is_version(std::string_view name) {
  return !name.empty() && is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return c == '.' || is_digit(c); });
}

/// "cuda", "cuda-13.0"
bool is_toolkit_folder(std::string_view name) {
  return name == "cuda" || (name.starts_with("cuda-") && is_version(name.substr(5)));
}

using Chain = std::span<const CallSite>;

/// The length of the common prefix of two chains.
template <typename Sites>
std::size_t same_sites(const Sites& a, const Sites& b) {
  const auto [end, other] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end - std::ranges::begin(a));
}

/// A chain that holds `line` in any case, and the place of the line in it.
struct ChainOfLine {
  explicit ChainOfLine(const SourceLine& line)
      : sites(line.inlined.empty() ? std::vector<CallSite>{{line.file, line.line}} : line.inlined),
        place(static_cast<std::size_t>(std::ranges::find(sites, CallSite{line.file, line.line}) -
                                       sites.begin())) {}

  Chain inward() const { return Chain(sites).first(place); }
  Chain outward() const { return Chain(sites).subspan(place); }

  std::vector<CallSite> sites;
  std::size_t place;
};

}  // namespace

std::optional<CallSite> line_called(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  const std::string_view digits = text.substr(colon + 1);
  if (digits[0] == '0' || digits.find_first_not_of("0123456789") != digits.npos)
    return std::nullopt;
  CallSite found{.file = std::string(text.substr(0, colon))};
  const auto [rest, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), found.line);
  return error == std::errc() ? std::optional(found) : std::nullopt;
}

SourceLine line_to_blame(std::span<const Frame> chain) {
  SourceLine line;
  if (chain.empty()) return line;
  const auto own = std::ranges::find(chain, false, &Frame::in_toolkit);
  const Frame& blamed = own == chain.end() ? chain.front() : *own;
  line.file = blamed.file;
  line.line = blamed.line;
  if (chain.size() == 1) return line;
  for (const Frame& frame : chain) line.inlined.push_back({std::string(frame.file), frame.line});
  return line;
}

std::vector<CallSite> common_chain(const SourceLine& a, const SourceLine& b) {
  const ChainOfLine chain(a), other(b);
  const std::size_t inner =
      same_sites(std::views::reverse(chain.inward()), std::views::reverse(other.inward()));
  const std::size_t outer = same_sites(chain.outward(), other.outward());
  if (inner + outer <= 1) return {};
  const auto first = chain.sites.begin() + static_cast<std::ptrdiff_t>(chain.place - inner);
  return {first, first + static_cast<std::ptrdiff_t>(inner + outer)};
}

bool is_toolkit_header(std::string_view path) {
  const bool is_normal = path.find("/.") == path.npos && path.find("//") == path.npos;
  const std::string normal =
      is_normal ? std::string(path) : std::filesystem::path(path).lexically_normal().string();
  for (const char* folder : {"/usr/include/", "/usr/local/include/", "/usr/lib/gcc/"}) {
    if (normal.starts_with(folder)) return true;
  }

  std::vector<std::string_view> folders;
  for (std::string_view rest = normal; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    folders.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (std::size_t i = 2; i + 1 < folders.size(); ++i) {
    if (folders[i] != "include") continue;
    const std::string_view parent = folders[i - 1], grandparent = folders[i - 2];
    if (is_toolkit_folder(parent)                                         // NVIDIA's installers
        || (is_version(parent) && is_toolkit_folder(grandparent))         // its HPC SDK
        || (grandparent == "targets" && parent.find('-') != parent.npos)  // these, and Conda
        || grandparent == "nvidia") {                                     // Python wheels
      return true;
    }
  }
  return false;
}

}  // namespace warpgauge::metrics
