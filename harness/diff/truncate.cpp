// Cuts lists to one display.
#include "harness/diff/truncate.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpgauge::diff {

std::string first_of(const std::vector<Entry>& entries, std::size_t most, std::string_view what,
                     const DisplayOptions& display) {
  const std::size_t shown = display.everything ? entries.size() : std::min(most, entries.size());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += entries[i].text;
  std::size_t left_out = 0;
  for (std::size_t i = shown; i < entries.size(); ++i) left_out += entries[i].cases;
  if (left_out > 0) text += fmt::format("and {} more {} (--all shows them)\n", left_out, what);
  return text;
}

}  // namespace warpgauge::diff
