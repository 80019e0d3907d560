// Special registers: their names, types and values.
#include "harness/emulator/machine/core/special_registers.h"

#include <algorithm>
#include <iterator>

#include "harness/emulator/machine/core/lanes.h"

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
template <int kShift>
std::uint64_t grid_workspace(const Inputs& in, int) {
  return in.grid_workspace >> kShift;
}
std::uint64_t grid_id(const Inputs& in, int) { return in.grid_id; }
std::uint64_t zero(const Inputs&, int) { return 0; }

// A launch without clusters has those of one block each.
template <int kAxis>
std::uint64_t cluster_nctaid(const Inputs& in, int) {
  return in.cluster[kAxis];
}
template <int kAxis>
std::uint64_t cluster_ctaid(const Inputs& in, int) {
  return in.block_index[kAxis] % in.cluster[kAxis];
}
template <int kAxis>
std::uint64_t clusterid(const Inputs& in, int) {
  return in.block_index[kAxis] / in.cluster[kAxis];
}
template <int kAxis>
std::uint64_t nclusterid(const Inputs& in, int) {
  return in.grid[kAxis] / in.cluster[kAxis];
}
std::uint64_t cluster_nctarank(const Inputs& in, int) {
  return std::uint64_t{in.cluster[0]} * in.cluster[1] * in.cluster[2];
}
std::uint64_t cluster_ctarank(const Inputs& in, int lane) {
  return cluster_ctaid<0>(in, lane) +
         in.cluster[0] * (cluster_ctaid<1>(in, lane) + in.cluster[1] * cluster_ctaid<2>(in, lane));
}

// %lanemask_*: the bits of this lane, and of those before or behind it.
std::uint64_t lane_bit(const Inputs&, int lane) { return std::uint64_t{1} << lane; }
std::uint64_t lanes_below(int lane) { return (std::uint64_t{1} << lane) - 1; }

