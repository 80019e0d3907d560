// The two rules of async_cost(), which counting_rules.h states with the words that are used here.
#include "metrics/counting/access_copy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace warpgauge::metrics {
namespace {

/// The most lanes of a group that conflict with one of its lanes, on either side of the copy.
std::uint32_t crossing(const SharedAccess& to, const std::uint64_t* from, std::uint32_t lanes) {
  const int shift = std::countr_zero(to.width);
  const std::uint32_t slots = to.group_lanes();        // slots of `width` bytes in 128 bytes
  std::array<std::uint32_t, 32> readers{}, writers{};  // lanes by their slot
  std::array<std::uint32_t, 32> reads, writes;         // slots by lane
  bool alone = true;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    reads[lane] = static_cast<std::uint32_t>(from[lane] >> shift) % slots;
    writes[lane] = (to.addresses[lane] >> shift) % slots;
    alone = alone && readers[reads[lane]] == 0 && writers[writes[lane]] == 0;
    readers[reads[lane]] |= 1u << lane;
    writers[writes[lane]] |= 1u << lane;
  }
  if (alone) return lanes != 0 ? 1 : 0;
  std::uint32_t most = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    most = std::max(most, count(readers[reads[lane]] | writers[writes[lane]]));
  }
  return most;
}

/// 16 bytes that a copy moves: from one of the 8 of a line to one of the 8 of a row.
struct Piece {
  std::uint32_t row_slot, line_slot;  ///< of the tables of rows and lines: below 64
  std::uint32_t to, from;             ///< below 8

  /// x of the rule.
  bool swaps() const { return ((to ^ from) & 1) != 0; }
  /// The numbers of its two sectors as one, below 16: (to, from).
  std::uint32_t sectors() const { return to / 2 << 2 | from / 2; }
  /// A key that differs for different rows, lines, a and b. b is below 64.
  std::uint32_t key(std::uint32_t a, std::uint32_t b) const {
    return ((a << 6 | b) << 6 | row_slot) << 6 | line_slot;
  }
};

/// Collects the pieces of the first lane at each shared address; returns their number.
std::size_t pieces_of(const SharedAccess& to, const std::uint64_t* from,
                      std::array<Piece, 32>& pieces) {
  Table rows, lines;
  std::size_t size = 0;
  for (std::uint32_t rest = to.mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t piece = to.addresses[lane] / 16 % 8;
    const std::size_t row_slot = rows.slot_of(to.addresses[lane] >> kLineBits);
    if ((rows.at_slot(row_slot) >> piece & 1) != 0) continue;
    rows.at_slot(row_slot) |= 1u << piece;
    pieces[size++] = {static_cast<std::uint32_t>(row_slot),
                      static_cast<std::uint32_t>(lines.slot_of(from[lane] >> kLineBits)), piece,
                      static_cast<std::uint32_t>(from[lane] / 16 % 8)};
  }
  return size;
}

}  // namespace

AsyncCost copy_through_l1(const SharedAccess& to, const std::uint64_t* from) {
  const std::uint32_t lanes = to.group_lanes();
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < 32; first += lanes) {
    sum += crossing(to, from, to.group(first, lanes).lanes);
  }
  return {{sum, to.least(sum), true}, global_cost(static_cast<int>(to.width), from, to.mask)};
}

// The rule of async_copy_bypass in counting_rules.h: first the turns (t) and the stores, the last
// lane first; then the requests and wavefronts. A key has what the rule says must be the same.
AsyncCost copy_past_l1(const SharedAccess& to, const std::uint64_t* from) {
  std::array<Piece, 32> pieces;
  std::array<std::uint32_t, 32> turn;  // t, by piece
  std::array<std::size_t, 32> store;   // the slot in `stores`, by piece
  const std::size_t size = pieces_of(to, from, pieces);
  Table turns;   // how often a piece was read into a row with one x so far
  Table stores;  // the pieces of a sector that a store writes: bits 0 and 1
  Table requests, wavefronts;
  for (std::size_t i = size; i-- > 0;) {
    const Piece& piece = pieces[i];
    turn[i] = turns[piece.key(piece.swaps(), piece.from)]++;
    store[i] = stores.slot_of(piece.key(turn[i] << 1 | piece.swaps(), piece.sectors()));
    stores.at_slot(store[i]) |= 1u << (piece.to & 1);
  }
  for (std::size_t i = 0; i < size; ++i) {
    const Piece& piece = pieces[i];
    const std::uint32_t written = stores.at_slot(store[i]);  // 1: first, 2: second, 3: both
    if (written == 3 && (piece.to & 1) != 0) continue;       // the other piece counts for both
    requests[piece.key(piece.swaps(), piece.sectors())] = 1;
    wavefronts[piece.key(turn[i], ((piece.to ^ piece.from) & 3) << 2 | written)] = 1;
  }
  const auto moved = static_cast<std::uint32_t>(size);
  const GlobalCost lines = global_cost(16, from, to.mask);
  return {{wavefronts.size(), divide_up(moved, 8), true},
          {.sectors = requests.size(), .ideal = divide_up(moved, 2), .tags = lines.tags}};
}

}  // namespace warpgauge::metrics
