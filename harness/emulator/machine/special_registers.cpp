// Special registers: their names, types and values.
#include "harness/emulator/machine/special_registers.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "harness/emulator/machine/lanes.h"

namespace warpgauge::emulator::machine {
namespace {

using Inputs = SpecialInputs;
constexpr ptx::Type kU32 = ptx::Type::u32;
constexpr ptx::Type kU64 = ptx::Type::u64;

std::uint32_t linear(const Inputs& in, int lane) { return in.warp * kLanes + lane; }

template <int kAxis>
std::uint64_t tid(const Inputs& in, int lane) {
  const std::uint32_t thread = linear(in, lane);
  if constexpr (kAxis == 0) return thread % in.block[0];
  if constexpr (kAxis == 1) return thread / in.block[0] % in.block[1];
  return thread / in.block[0] / in.block[1];
}
template <int kAxis>
std::uint64_t ntid(const Inputs& in, int) {
  return in.block[kAxis];
}
template <int kAxis>
std::uint64_t ctaid(const Inputs& in, int) {
  return in.block_index[kAxis];
}
template <int kAxis>
std::uint64_t nctaid(const Inputs& in, int) {
  return in.grid[kAxis];
}
std::uint64_t zero(const Inputs&, int) { return 0; }
std::uint64_t one(const Inputs&, int) { return 1; }

// %lanemask_*: the bits of lanes before or behind this one.
std::uint64_t lanes_below(int lane) { return (std::uint64_t{1} << lane) - 1; }

// Clusters are those of a launch without clusters: one block each.
const Special kSpecials[] = {
    {"%tid.x", kU32, false, tid<0>},
    {"%tid.y", kU32, false, tid<1>},
    {"%tid.z", kU32, false, tid<2>},
    {"%ntid.x", kU32, false, ntid<0>},
    {"%ntid.y", kU32, false, ntid<1>},
    {"%ntid.z", kU32, false, ntid<2>},
    {"%ctaid.x", kU32, true, ctaid<0>},
    {"%ctaid.y", kU32, true, ctaid<1>},
    {"%ctaid.z", kU32, true, ctaid<2>},
    {"%nctaid.x", kU32, false, nctaid<0>},
    {"%nctaid.y", kU32, false, nctaid<1>},
    {"%nctaid.z", kU32, false, nctaid<2>},
    {"%laneid", kU32, false, [](const Inputs&, int lane) -> std::uint64_t { return lane; }},
    {"%warpid", kU32, false, [](const Inputs& in, int) -> std::uint64_t { return in.warp; }},
    {"%nwarpid", kU32, false, [](const Inputs&, int) -> std::uint64_t { return 64; }},
    {"%smid", kU32, true,
     [](const Inputs& in, int) -> std::uint64_t { return in.block_number % in.multiprocessors; }},
    {"%nsmid", kU32, false,
     [](const Inputs& in, int) -> std::uint64_t { return in.multiprocessors; }},
    {"%gridid", kU64, false, [](const Inputs& in, int) { return in.grid_id; }},
    {"%lanemask_eq", kU32, false, [](const Inputs&, int lane) { return std::uint64_t{1} << lane; }},
    {"%lanemask_lt", kU32, false, [](const Inputs&, int lane) { return lanes_below(lane); }},
    {"%lanemask_le", kU32, false, [](const Inputs&, int lane) { return lanes_below(lane + 1); }},
    {"%lanemask_ge", kU32, false, [](const Inputs&, int lane) { return ~lanes_below(lane); }},
    {"%lanemask_gt", kU32, false, [](const Inputs&, int lane) { return ~lanes_below(lane + 1); }},
    {"%dynamic_smem_size", kU32, false,
     [](const Inputs& in, int) { return in.dynamic_shared_bytes; }},
    {"%total_smem_size", kU32, false, [](const Inputs& in, int) { return in.total_shared_bytes; }},
    {"%aggr_smem_size", kU32, false, [](const Inputs& in, int) { return in.total_shared_bytes; }},
    {"%cluster_ctaid.x", kU32, false, zero},
    {"%cluster_ctaid.y", kU32, false, zero},
    {"%cluster_ctaid.z", kU32, false, zero},
    {"%cluster_nctaid.x", kU32, false, one},
    {"%cluster_nctaid.y", kU32, false, one},
    {"%cluster_nctaid.z", kU32, false, one},
    {"%cluster_ctarank", kU32, false, zero},
    {"%cluster_nctarank", kU32, false, one},
    {"%clusterid.x", kU32, true, ctaid<0>},
    {"%clusterid.y", kU32, true, ctaid<1>},
    {"%clusterid.z", kU32, true, ctaid<2>},
    {"%nclusterid.x", kU32, false, nctaid<0>},
    {"%nclusterid.y", kU32, false, nctaid<1>},
    {"%nclusterid.z", kU32, false, nctaid<2>},
    {"%is_explicit_cluster", ptx::Type::pred, false, zero},
    // Where the barrier of a cooperative launch's grid lies (cooperative_groups, get_envreg32).
    {"%envreg1", ptx::Type::b32, false,
     [](const Inputs& in, int) { return in.grid_workspace >> 32; }},
    {"%envreg2", ptx::Type::b32, false,
     [](const Inputs& in, int) { return in.grid_workspace & 0xffffffff; }},
};

}  // namespace

const Special* find_special(std::string_view name) {
  const auto found = std::find_if(std::begin(kSpecials), std::end(kSpecials),
                                  [&](const Special& special) { return special.name == name; });
  if (found != std::end(kSpecials)) return found;
  // Other values that a driver may put into %envreg0 to 31 are not defined: zeros.
  static constexpr std::string_view kEnvironment = "%envreg";
  static const Special kEnvironmentRegister = {kEnvironment, ptx::Type::b32, false, zero};
  return name.starts_with(kEnvironment) ? &kEnvironmentRegister : nullptr;
}

Slot SpecialLayout::add(const Special& special) {
  for (const Entry& entry : entries_) {
    if (entry.special == &special) return {Slot::specials, entry.offset};
  }
  entries_.push_back({&special, bytes_});
  const std::uint32_t bytes = special.type == kU64 ? 8 * kLanes : 4 * kLanes;
  bytes_ += bytes;
  return {Slot::specials, bytes_ - bytes};
}

void SpecialLayout::fill_warp(std::byte* specials, const SpecialInputs& inputs) const {
  fill(specials, inputs, false);
}
void SpecialLayout::fill_block(std::byte* specials, const SpecialInputs& inputs) const {
  fill(specials, inputs, true);
}

void SpecialLayout::fill(std::byte* specials, const SpecialInputs& inputs, bool of_block) const {
  for (const auto& [special, offset] : entries_) {
    if (special->of_block != of_block) continue;
    std::byte* const to = specials + offset;
    if (special->of_block) {  // the same in all lanes
      const auto value = static_cast<std::uint32_t>(special->value(inputs, 0));
      auto* const values = reinterpret_cast<std::uint32_t*>(to);
      for (int lane = 0; lane < kLanes; ++lane) values[lane] = value;
    } else if (special->type == ptx::Type::pred) {
      Mask mask = 0;
      for (int lane = 0; lane < kLanes; ++lane) {
        mask |= static_cast<Mask>(special->value(inputs, lane) != 0) << lane;
      }
      std::memcpy(to, &mask, sizeof mask);
    } else {
      const std::size_t bytes = special->type == kU64 ? 8 : 4;
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t value = special->value(inputs, lane);
        std::memcpy(to + lane * bytes, &value, bytes);
      }
    }
  }
}

}  // namespace warpgauge::emulator::machine
