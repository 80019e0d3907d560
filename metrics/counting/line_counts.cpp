// The trust in the counts of a line.
#include "metrics/counting/line_counts.h"

#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

const Trust& trust_in(const LineCounts& line, std::string_view id) {
  static const Trust kExact;
  static const Trust kPredicted = {Confidence::predicted,
                                   "no counter of a GPU has the bytes and sectors of bulk copies"};
  const auto found = line.trust.find(id.substr(0, id.find('.')));
  if (found != line.trust.end()) return found->second;
  const bool copies = line.counts.bulk_load_instructions + line.counts.bulk_store_instructions > 0;
  return copies && metric(id).source == Source::emulator ? kPredicted : kExact;
}

}  // namespace warpgauge::metrics
