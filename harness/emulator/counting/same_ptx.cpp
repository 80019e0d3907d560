// Checks whether a cubin was made of the PTX that is emulated.
#include "harness/emulator/counting/same_ptx.h"

#include <algorithm>
#include <string>

namespace warpgauge::emulator::counting {
namespace {

/// The words of a line with one blank between them: the copies in a cubin, in a fat binary and in a
/// file differ in white space.
std::string words_of(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  line = line.substr(0, line.find("//"));
  std::string out;
  for (std::size_t at = line.find_first_not_of(kSpace); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    if (!out.empty()) out += ' ';
    out += line.substr(at, end - at);
    at = std::min(line.find_first_not_of(kSpace, end), line.size());
  }
  return out;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

int first_difference(std::string_view in_cubin, std::string_view emulated) {
  for (int number = 1; !in_cubin.empty() || !emulated.empty(); ++number) {
    const std::string of_cubin = words_of(next_line(in_cubin));
    const std::string own = words_of(next_line(emulated));
    const bool silent = of_cubin.empty() && (own.empty() || own.front() == '.');
    if (of_cubin != own && !silent) return number;
  }
  return 0;
}

}  // namespace warpgauge::emulator::counting
