// Looks for rows in the addresses of an access, and tries paddings and swizzles of them.
#include "metrics/counting/cure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/counting/access_lanes.h"
#include "metrics/counting/swizzle_name.h"

namespace warpgauge::metrics {
namespace {

constexpr std::uint64_t kWordBytes = 4;
constexpr std::uint64_t kLineBytes = 128;  // a line of shared memory: each bank once

template <typename Visit>  // visit(lane) for each lane that is on
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

/// The addresses, each once, in ascending order.
std::vector<std::uint64_t> distinct_addresses(const WarpAccess& access) {
  std::vector<std::uint64_t> all;
  for_each_lane(access.mask, [&](std::size_t lane) { all.push_back(access.addresses[lane]); });
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

/// "4 words" or "6 bytes".
std::string amount(std::uint64_t bytes, bool in_words) {
  const std::uint64_t count = in_words ? bytes / kWordBytes : bytes;
  return fmt::format("{} {}{}", count, in_words ? "word" : "byte", count == 1 ? "" : "s");
}

/// Rows of shared memory that lanes touch at the same columns.
struct Rows {
  std::uint64_t first = 0;     ///< the lowest address
  std::uint64_t distance = 0;  ///< bytes from row to row
  bool of_lanes = false;       ///< each lane is a row

  std::uint64_t row(std::uint64_t address) const { return (address - first) / distance; }
  std::uint64_t column(std::uint64_t address) const { return (address - first) % distance; }
  bool is_of_close_lanes() const { return of_lanes && distance < kLineBytes; }
  /// "Rows are 512 words apart".
  std::string text() const {
    return fmt::format("{} are {} apart", is_of_close_lanes() ? "Neighbouring lanes" : "Rows",
                       amount(distance, distance % kWordBytes == 0));
  }
};

/// True if the addresses are those of rows 0, 1, 2 ... at the same columns. The last of three or
/// more rows may end early.
bool are_rows(const Rows& rows, const std::vector<std::uint64_t>& addresses) {
  std::vector<std::vector<std::uint64_t>> columns;
  for (const std::uint64_t address : addresses) {
    const std::uint64_t row = rows.row(address);
    if (row > columns.size()) return false;
    if (row == columns.size()) columns.emplace_back();
    columns[row].push_back(rows.column(address));
  }
  const std::vector<std::uint64_t>& of_first = columns.front();
  const std::vector<std::uint64_t>& of_last = columns.back();
  const std::size_t whole_rows = columns.size() - (of_last.size() < of_first.size() ? 1 : 0);
  return whole_rows > 1 && of_last.size() <= of_first.size() &&
         std::equal(of_last.begin(), of_last.end(), of_first.begin()) &&
         std::all_of(columns.begin(), columns.end() - 1,
                     [&](const auto& of_row) { return of_row == of_first; });
}

std::optional<Rows> rows_of(const WarpAccess& access) {
  const std::vector<std::uint64_t> addresses = distinct_addresses(access);
  if (const auto step = lane_distance(access); step && *step != 0) {
    return Rows{addresses.front(), static_cast<std::uint64_t>(*step < 0 ? -*step : *step), true};
  }
  for (const std::uint64_t address : addresses) {
    const Rows rows{addresses.front(), address - addresses.front()};
    if (rows.distance != 0 && are_rows(rows, addresses)) return rows;
  }
  return std::nullopt;
}

/// A change of an access, with the wavefronts that it would take.
struct Change {
  std::string text;
  std::uint32_t wavefronts = 0;
};

template <typename Move>  // the new address of an address
std::uint32_t wavefronts_of(const WarpAccess& access, std::uint32_t mask, Move move) {
  std::array<std::uint32_t, 32> addresses{};
  for_each_lane(mask, [&](std::size_t lane) {
    addresses[lane] = static_cast<std::uint32_t>(move(access.addresses[lane]));
  });
  return shared_cost(access.kind, access.width, addresses.data(), mask).wavefronts;
}

/// The mask with one lane for each distinct address.
std::uint32_t first_lanes(const WarpAccess& access) {
  std::uint32_t firsts = 0;
  for_each_lane(access.mask, [&](std::size_t lane) {
    bool seen = false;
    for_each_lane(firsts, [&](std::size_t other) {
      seen = seen || access.addresses[other] == access.addresses[lane];
    });
    if (!seen) firsts |= 1u << lane;
  });
  return firsts;
}

bool is_update(const WarpAccess& access) {
  return access.kind == AccessKind::shared_atomic || access.kind == AccessKind::shared_cas;
}

Change combined(const WarpAccess& access) {
  const std::uint32_t firsts = first_lanes(access);
  return {fmt::format("{} lanes update {} address{}: combine those of one address first",
                      count(access.mask), count(firsts), count(firsts) == 1 ? "" : "es"),
          wavefronts_of(access, firsts, std::identity())};
}

/// The padding, a multiple of `unit` bytes, with the fewest wavefronts; the least one of several.
Change padded(const WarpAccess& access, const Rows& rows, std::uint64_t unit) {
  Change best{"", access.taken};
  for (std::uint64_t more = unit; more < kLineBytes; more += unit) {  // then banks repeat
    const std::uint32_t wavefronts = wavefronts_of(access, access.mask, [&](std::uint64_t address) {
      return address + rows.row(address) * more;
    });
    if (wavefronts >= best.wavefronts) continue;
    const bool in_words = rows.distance % kWordBytes == 0 && more % kWordBytes == 0;
    const std::string keeps =
        unit > kWordBytes ? fmt::format(", which keeps {}-byte alignment", unit) : "";
    // Rows at another distance are padded already, so they need "more".
    best = {fmt::format("pad by {}{}{}", amount(more, in_words),
                        rows.distance % kLineBytes == 0 ? "" : " more", keeps),
            wavefronts};
  }
  return best;
}

/// A swizzle of elements of `unit` bytes within 128 bytes, by the number of the row or of the line
/// of 128 bytes. Its wavefronts are those of the worst number that the first row can have.
Change swizzled(const WarpAccess& access, const Rows& rows, std::uint64_t unit) {
  Change best{"", access.taken};
  const std::uint64_t places = kLineBytes / unit;
  for (const std::uint64_t distance : {rows.distance, kLineBytes}) {
    if (distance % kLineBytes != 0) continue;
    const std::uint64_t origin = distance == kLineBytes ? 0 : rows.first;
    std::uint32_t worst = 0;
    for (std::uint64_t first = 0; first < places; ++first) {
      worst = std::max(worst, wavefronts_of(access, access.mask, [&](std::uint64_t address) {
                         const std::uint64_t number = (address - origin) / distance + first;
                         return address ^ (number % places * unit);
                       }));
    }
    if (worst >= best.wavefronts) continue;
    best = {fmt::format("swizzle elements of {} bytes: i ^ (i / {} % {}) for index i", unit,
                        distance / unit, places),
            worst};
  }
  return best;
}

Change side_by_side(const WarpAccess& access, const Rows& rows) {
  const auto width = static_cast<std::uint64_t>(access.width);
  return {"put them side by side", wavefronts_of(access, access.mask, [&](std::uint64_t address) {
            return rows.first + rows.row(address) * width;
          })};
}

/// "encode the tensor map with ...".
std::string encoding_text(const CopiedTile& tile, const CopiedTile& other) {
  const std::uint32_t span = swizzle_span(other.swizzle), rows = kLineBytes / span;
  std::string text = fmt::format("encode the tensor map with {}", name_of(other.swizzle));
  if (other.row_bytes != tile.row_bytes) {
    text += fmt::format(" and boxes of {} bytes a row", other.row_bytes);
  } else if (other.row_bytes < span) {
    text += fmt::format(", with which each row takes {} bytes,", span);
  }
  text += fmt::format(" and read 16-byte chunk c of row r at c ^ (r{} % {})",
                      rows == 1 ? "" : fmt::format(" / {}", rows), span / 16);
  const std::uint32_t period = swizzle_period(other.swizzle);
  if (tile.address % period != 0) text += fmt::format(", in a tile aligned to {} bytes", period);
  return text;
}

/// The swizzle of the tensor map with the fewest wavefronts for the lanes' bytes. Swizzles with
/// other atoms than 16 bytes are not tried: they need compute capability 10.0.
Change encoded(const WarpAccess& access, const CopiedTile& tile) {
  Change best{"", access.taken};
  for (const Swizzle swizzle : {Swizzle::span_32, Swizzle::span_64, Swizzle::span_128}) {
    const std::optional<CopiedTile> other = tile.with(swizzle);
    if (!other || swizzle == tile.swizzle) continue;
    const std::uint32_t wavefronts = wavefronts_of(access, access.mask, [&](std::uint64_t address) {
      return other->address_of(tile, tile.place_of(static_cast<std::uint32_t>(address)));
    });
    if (wavefronts < best.wavefronts) best = {encoding_text(tile, *other), wavefronts};
  }
  return best;
}

/// The best change of rows that keeps the alignment to `unit` bytes.
Change best_change(const WarpAccess& access, const Rows& rows, std::uint64_t unit) {
  Change padding = padded(access, rows, unit);
  if (rows.is_of_close_lanes() && unit == static_cast<std::uint64_t>(access.width)) {
    Change together = side_by_side(access, rows);
    if (padding.wavefronts == together.wavefronts) together.text += ", or " + padding.text;
    if (padding.wavefronts >= together.wavefronts) return together;
  }
  if (padding.wavefronts <= access.ideal) return padding;
  Change swizzle = swizzled(access, rows, std::max(unit, kWordBytes));
  return swizzle.wavefronts < padding.wavefronts ? swizzle : padding;
}

std::string wavefronts_text(std::uint32_t wavefronts) {
  return fmt::format("{} wavefront{}", wavefronts, wavefronts == 1 ? "" : "s");
}

/// ": pad by 1 word; this access then takes 1 wavefront instead of 32, ideal 1."
std::string change_text(const WarpAccess& access, const Change& change) {
  return fmt::format("{}; this access then takes {} instead of {}, ideal {}.", change.text,
                     wavefronts_text(change.wavefronts), access.taken, access.ideal);
}

std::string shared_cure(const WarpAccess& access, std::uint64_t widest) {
  const auto width = static_cast<std::uint64_t>(access.width);
  const std::optional<Rows> rows = rows_of(access);
  const std::string how =
      fmt::format("{}, {} byte{} a lane", rows ? rows->text() : "Lanes are at no constant distance",
                  width, width == 1 ? "" : "s");
  std::array<std::uint32_t, 32> addresses{};
  for_each_lane(access.mask, [&](std::size_t lane) {
    addresses[lane] = static_cast<std::uint32_t>(access.addresses[lane]);
  });
  const SharedCost now = shared_cost(access.kind, access.width, addresses.data(), access.mask);
  if (access.cas_loop || !now.exact || now.wavefronts != access.taken) {
    return fmt::format(
        "{}: the counting rule of this instruction does not say what other "
        "addresses would take.",
        how);
  }
  if (access.tile) {
    const CopiedTile& tile = *access.tile;
    const Change change = encoded(access, tile);
    const std::string of_tile = fmt::format("A tensor copy wrote rows of {} bytes, {}",
                                            tile.row_bytes, name_of(tile.swizzle));
    if (change.wavefronts < access.taken) return of_tile + ": " + change_text(access, change);
    return fmt::format("{}: no other swizzle takes fewer than {}, ideal {}.", of_tile,
                       wavefronts_text(access.taken), access.ideal);
  }
  if (is_update(access)) {
    if (const Change change = combined(access); change.wavefronts < access.taken) {
      return change_text(access, change);
    }
  }
  const Change change = rows ? best_change(access, *rows, width) : Change{"", access.taken};
  if (change.wavefronts == access.taken) {
    return fmt::format("{}: no padding or swizzle of those tried takes fewer than {}, ideal {}.",
                       how, wavefronts_text(access.taken), access.ideal);
  }
  std::string text = rows->text() + ": " + change_text(access, change);
  if (widest <= width || rows->distance % widest != 0) return text;
  const Change wide = best_change(access, *rows, widest);
  if (wide.text == change.text) return text;
  return text + (wide.wavefronts == access.taken
                     ? fmt::format(" Nothing that was tried helps where the same rows are also "
                                   "accessed {} bytes at a time.",
                                   widest)
                     : fmt::format(" Where the same rows are also accessed {} bytes at a time, {}: "
                                   "{}.",
                                   widest, wide.text, wavefronts_text(wide.wavefronts)));
}

std::string global_cure(const WarpAccess& access) {
  const std::vector<std::uint64_t> distinct = distinct_addresses(access);
  const std::optional<std::int64_t> step = lane_distance(access);
  const std::uint64_t beyond = distinct.front() % (1u << kSectorBits);
  const bool neighbours = step && (*step < 0 ? -*step : *step) == access.width;
  const std::string how =
      neighbours ? fmt::format("Neighbouring lanes begin {} bytes beyond a multiple of 32", beyond)
      : step     ? fmt::format("Neighbouring lanes are {} bytes apart", *step < 0 ? -*step : *step)
                 : "Lanes are at no constant distance";
  // The lanes side by side, from the beginning of a sector on.
  std::array<std::uint64_t, 32> addresses{};
  for_each_lane(access.mask, [&](std::size_t lane) {
    const auto place = std::ranges::lower_bound(distinct, access.addresses[lane]);
    addresses[lane] = static_cast<std::uint64_t>(place - distinct.begin()) *
                      static_cast<std::uint64_t>(access.width);
  });
  const GlobalCost now = global_cost(access.width, access.addresses.data(), access.mask);
  const GlobalCost packed = global_cost(access.width, addresses.data(), access.mask);
  if (now.sectors != access.taken || packed.sectors >= access.taken) return how + '.';
  return fmt::format("{}: {} this access takes {} sector{} instead of {}, ideal {}.", how,
                     neighbours ? "from a multiple" : "side by side from a multiple of 32",
                     packed.sectors, packed.sectors == 1 ? "" : "s", access.taken, access.ideal);
}

/// The metrics that count the cost of accesses, by space.
constexpr std::array<std::pair<WarpAccess::Space, std::array<std::string_view, 3>>, 4> kMetrics = {{
    {WarpAccess::Space::shared, {"shared.wavefronts", "shared.bank_conflicts", "shared.bank_ways"}},
    {WarpAccess::Space::global_load,
     {"global.load.sectors", "global.load.sectors_per_request", "global.excess_sectors"}},
    {WarpAccess::Space::global_store,
     {"global.store.sectors", "global.store.sectors_per_request", "global.excess_sectors"}},
    {WarpAccess::Space::global_atomic,
     {"global.atomic.sectors", "global.atomic.sectors_per_request", "global.excess_sectors"}},
}};

}  // namespace

std::string cure_of(const WarpAccess& access, int widest) {
  if (access.mask == 0 || access.taken <= access.ideal) return "";
  return access.is_shared() ? shared_cure(access, static_cast<std::uint64_t>(widest))
                            : global_cure(access);
}

void add_cure(Cures& cures, WarpAccess::Space space, std::string_view cure) {
  if (cure.empty()) return;
  for (const auto& [of, metrics] : kMetrics) {
    if (of != space) continue;
    for (const std::string_view metric : metrics) cures.try_emplace(std::string(metric), cure);
  }
}

}  // namespace warpgauge::metrics
