// Building blocks of the counting rules: the active lanes of an access, and numbers by key.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "metrics/counting/sector_rules.h"

namespace warpgauge::metrics {

inline constexpr std::uint32_t kAllLanes = 0xffffffff;

inline std::uint32_t count(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::popcount(lanes));
}

inline std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

/// The addresses of the lanes that are on, side by side.
template <typename Address>
class Packed {
 public:
  Packed(const Address* addresses, std::uint32_t mask) : begin_(addresses) {
    if (mask == kAllLanes) return;
    begin_ = copy_.data();
    size_ = 0;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      copy_[size_] = addresses[lane];  // not kept unless the lane is on
      size_ += mask >> lane & 1;
    }
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  std::span<const Address> all() const { return {begin_, size_}; }

 private:
  const Address* begin_;
  std::size_t size_ = 32;
  std::array<Address, 32> copy_;
};

/// Numbers by key, at most one key per lane: a hash table whose slots need no clearing.
class Table {
 public:
  /// The number of `key`, 0 if it is new.
  std::uint32_t& operator[](std::uint64_t key) { return values_[slot_of(key)]; }

  /// The same for all uses of `key`, below 64; different keys have different ones.
  std::size_t slot_of(std::uint64_t key) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // spreads multiples of any stride
    std::size_t slot = key * kGolden >> 58;
    while (is_used(slot) && keys_[slot] != key) slot = (slot + 1) % kSlots;
    if (!is_used(slot)) {
      used_ |= std::uint64_t{1} << slot;
      keys_[slot] = key;
      values_[slot] = 0;
    }
    return slot;
  }
  std::uint32_t& at_slot(std::size_t slot) { return values_[slot]; }

  template <typename Visit>  // visit(key, number) for each key
  void for_each(Visit visit) const {
    for (std::uint64_t rest = used_; rest != 0; rest &= rest - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(rest));
      visit(keys_[slot], values_[slot]);
    }
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(std::popcount(used_)); }
  /// Of the numbers, added up.
  std::uint32_t bits() const {
    std::uint32_t sum = 0;
    for_each([&](std::uint64_t, std::uint32_t value) { sum += count(value); });
    return sum;
  }

 private:
  static constexpr std::size_t kSlots = 64;
  bool is_used(std::size_t slot) const { return (used_ >> slot & 1) != 0; }

  std::uint64_t used_ = 0;
  std::array<std::uint64_t, kSlots> keys_;
  std::array<std::uint32_t, kSlots> values_;
};

/// Lanes whose addresses are looked at together.
struct Group {
  std::uint32_t lanes = 0;
  std::span<const std::uint32_t> addresses;  ///< of these lanes alone
};

/// An access to shared memory by at least one lane.
struct SharedAccess {
  SharedAccess(int bytes, const std::uint32_t* lane_addresses, std::uint32_t lanes_on)
      : width(static_cast<std::uint32_t>(bytes)),
        addresses(lane_addresses),
        mask(lanes_on),
        packed(lane_addresses, lanes_on) {}

  std::uint32_t words() const { return width <= 4 ? 1 : width / 4; }
  std::uint32_t banks(std::uint32_t address) const {
    return ((1u << words()) - 1) << (address / 4 % 32);
  }
  /// Lanes that 128 bytes serve.
  std::uint32_t group_lanes() const { return 32 / words(); }
  Group group(std::uint32_t first_lane, std::uint32_t size) const {
    const std::uint32_t lanes = mask & kAllLanes >> (32 - size) << first_lane;
    if (mask == kAllLanes) return {lanes, packed.all().subspan(first_lane, size)};
    return {lanes, packed.all().subspan(count(mask & ((1u << first_lane) - 1)), count(lanes))};
  }
  /// The least that the lanes and the width need, if the access costs `wavefronts`.
  std::uint32_t least(std::uint32_t wavefronts) const {
    const auto lanes = static_cast<std::uint32_t>(packed.all().size());
    return std::min(wavefronts, divide_up(lanes * width, 128));
  }

  const std::uint32_t width;
  const std::uint32_t* const addresses;  ///< of all 32 lanes
  const std::uint32_t mask;
  const Packed<std::uint32_t> packed;
};

}  // namespace warpgauge::metrics
