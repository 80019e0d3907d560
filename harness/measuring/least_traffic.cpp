// Adds up what kernels moved, where all of it is counted.
#include "harness/measuring/least_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "harness/cases/device_code.h"
#include "harness/runtime.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/sass.h"

namespace warpgauge {
namespace {

constexpr double kSectorBytes = 32;

/// Whether all accesses of a kernel to device memory are counted.
bool counts_all(const EmbeddedCubin& embedded, const std::string& kernel) {
  const metrics::Cubin cubin(embedded.image);
  if (embedded.is_linked || cubin.module_constant_bytes() > 0) return false;
  return std::ranges::none_of(metrics::memory_instructions(cubin, kernel),
                              [](const metrics::MemoryInstruction& access) {
                                return access.op == metrics::MemoryOp::other ||
                                       (access.op == metrics::MemoryOp::bulk && !is_emulated());
                              });
}

bool counts_all(const std::string& kernel, const std::string& arch) {
  static std::map<std::pair<std::string, std::string>, bool> known;
  const auto [found, is_new] = known.try_emplace({kernel, arch});
  if (!is_new) return found->second;
  const std::vector<const EmbeddedCubin*> cubins = find_cubins(kernel, arch);
  found->second = !cubins.empty() && std::ranges::all_of(cubins, [&](const EmbeddedCubin* cubin) {
    return counts_all(*cubin, kernel);
  });
  return found->second;
}

bool is_estimate(const metrics::LineCounts& line) {
  constexpr std::string_view kOfTraffic[] = {"global.load.sectors", "bulk.load.bytes"};
  return std::ranges::any_of(kOfTraffic, [&](std::string_view metric) {
    return metrics::trust_in(line, metric).confidence == metrics::Confidence::estimate;
  });
}

}  // namespace

double moved_bytes(const metrics::Counts& counts) {
  const auto sectors =
      counts.global_load_sectors + counts.global_store_sectors + 2 * counts.global_atomic_sectors;
  // Among the bytes that bulk copies store are those of reductions, which read them, too.
  return kSectorBytes * static_cast<double>(sectors) +
         static_cast<double>(counts.bulk_load_bytes + 2 * counts.bulk_store_bytes);
}

std::string why_too_little(double least, const LaunchLog& log,
                           const std::vector<metrics::LineCounts>& lines, const std::string& arch) {
  metrics::Counts all;
  for (const metrics::LineCounts& line : lines) all += line.counts;
  const double moved = moved_bytes(all);
  if (moved >= least || log.has_copies() || std::ranges::any_of(lines, is_estimate)) return "";
  for (const metrics::LineCounts& line : lines) {
    if (!counts_all(line.kernel, arch)) return "";
  }
  return fmt::format(
      "it moved {:.0f} bytes of the {:.0f} that any solution must move (sectors: {} loaded, {} "
      "stored, {} of atomics; bulk copies: {} bytes), so it has not done its work; where fewer "
      "are enough, let bytes() of the problem say so",
      moved, least, all.global_load_sectors, all.global_store_sectors, all.global_atomic_sectors,
      all.bulk_load_bytes + all.bulk_store_bytes);
}

}  // namespace warpgauge
