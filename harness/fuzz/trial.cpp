// Chooses the sizes and the seeds of trials.
#include "harness/fuzz/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <random>
#include <set>
#include <utility>

namespace warpgauge::fuzz {
namespace {

/// Product of the extents of most trials, so that the emulator takes milliseconds.
constexpr std::int64_t kFewElements = std::int64_t{1} << 13;

/// The product of the extents at their third value. Below it a range of large tiles has one size.
std::int64_t few_tiles(const SizeRange& range) {
  std::vector<std::int64_t> size;
  for (std::size_t i = 0; i < range.lowest.extents().size(); ++i) {
    size.push_back(range.at(i, std::min<std::int64_t>(range.count(i) - 1, 2)));
  }
  return Size(std::move(size)).count();
}

/// Extents at which kernels go wrong: about warps, blocks and tiles, and primes. Those that tell
/// most come first.
constexpr std::int64_t kEdges[] = {1,   33,   31, 2,   129,  127,  32,   257, 61,  1025, 3,
                                   255, 128,  65, 7,   1023, 513,  63,   256, 997, 64,   511,
                                   5,   2049, 17, 512, 15,   1024, 4097, 16,  8191};

/// The numbers of such extents in the range, and of its ends.
std::vector<std::int64_t> edges(const SizeRange& range, std::size_t extent) {
  std::vector<std::int64_t> numbers = {0};
  const auto add = [&](std::int64_t number) {
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  };
  constexpr std::size_t kBeforeTheEnd = 3;
  for (const std::int64_t edge : kEdges) {
    if (numbers.size() == kBeforeTheEnd) add(range.count(extent) - 1);
    if (edge >= range.lowest[extent] && edge <= range.highest[extent]) {
      add(range.number_of(extent, edge));
    }
  }
  add(range.count(extent) - 1);
  return numbers;
}

/// Makes the trials of a case whose problem allows other sizes.
class Trials {
 public:
  explicit Trials(const Case& tried) : range_(*tried.other_sizes) {
    const std::string id = tried.id.str();
    std::seed_seq name(id.begin(), id.end());
    random_.seed(name);
    few_ = std::max(kFewElements, few_tiles(range_));
    // Its author runs half as much: it fits into memory and ends.
    many_ = std::max(few_, 2 * tried.size.count());
    for (std::size_t i = 0; i < tried.size.extents().size(); ++i) {
      own_.push_back(range_.number_of(i, tried.size[i]));
      of_extents_.push_back(edges(range_, i));
      most_edges_ = std::max(most_edges_, of_extents_.back().size());
    }
  }

  /// The size of the next trial: another one, if one is found soon.
  Size next() {
    constexpr int kDraws = 20;
    Size size = draw();
    for (int i = 1; i < kDraws && known_.contains(size.str()); ++i) size = draw();
    known_.insert(size.str());
    return size;
  }

 private:
  /// Two sizes at edges, a random one, and a random one that may be larger; and again. The first
  /// that may be larger is just beyond the size of the case.
  Size draw() {
    const std::size_t turn = draws_++;
    if (turn == 0) return of_numbers([](std::size_t, std::int64_t) { return 0; }, turn, few_);
    if (turn == 3) {
      const auto beyond = [&](std::size_t extent, std::int64_t most) {
        return std::min(own_[extent] + 1, most);
      };
      return of_numbers(beyond, turn, many_);
    }
    const bool at_edges = turn % 4 < 2 && edge_ < most_edges_;
    if (!at_edges) {
      const auto any = [&](std::size_t, std::int64_t most) { return any_below(most + 1); };
      return of_numbers(any, turn, turn % 4 == 3 ? many_ : few_);
    }
    constexpr std::size_t kApart = 3;  // extents of one trial in their edges: they are not equal
    const std::size_t edge = edge_++;
    const auto known = [&](std::size_t extent, std::int64_t most) {
      const std::vector<std::int64_t>& numbers = of_extents_[extent];
      const std::int64_t number = numbers[(edge + kApart * extent) % numbers.size()];
      return number <= most ? number : any_below(most + 1);
    };
    return of_numbers(known, turn, few_);
  }

