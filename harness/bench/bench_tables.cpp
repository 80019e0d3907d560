// Writes tables of times as Markdown.
#include "harness/bench/bench_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace warpgauge::bench {
namespace {

using Cells = std::map<std::string, std::map<std::string, std::string>>;  // row, column -> time

/// Texts in order of first appearance, without repetitions.
class Order {
 public:
  void add(const std::string& text) {
    if (std::ranges::find(texts_, text) == texts_.end()) texts_.push_back(text);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

std::string time_text(double us) {
  return us < 1000 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

/// "12.34", or "112.00 \\*" if the GPU waited for the host.
std::string median_text(const Timing& timing) {
  return time_text(timing.estimate.median) + (timing.why_not_held.empty() ? "" : " \\*");
}

/// "12.3 G" for 12.3e9.
std::string scaled(double value, std::string_view unit) {
  if (value <= 0) return "-";
  const char* const prefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (value >= 1000 && step + 1 < std::size(prefixes)) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{:.3g} {}{}", value, prefixes[step], unit);
}

void write_table(std::string* text, const std::string& corner, const Order& rows,
                 const Order& columns, const Cells& cells) {
  *text += fmt::format("| {} | {} |\n|---|", corner, fmt::join(columns.texts(), " | "));
  for (std::size_t i = 0; i < columns.texts().size(); ++i) *text += "---:|";
  for (const std::string& row : rows.texts()) {
    *text += fmt::format("\n| {} |", row);
    for (const std::string& column : columns.texts()) {
      const auto found = cells.at(row).find(column);
      *text += fmt::format(" {} |", found == cells.at(row).end() ? "" : found->second);
    }
  }
  *text += "\n\n";
}

/// The extents of "8x32"; nothing unless there are two.
std::optional<std::pair<int, int>> two_extents(const std::string& size) {
  const auto x = size.find('x');
  if (x == std::string::npos || size.find('x', x + 1) != std::string::npos) return std::nullopt;
  std::pair<int, int> extents;
  const char* const end = size.data() + size.size();
  std::from_chars(size.data(), end, extents.first);
  std::from_chars(size.data() + x + 1, end, extents.second);
  return extents;
}

/// True where the sizes of a variant are so many of so few extents that they span a grid.
bool is_grid(const std::vector<const Timing*>& timings) {
  constexpr std::size_t kLeast = 4;  // values of each extent
  std::set<int> down, across;
  for (const Timing* timing : timings) {
    const auto extents = two_extents(timing->id.size);
    if (!extents) return false;
    down.insert(extents->first);
    across.insert(extents->second);
  }
  return down.size() >= kLeast && across.size() >= kLeast &&
         timings.size() > std::max(down.size(), across.size());
}

void write_grid(std::string* text, const std::vector<const Timing*>& timings) {
  std::set<int> down, across;
  Cells cells;
  for (const Timing* timing : timings) {
    const auto [y, x] = *two_extents(timing->id.size);
    down.insert(y);
    across.insert(x);
    cells[std::to_string(y)][std::to_string(x)] = median_text(*timing);
  }
  Order rows, columns;
  for (const int y : down) rows.add(std::to_string(y));
  for (const int x : across) columns.add(std::to_string(x));
  *text += fmt::format("### {}, median µs by size\n\n", timings.front()->id.variant_type());
  write_table(text, "first extent down, second across", rows, columns, cells);
}

void write_variants(std::string* text, const std::vector<const Timing*>& timings) {
  Order rows, columns;
  Cells cells;
  for (const Timing* timing : timings) {
    rows.add(timing->id.variant_type());
    columns.add(timing->id.size);
    cells[timing->id.variant_type()][timing->id.size] = median_text(*timing);
  }
  write_table(text, "median µs", rows, columns, cells);
}

/// Tables and, below them, what the mark means, with the reasons that occur.
std::string with_footnote(std::string tables, const std::vector<Timing>& timings) {
  Order notes;
  for (const Timing& timing : timings) {
    if (!timing.why_not_held.empty()) notes.add(host_note(timing));
  }
  if (notes.texts().empty()) return tables;
  if (!tables.ends_with("\n\n")) tables += "\n";
  return fmt::format("{}\\* {}\n", tables, fmt::join(notes.texts(), "; "));
}

}  // namespace

std::string host_note(const Timing& timing) {
  return timing.why_not_held.empty() ? "" : "the GPU waited for the host: " + timing.why_not_held;
}

std::string times_table(const std::vector<Timing>& timings) {
  Order families;
  for (const Timing& timing : timings) families.add(timing.id.family);
  std::string text;
  for (const std::string& family : families.texts()) {
    text += fmt::format("## {}\n\n", family);
    std::vector<const Timing*> flat;
    std::map<std::string, std::vector<const Timing*>> by_variant;
    Order variants;
    for (const Timing& timing : timings) {
      if (timing.id.family != family) continue;
      variants.add(timing.id.variant_type());
      by_variant[timing.id.variant_type()].push_back(&timing);
    }
    for (const std::string& variant : variants.texts()) {
      if (is_grid(by_variant[variant])) {
        write_grid(&text, by_variant[variant]);
      } else {
        std::ranges::copy(by_variant[variant], std::back_inserter(flat));
      }
    }
    if (!flat.empty()) write_variants(&text, flat);
  }
  return with_footnote(text, timings);
}

std::string speeds_table(const std::vector<Timing>& timings) {
  std::string text =
      "| case | median µs | bytes | of peak | operations | of peak | against | speed | one CPU "
      "thread, µs | "
      "speed-up |\n"
      "|---|---:|---:|---:|---:|---:|---|---:|---:|---:|\n";
  const auto share = [](double percent) {
    return percent > 0 ? fmt::format("{:.1f} %", percent) : "-";
  };
  for (const Timing& timing : timings) {
    const double sequential_us = 1000 * timing.sequential_ms;
    const double speed_up = sequential_us / timing.estimate.median;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", timing.id.str(),
                        median_text(timing), scaled(timing.bytes_per_second, "B/s"),
                        share(timing.percent_of_peak), scaled(timing.flops_per_second, "FLOP/s"),
                        share(timing.percent_of_arithmetic_peak),
                        timing.yardstick.empty() ? "-" : timing.yardstick,
                        timing.relative_to > 0 ? fmt::format("{:.3f}", timing.relative_to) : "-",
                        sequential_us > 0 ? time_text(sequential_us) : "-",
                        sequential_us > 0 ? fmt::format("{:.3g}", speed_up) : "-");
  }
  return with_footnote(text, timings);
}

std::string accuracy_table(const std::vector<Timing>& timings) {
  std::string rows;
  std::vector<Timing> compared;
  for (const Timing& timing : timings) {
    if (timing.max_error < 0) continue;
    compared.push_back(timing);
    rows += fmt::format(
        "| {} | {:.3g} | {} | {:.3g} | {} |\n", timing.id.str(), timing.mean_absolute_error,
        timing.mean_relative_error < 0 ? "-" : fmt::format("{:.3g}", timing.mean_relative_error),
        timing.max_error, median_text(timing));
  }
  if (rows.empty()) return "";
  return with_footnote(
      "| case | mean absolute error | mean relative error | largest error | median µs |\n"
      "|---|---:|---:|---:|---:|\n" +
          rows,
      compared);
}

}  // namespace warpgauge::bench
