// Counts: adding them up, and the metrics that follow from them.
#include "metrics/counts.h"

#include "metrics/line_counts.h"

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

const Trust& trust_in(const LineCounts& line, std::string_view metric) {
  static const Trust kExact;
  const auto found = line.trust.find(metric.substr(0, metric.find('.')));
  return found == line.trust.end() ? kExact : found->second;
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
  return values;
}

double bank_ways(const Counts& counts) {
  if (counts.shared_wavefronts_ideal == 0) return 0;
  return static_cast<double>(counts.shared_wavefronts) /
         static_cast<double>(counts.shared_wavefronts_ideal);
}

}  // namespace warpgauge::metrics
