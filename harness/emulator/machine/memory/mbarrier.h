// The 64 bits of an mbarrier object in shared memory.
#pragma once

#include <cstdint>
#include <optional>

namespace warpgauge::emulator::machine::memory {

/// The bits are opaque to programs (PTX ISA, "mbarrier"): this layout is the emulator's own.
struct Mbarrier {
  static constexpr std::uint32_t kMostCount = (1U << 20) - 1;
  static constexpr std::int32_t kMostBytes = (1 << 20) - 1;

  std::uint32_t count = 0;    ///< arrivals that each phase expects
  std::uint32_t pending = 0;  ///< arrivals of the present phase still to come
  std::int32_t bytes = 0;     ///< expected and not yet arrived (tx-count); below 0: too early
  bool is_odd = false;        ///< parity of the present phase; the first one is even

  bool is_complete() const { return pending == 0 && bytes == 0; }
};

constexpr int kCountAt = 0, kPendingAt = 20, kBytesAt = 40, kSignAt = 61, kMarkAt = 62, kOddAt = 63;

constexpr std::uint64_t bits_of(const Mbarrier& barrier) {
  const auto bytes = static_cast<std::uint64_t>(barrier.bytes < 0 ? -barrier.bytes : barrier.bytes);
  return std::uint64_t{barrier.count} << kCountAt | std::uint64_t{barrier.pending} << kPendingAt |
         bytes << kBytesAt | std::uint64_t{barrier.bytes < 0} << kSignAt |
         std::uint64_t{1} << kMarkAt | std::uint64_t{barrier.is_odd} << kOddAt;
}

/// Nothing: the bits are those of no mbarrier.
constexpr std::optional<Mbarrier> mbarrier_of(std::uint64_t bits) {
  if ((bits >> kMarkAt & 1) == 0) return std::nullopt;
  Mbarrier barrier;
  barrier.count = static_cast<std::uint32_t>(bits >> kCountAt) & Mbarrier::kMostCount;
  barrier.pending = static_cast<std::uint32_t>(bits >> kPendingAt) & Mbarrier::kMostCount;
  const auto bytes = static_cast<std::int32_t>(bits >> kBytesAt & 0x1fffff);
  barrier.bytes = (bits >> kSignAt & 1) != 0 ? -bytes : bytes;
  barrier.is_odd = (bits >> kOddAt & 1) != 0;
  if (barrier.count == 0 || barrier.pending > barrier.count) return std::nullopt;
  return barrier;
}

}  // namespace warpgauge::emulator::machine::memory
