// Groups accesses by base register and looks for complete, aligned runs among them.
#include "harness/emulator/counting/vector_predictor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace warpgauge::emulator::counting {
namespace {

using machine::AccessPlan;

bool can_merge(const PtxAccess& access) {
  return access.is_plain && access.space == ptx::Space::shared && !access.guarded &&
         (access.width == 4 || access.width == 8);
}

/// Common to accesses that may be merged: block, kind, width, base and its value.
using GroupKey = std::tuple<std::size_t, PtxAccess::Kind, int, std::string_view, std::size_t>;
GroupKey key_of(const PtxAccess& access) {
  return {access.block, access.kind, access.width, access.base, access.base_value};
}

/// Whether `width` bytes from `members[first]` on are there, one member behind the other, aligned.
bool is_run(const std::vector<const PtxAccess*>& members, std::size_t first, int width) {
  const PtxAccess& leader = *members[first];
  const std::size_t count = static_cast<std::size_t>(width / leader.width);
  if (first + count > members.size() || leader.offset % width != 0 ||
      (1 << leader.base_zeros) < width) {
    return false;
  }
  for (std::size_t i = 1; i < count; ++i) {
    if (members[first + i]->offset != leader.offset + static_cast<std::int64_t>(i) * leader.width) {
      return false;
    }
  }
  return true;
}

void merge(std::vector<const PtxAccess*> members, machine::AccessPlans& plans) {
  constexpr int kWidest = 16;
  std::ranges::sort(members, {}, [](const PtxAccess* access) { return access->offset; });
  for (std::size_t first = 0; first < members.size();) {
    const int own = members[first]->width;
    int width = kWidest;
    while (width > own && !is_run(members, first, width)) width /= 2;
    const std::size_t count = static_cast<std::size_t>(width / own);
    for (std::size_t i = 0; i < count && width > own; ++i) {
      const auto role =
          i == 0 ? machine::AccessPlan::Role::leader : machine::AccessPlan::Role::absorbed;
      plans.entries.push_back({members[first + i]->text_line, {role, i == 0 ? width : 0}});
    }
    first += count;
  }
}

}  // namespace

machine::AccessPlans predict_vectors(std::span<const PtxAccess> accesses) {
  std::map<GroupKey, std::vector<const PtxAccess*>> groups;
  for (const PtxAccess& access : accesses) {
    if (can_merge(access)) groups[key_of(access)].push_back(&access);
  }
  machine::AccessPlans plans;
  for (auto& [key, members] : groups) merge(std::move(members), plans);
  std::ranges::sort(plans.entries, {}, &machine::AccessPlans::Entry::text_line);
  return plans;
}

}  // namespace warpgauge::emulator::counting
