// Counts: adding them up, and the metrics that follow from them.
#include "metrics/counting/counts.h"

#include "metrics/counting/line_counts.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {
namespace {

using Values = std::vector<std::pair<std::string_view, double>>;

// One kind of global access. The ratio is left out where there was no request: 0/0 is no value.
void add_access(Values& values, std::string_view sectors_id, std::uint64_t sectors,
                std::string_view requests_id, std::uint64_t requests, std::string_view ratio_id) {
  const auto amount = static_cast<double>(sectors);
  values.emplace_back(sectors_id, amount);
  values.emplace_back(requests_id, static_cast<double>(requests));
  if (requests > 0) values.emplace_back(ratio_id, amount / static_cast<double>(requests));
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  for (const auto& [name, member] : kCountMembers) this->*member += other.*member;
  return *this;
}

const Trust& trust_in(const LineCounts& line, std::string_view id) {
  static const Trust kExact;
  static const Trust kPredicted = {Confidence::predicted,
                                   "no counter of a GPU has the bytes and sectors of bulk copies"};
  const auto found = line.trust.find(id.substr(0, id.find('.')));
  if (found != line.trust.end()) return found->second;
  const bool copies = line.counts.bulk_load_instructions + line.counts.bulk_store_instructions > 0;
  return copies && metric(id).source == Source::emulator ? kPredicted : kExact;
}

std::vector<std::pair<std::string_view, double>> metric_values(const Counts& counts) {
  const auto wavefronts = static_cast<double>(counts.shared_wavefronts);
  const auto wavefronts_ideal = static_cast<double>(counts.shared_wavefronts_ideal);
  const auto sectors = static_cast<double>(
      counts.global_load_sectors + counts.global_store_sectors + counts.global_atomic_sectors);
  const auto sectors_ideal = static_cast<double>(counts.global_sectors_ideal);

  Values values = {
      {"shared.wavefronts", wavefronts},
      {"shared.wavefronts_ideal", wavefronts_ideal},
      {"shared.bank_conflicts", wavefronts - wavefronts_ideal},
      {"shared.requests", static_cast<double>(counts.shared_requests)},
  };
  add_access(values, "global.load.sectors", counts.global_load_sectors, "global.load.requests",
             counts.global_load_requests, "global.load.sectors_per_request");
  add_access(values, "global.store.sectors", counts.global_store_sectors, "global.store.requests",
             counts.global_store_requests, "global.store.sectors_per_request");
  add_access(values, "global.atomic.sectors", counts.global_atomic_sectors,
             "global.atomic.requests", counts.global_atomic_requests,
             "global.atomic.sectors_per_request");
  values.emplace_back("global.sectors_ideal", sectors_ideal);
  values.emplace_back("global.excess_sectors", sectors - sectors_ideal);
  values.emplace_back("global.l1_tags", static_cast<double>(counts.global_l1_tags));
  values.emplace_back("local.sectors", static_cast<double>(counts.local_sectors));
  values.emplace_back("local.requests", static_cast<double>(counts.local_requests));
  values.emplace_back("instructions", static_cast<double>(counts.instructions));
  values.emplace_back("branches.divergent", static_cast<double>(counts.divergent_branches));
  const std::pair<std::string_view, std::uint64_t> more[] = {
      {"bulk.load.instructions", counts.bulk_load_instructions},
      {"bulk.load.bytes", counts.bulk_load_bytes},
      {"bulk.store.instructions", counts.bulk_store_instructions},
      {"bulk.store.bytes", counts.bulk_store_bytes},
      {"bulk.sectors", counts.bulk_sectors},
      {"wgmma.instructions", counts.wgmma_instructions},
      {"wgmma.wavefronts", counts.wgmma_wavefronts},
      {"cluster.requests", counts.cluster_requests},
  };
  for (const auto& [id, value] : more) values.emplace_back(id, static_cast<double>(value));
  return values;
}

std::uint64_t copies_left_out(const Counts& counts, std::string_view metric) {
  if (metric.starts_with("global.load.")) return counts.bulk_load_instructions;
  if (metric.starts_with("global.store.")) return counts.bulk_store_instructions;
  if (!metric.starts_with("global.") || metric.starts_with("global.atomic.")) return 0;
  return counts.bulk_load_instructions + counts.bulk_store_instructions;
}

double bank_ways(const Counts& counts) {
  if (counts.shared_wavefronts_ideal == 0) return 0;
  return static_cast<double>(counts.shared_wavefronts) /
         static_cast<double>(counts.shared_wavefronts_ideal);
}

}  // namespace warpgauge::metrics
