// Converts confidences to and from the words that facts and budget files use.
#include "metrics/facts/confidence.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kNames[] = {"exact", "predicted", "estimate"};

}  // namespace

std::string_view to_string(Confidence confidence) {
  return kNames[static_cast<std::size_t>(confidence)];
}

std::optional<Confidence> confidence_from(std::string_view text) {
  for (const Confidence known : {Confidence::exact, Confidence::predicted, Confidence::estimate}) {
    if (to_string(known) == text) return known;
  }
  return std::nullopt;
}

}  // namespace warpgauge::metrics