  /// The size of the numbers that `choose` gives for an extent and its largest number. The product
  /// of the extents is at most `elements`, if it can be; the first to be chosen is another extent
  /// in each turn.
  template <typename Choose>
  Size of_numbers(const Choose& choose, std::size_t turn, std::int64_t elements) const {
    const std::size_t extents = of_extents_.size();
    std::vector<std::int64_t> size(extents);
    for (std::size_t i = 0; i < extents; ++i) size[i] = std::max<std::int64_t>(1, range_.at(i, 0));
    std::int64_t rest = Size(size).count();  // the others at their lowest, or already chosen
    for (std::size_t k = 0; k < extents; ++k) {
      const std::size_t extent = (turn + k) % extents;
      rest /= size[extent];
      const std::int64_t most =
          range_.number_of(extent, elements / std::max(rest, std::int64_t{1}));
      size[extent] = range_.at(extent, choose(extent, most));
      // An extent of 0 leaves the others as free as 1.
      rest *= std::max<std::int64_t>(1, size[extent]);
    }
    return Size(std::move(size));
  }

  /// A random number below `count`, as often small as large.
  std::int64_t any_below(std::int64_t count) {
    const auto bits = std::bit_width(static_cast<std::uint64_t>(count));
    const std::int64_t end = std::int64_t{1} << (1 + random_() % static_cast<unsigned>(bits));
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(std::min(end, count)));
  }

  const SizeRange& range_;
  std::mt19937_64 random_;
  std::int64_t few_ = 0, many_ = 0;                    ///< most elements of a trial
  std::vector<std::int64_t> own_;                      ///< the case's numbers
  std::vector<std::vector<std::int64_t>> of_extents_;  ///< edges
  std::size_t most_edges_ = 0;
  std::size_t draws_ = 0, edge_ = 1;
  std::set<std::string> known_;
};

}  // namespace

std::string Trial::str() const { return fmt::format("{},{}", size.str(), seed); }

std::optional<Trial> parse_trial(std::string_view text) {
  std::vector<std::int64_t> extents;
  for (char end = 'x'; end == 'x';) {
    std::int64_t extent = 0;
    const auto [after, error] = std::from_chars(text.begin(), text.end(), extent);
    if (error != std::errc() || extent < 0 || after == text.end()) return std::nullopt;
    extents.push_back(extent);
    end = *after;
    text.remove_prefix(static_cast<std::size_t>(after + 1 - text.begin()));
    if (end != 'x' && end != ',') return std::nullopt;
  }
  std::uint32_t seed = 0;
  const auto [after, error] = std::from_chars(text.begin(), text.end(), seed);
  if (error != std::errc() || after != text.end()) return std::nullopt;
  return Trial{Size(std::move(extents)), seed};
}

std::vector<Trial> trials_of(const Case& tried, std::size_t count) {
  std::vector<Trial> trials;
  const auto seed = [&] { return static_cast<std::uint32_t>(trials.size() + 1); };
  if (!tried.other_sizes) {
    while (trials.size() < count) trials.push_back({tried.size, seed()});
    return trials;
  }
  Trials sizes(tried);
  while (trials.size() < count) trials.push_back({sizes.next(), seed()});
  return trials;
}

std::string why_not_allowed(const Case& tried, const Trial& trial) {
  const bool is_allowed = tried.other_sizes ? tried.other_sizes->has(trial.size)
                                            : tried.size.extents() == trial.size.extents();
  if (is_allowed) return "";
  const std::string allowed =
      tried.other_sizes ? tried.other_sizes->str() : "that are its own, " + tried.size.str();
  return fmt::format(
      "--fuzz-at {}: the problem of {} allows sizes {}; take one of them, or select other cases",
      trial.str(), tried.id.str(), allowed);
}

}  // namespace warpgauge::fuzz
