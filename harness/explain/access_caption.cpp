// Says in one line which lanes want what of which banks or sectors, and what that costs.
#include "harness/explain/access_caption.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <set>

namespace warpgauge::explain {
namespace {

using metrics::AccessKind;
using metrics::WarpAccess;

std::string number_of(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "32 lanes want", "1 lane wants".
std::string lanes_do(std::uint32_t lanes, std::string_view whose, std::string_view verb) {
  const auto count = static_cast<std::uint64_t>(std::popcount(lanes));
  return fmt::format("{}{} {}{}", number_of(count, "lane"), whose, verb, count == 1 ? "s" : "");
}

std::string_view name_of(const WarpAccess& access) {
  switch (access.space) {
    case WarpAccess::Space::global_load:
      return "global load";
    case WarpAccess::Space::global_store:
      return "global store";
    case WarpAccess::Space::global_atomic:
      return "global atomic";
    case WarpAccess::Space::shared:
      break;
  }
  switch (access.kind) {
    case AccessKind::shared_load:
      return "shared load";
    case AccessKind::shared_store:
      return "shared store";
    case AccessKind::shared_atomic:
      return access.cas_loop ? "shared atomic, done by a loop of compare-and-swap"
                             : "shared atomic";
    case AccessKind::shared_popc_increment:
      return "shared atomic increment";
    case AccessKind::shared_cas:
      return "shared compare-and-swap";
    case AccessKind::ldmatrix:
      return "ldmatrix: a row of a matrix";
    case AccessKind::stmatrix:
      return "stmatrix: a row of a matrix";
    case AccessKind::async_copy:
    case AccessKind::async_copy_bypass:
      return "cp.async: a store to shared memory";
  }
  return "shared access";
}

/// A bank as a group of lanes sees it.
struct Demand {
  std::uint32_t lanes = 0;
  std::uint32_t turns = 0;  ///< words, or lanes where they do not share one
};
using Demands = std::map<std::uint32_t, std::map<std::size_t, Demand>>;  // by group, by bank

Demands demands_of(const AccessPicture& picture) {
  Demands demands;
  for (const AccessPicture::Row& row : picture.rows) {
    for (std::size_t bank = 0; bank < row.lanes.size(); ++bank) {
      if (row.lanes[bank] == 0) continue;
      Demand& demand = demands[row.group][bank];
      demand.lanes |= row.lanes[bank];
      ++demand.turns;
    }
  }
  return demands;
}

/// The caption where no bank is wanted twice at a time.
std::string without_conflict(const AccessPicture& picture, const WarpAccess& access) {
  std::uint64_t words = 0;
  std::set<std::size_t> banks;
  for (const auto& [group, of_group] : demands_of(picture)) {
    words += of_group.size();
    for (const auto& [bank, demand] : of_group) banks.insert(bank);
  }
  const std::string of_what =
      banks.size() == 1 ? fmt::format("bank {}", *banks.begin()) : number_of(banks.size(), "bank");
  return fmt::format("{} {} of {}{}", lanes_do(access.mask, "", "want"), number_of(words, "word"),
                     of_what, words > 1 ? ", each bank once at a time" : "");
}

/// The caption of the bank that is wanted most.
std::string demand_text(const AccessPicture& picture, const WarpAccess& access) {
  const Demands demands = demands_of(picture);
  std::uint32_t group = 0, most = 0;
  std::size_t worst = 0, likewise = 0;
  for (const auto& [lanes, of_group] : demands) {
    for (const auto& [bank, demand] : of_group) {
      if (demand.turns <= most) continue;
      most = demand.turns;
      group = lanes;
      worst = bank;
    }
  }
  if (most <= 1) return without_conflict(picture, access);
  const auto& of_group = demands.at(group);
  for (const auto& [bank, demand] : of_group) likewise += bank != worst && demand.turns == most;
  const std::uint32_t lanes = of_group.at(worst).lanes;
  const bool alone = !access.cas_loop && (access.kind == AccessKind::shared_atomic ||
                                          access.kind == AccessKind::shared_cas);
  const std::string whose = demands.size() == 1 ? "" : fmt::format(" among {}", lanes_text(group));
  const std::string others =
      likewise == 0 ? "" : fmt::format(", and likewise of {}", number_of(likewise, "other bank"));
  if (alone) {
    return fmt::format("{} bank {}, one after the other{}", lanes_do(lanes, whose, "update"), worst,
                       others);
  }
  return fmt::format("{} {} of bank {}{}", lanes_do(lanes, whose, "want"), number_of(most, "word"),
                     worst, others);
}

std::string sectors_caption(const AccessPicture& picture, const WarpAccess& access) {
  std::uint64_t words = 0, moved = 0;
  for (const AccessPicture::Row& row : picture.rows) {
    for (std::size_t word = 0; word < row.lanes.size(); ++word) {
      words += row.lanes[word] != 0;
      moved += picture.is_moved(row, word);
    }
  }
  const std::string counted =
      access.taken == moved / 8 ? "" : fmt::format(", counted as {}", access.taken);
  return fmt::format("{} {} of the {} in {}{}; ideal {}", lanes_do(access.mask, "", "want"), words,
                     number_of(moved, "word"), number_of(moved / 8, "sector"), counted,
                     access.ideal);
}

}  // namespace

std::string what_text(const WarpAccess& access) {
  const auto& [x, y, z] = access.block;
  return fmt::format("{} of {} a lane; lanes {} of warp {}, block ({}, {}, {})", name_of(access),
                     number_of(static_cast<std::uint64_t>(access.width), "byte"),
                     lanes_text(access.mask), access.warp, x, y, z);
}

std::string caption_of(const AccessPicture& picture, const WarpAccess& access) {
  if (picture.sectors) return sectors_caption(picture, access);
  return fmt::format("{}: {}; ideal {}", demand_text(picture, access),
                     number_of(access.taken, "wavefront"), access.ideal);
}

}  // namespace warpgauge::explain
