#include "harness/diff/screen.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpgauge::diff {

std::string first_of(const std::vector<std::string>& entries, std::size_t most,
                     std::string_view what, const Screen& screen) {
  const std::size_t shown = screen.everything ? entries.size() : std::min(most, entries.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += entries[i];
  if (shown < entries.size()) {
    text += fmt::format("and {} more {} (--all shows them)\n", entries.size() - shown, what);
  }
  return text;
}

}  // namespace warpgauge::diff
