// Steps through the amounts of a resource in the hardware's units of allocation.
#include "metrics/architecture/occupancy_curve.h"

#include <set>

namespace warpgauge::metrics {
namespace {

constexpr std::uint64_t kSteps = 32;
constexpr std::uint64_t kThreadsAtMost = 1024;
constexpr std::uint64_t kRegistersAtMost = 255;
constexpr std::uint64_t kStepOfMemory = 1024;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

BlockNeeds with(BlockNeeds needs, BlockResource resource, std::uint64_t amount) {
  switch (resource) {
    case BlockResource::threads:
      needs.threads = static_cast<int>(amount);
      break;
    case BlockResource::registers:
      needs.registers_per_thread = static_cast<int>(amount);
      break;
    case BlockResource::shared:
      needs.shared_static_bytes = 0;
      needs.shared_dynamic_bytes = amount;
      break;
  }
  return needs;
}

/// The first amount, the last, and the step between.
struct Span {
  std::uint64_t first, last, step;
};

Span span_of(BlockResource resource, const Architecture& arch) {
  switch (resource) {
    case BlockResource::threads:
      return {32, kThreadsAtMost, 32};  // a warp
    case BlockResource::registers:
      return {8, kRegistersAtMost, 8};  // 256 for each warp
    case BlockResource::shared:
      break;
  }
  const std::uint64_t most = arch.shared_per_block_opt_in;
  return {0, most, rounded_up(most / kSteps, kStepOfMemory)};
}

}  // namespace

std::string_view to_string(BlockResource resource) {
  switch (resource) {
    case BlockResource::threads:
      return "threads";
    case BlockResource::registers:
      return "registers";
    case BlockResource::shared:
      break;
  }
  return "shared";
}

std::uint64_t amount_of(BlockResource resource, const BlockNeeds& needs) {
  switch (resource) {
    case BlockResource::threads:
      return static_cast<std::uint64_t>(needs.threads);
    case BlockResource::registers:
      return static_cast<std::uint64_t>(needs.registers_per_thread);
    case BlockResource::shared:
      break;
  }
  return needs.shared_static_bytes + needs.shared_dynamic_bytes;
}

std::vector<OccupancyPoint> occupancy_over(BlockResource resource, const Architecture& arch,
                                           const BlockNeeds& needs) {
  const Span span = span_of(resource, arch);
  std::set<std::uint64_t> amounts = {span.last, amount_of(resource, needs)};
  for (std::uint64_t amount = span.first; amount < span.last; amount += span.step) {
    amounts.insert(amount);
  }
  std::vector<OccupancyPoint> points;
  for (const std::uint64_t amount : amounts) {
    points.push_back({amount, occupancy(arch, with(needs, resource, amount))});
  }
  return points;
}

}  // namespace warpgauge::metrics
