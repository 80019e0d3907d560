// Chooses the sizes and the seeds of trials.
#include "harness/fuzz/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <random>
#include <utility>

namespace warpgauge::fuzz {
namespace {

/// Product of the extents, so that the emulator takes milliseconds.
constexpr std::int64_t kMostElements = std::int64_t{1} << 15;

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
  for (const std::int64_t edge : kEdges) {
    if (edge >= range.lowest[extent] && edge <= range.highest[extent]) {
      add(range.number_of(extent, edge));
    }
  }
  add(range.count(extent) - 1);
  return numbers;
}

/// A random number below `count`, as often small as large.
std::int64_t any_below(std::int64_t count, std::mt19937& random) {
  const auto bits = std::bit_width(static_cast<std::uint64_t>(count));
  const std::int64_t end = std::int64_t{1} << (1 + random() % static_cast<unsigned>(bits));
  return static_cast<std::int64_t>(random()) % std::min(end, count);
}

/// The size of these extents, of which the first to be cut is another one in each trial.
Size cut(const SizeRange& range, const std::vector<std::int64_t>& numbers, std::size_t trial) {
  const std::size_t extents = numbers.size();
  std::vector<std::int64_t> size(extents);
  for (std::size_t i = 0; i < extents; ++i) size[i] = std::max<std::int64_t>(1, range.at(i, 0));
  std::int64_t rest = Size(size).count();  // the others at their lowest, or already chosen
  for (std::size_t k = 0; k < extents; ++k) {
    const std::size_t extent = (trial + k) % extents;
    rest /= size[extent];
    const std::int64_t most =
        range.number_of(extent, kMostElements / std::max(rest, std::int64_t{1}));
    size[extent] = range.at(extent, std::min(numbers[extent], most));
    rest *= std::max<std::int64_t>(1, size[extent]);
  }
  return Size(std::move(size));
}

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
  const SizeRange& range = *tried.other_sizes;
  const std::string id = tried.id.str();
  std::seed_seq name(id.begin(), id.end());
  std::mt19937 random(name);
  std::vector<std::vector<std::int64_t>> of_extents;
  std::size_t most = 0;
  for (std::size_t i = 0; i < tried.size.extents().size(); ++i) {
    of_extents.push_back(edges(range, i));
    most = std::max(most, of_extents.back().size());
  }
  while (trials.size() < count) {
    constexpr std::size_t kApart = 3;  // extents of one trial in their edges: they are not equal
    const std::size_t trial = trials.size();
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < of_extents.size(); ++i) {
      const std::vector<std::int64_t>& known = of_extents[i];
      numbers.push_back(trial >= most ? any_below(range.count(i), random)
                        : trial == 0  ? 0
                                      : known[(trial + kApart * i) % known.size()]);
    }
    trials.push_back({cut(range, numbers, trial), seed()});
  }
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