template <auto value, typename T = std::uint32_t>
void write(const Inputs& inputs, std::byte* to) {
  const Inputs in = inputs;  // that no store can change
  auto* const values = reinterpret_cast<T*>(to);
  for (int lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<T>(value(in, lane));
}

void write_has_clusters(const Inputs& in, std::byte* to) {
  *reinterpret_cast<Mask*>(to) = in.has_clusters ? kAllLanes : 0;
}

const Special kSpecials[] = {
    {"%tid.x", kU32, false, write<tid<0>>},
    {"%tid.y", kU32, false, write<tid<1>>},
    {"%tid.z", kU32, false, write<tid<2>>},
    {"%ntid.x", kU32, false, write<ntid<0>>},
    {"%ntid.y", kU32, false, write<ntid<1>>},
    {"%ntid.z", kU32, false, write<ntid<2>>},
    {"%ctaid.x", kU32, true, write<ctaid<0>>},
    {"%ctaid.y", kU32, true, write<ctaid<1>>},
    {"%ctaid.z", kU32, true, write<ctaid<2>>},
    {"%nctaid.x", kU32, false, write<nctaid<0>>},
    {"%nctaid.y", kU32, false, write<nctaid<1>>},
    {"%nctaid.z", kU32, false, write<nctaid<2>>},
    {"%laneid", kU32, false, write<[](const Inputs&, int lane) { return lane; }>},
    {"%warpid", kU32, false, write<[](const Inputs& in, int) { return in.warp; }>},
    {"%nwarpid", kU32, false, write<[](const Inputs&, int) { return 64; }>},
    {"%smid", kU32, true,
     write<[](const Inputs& in, int) { return in.block_number % in.multiprocessors; }>},
    {"%nsmid", kU32, false, write<[](const Inputs& in, int) { return in.multiprocessors; }>},
    {"%gridid", kU64, false, write<grid_id, std::uint64_t>},
    {"%lanemask_eq", kU32, false, write<lane_bit>},
    {"%lanemask_lt", kU32, false, write<[](const Inputs&, int lane) { return lanes_below(lane); }>},
    {"%lanemask_le", kU32, false,
     write<[](const Inputs&, int lane) { return lanes_below(lane + 1); }>},
    {"%lanemask_ge", kU32, false,
     write<[](const Inputs&, int lane) { return ~lanes_below(lane); }>},
    {"%lanemask_gt", kU32, false,
     write<[](const Inputs&, int lane) { return ~lanes_below(lane + 1); }>},
    {"%dynamic_smem_size", kU32, false,
     write<[](const Inputs& in, int) { return in.dynamic_shared_bytes; }>},
    {"%total_smem_size", kU32, false,
     write<[](const Inputs& in, int) { return in.total_shared_bytes; }>},
    {"%aggr_smem_size", kU32, false,
     write<[](const Inputs& in, int) { return in.total_shared_bytes; }>},
    {"%cluster_ctaid.x", kU32, true, write<cluster_ctaid<0>>},
    {"%cluster_ctaid.y", kU32, true, write<cluster_ctaid<1>>},
    {"%cluster_ctaid.z", kU32, true, write<cluster_ctaid<2>>},
    {"%cluster_nctaid.x", kU32, false, write<cluster_nctaid<0>>},
    {"%cluster_nctaid.y", kU32, false, write<cluster_nctaid<1>>},
    {"%cluster_nctaid.z", kU32, false, write<cluster_nctaid<2>>},
    {"%cluster_ctarank", kU32, true, write<cluster_ctarank>},
    {"%cluster_nctarank", kU32, false, write<cluster_nctarank>},
    {"%clusterid.x", kU32, true, write<clusterid<0>>},
    {"%clusterid.y", kU32, true, write<clusterid<1>>},
    {"%clusterid.z", kU32, true, write<clusterid<2>>},
    {"%nclusterid.x", kU32, false, write<nclusterid<0>>},
    {"%nclusterid.y", kU32, false, write<nclusterid<1>>},
    {"%nclusterid.z", kU32, false, write<nclusterid<2>>},
    {"%is_explicit_cluster", ptx::Type::pred, false, write_has_clusters},
    // Where the barrier of a cooperative launch's grid lies (cooperative_groups, get_envreg32).
    {"%envreg1", ptx::Type::b32, false, write<grid_workspace<32>>},
    {"%envreg2", ptx::Type::b32, false, write<grid_workspace<0>>},
};

}  // namespace

const Special* find_special(std::string_view name) {
  const auto found = std::find_if(std::begin(kSpecials), std::end(kSpecials),
                                  [&](const Special& special) { return special.name == name; });
  if (found != std::end(kSpecials)) return found;
  // Other values that a driver may put into %envreg0 to 31 are not defined: zeros.
  static constexpr std::string_view kEnvironment = "%envreg";
  static const Special kEnvironmentRegister = {kEnvironment, ptx::Type::b32, false, write<zero>};
  return name.starts_with(kEnvironment) ? &kEnvironmentRegister : nullptr;
}

OperandSlot SpecialLayout::add(const Special& special) {
  std::vector<Entry>& entries = special.of_block ? of_block_ : of_warp_;
  for (const Entry& entry : entries) {
    if (entry.special == &special) return {OperandSlot::specials, entry.offset};
  }
  entries.push_back({&special, bytes_});
  const std::uint32_t bytes = special.type == kU64 ? 8 * kLanes : 4 * kLanes;
  bytes_ += bytes;
  return {OperandSlot::specials, bytes_ - bytes};
}

void SpecialLayout::fill_warp(std::byte* specials, const SpecialInputs& inputs) const {
  for (const auto& [special, offset] : of_warp_) special->write(inputs, specials + offset);
}
void SpecialLayout::fill_block(std::byte* specials, const SpecialInputs& inputs) const {
  for (const auto& [special, offset] : of_block_) special->write(inputs, specials + offset);
}

}  // namespace warpgauge::emulator::machine
