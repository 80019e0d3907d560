// Reads a limit from a plain number, a plain word or an inline table.
#include "metrics/budgets/budget_limit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "metrics/base/blank.h"
#include "metrics/base/nearest.h"
#include "metrics/facts/built_in_limits.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kLimitForm =
    R"(Write a number, or { max = 8, min = 2, equal = 4, of = "ideal", tolerance = "5%", )"
    R"(until = 2027-01-31, reason = "why" } with the keys that are needed.)";
constexpr std::string_view kToleranceForm =
    R"(Write "5%" or 0.05: from nothing to the whole limit (0 to 1).)";

/// The number of a node for which is_number() holds. (value<double>() is empty for integers that a
/// double cannot hold exactly.)
double to_double(const toml::node& node) {
  if (const toml::value<std::int64_t>* whole = node.as_integer()) {
    return static_cast<double>(whole->get());
  }
  return node.as_floating_point()->get();
}

/// Reads the keys of one limit, and reports errors at their places.
class LimitReader {
 public:
  LimitReader(const BudgetText& text, const Metric& metric) : text_(text), metric_(metric) {}

  Limit read(const Entry& entry) {
    const auto& [key, node] = entry;
    if (metric_.cls == Class::info) {
      fail_at(text_, key->source(), fmt::format("'{}' is shown and never judged", metric_.id),
              "Take the line out.");
    }
    if (const toml::table* keys = node->as_table()) {
      for (const Entry& part : in_file_order(*keys)) read_key(part);
    } else {
      read_plain(*node);
    }
    check(key->source());
    limit_.origin = fmt::format("{}:{}", text_.path(), key->source().begin.line);
    return limit_;
  }

 private:
  void read_plain(const toml::node& node) {
    if (is_word(metric_) || metric_.direction == Direction::none) {
      limit_.equal = value(node);
    } else if (metric_.direction == Direction::lower) {
      limit_.max = number(node);
    } else {
      limit_.min = number(node);
    }
  }

  void read_key(const Entry& part) {
    const std::string_view name = part.first->str();
    const toml::node& node = *part.second;
    if (name == "max") {
      limit_.max = bound(part);
    } else if (name == "min") {
      limit_.min = bound(part);
    } else if (name == "equal") {
      limit_.equal = value(node);
    } else if (name == "of") {
      limit_.of = ratio(part);
    } else if (name == "tolerance") {
      limit_.tolerance = tolerance(part);
    } else if (name == "until") {
      limit_.until = date_of(text_, node);
    } else if (name == "reason") {
      limit_.reason = text_of(
          text_, part, R"(Write why the limit is what it is, such as reason = "writes a column".)");
    } else if (name == "code") {
      limit_.code = code(part);
    } else {
      const std::vector<std::string> names = {"max",   "min",    "equal", "tolerance",
                                              "until", "reason", "code",  "of"};
      fail_at(text_, part.first->source(),
              fmt::format("unknown key '{}'{}", name, did_you_mean(name, names)), kLimitForm);
    }
  }

  double bound(const Entry& part) const {
    if (is_word(metric_)) {
      fail_at(text_, part.first->source(),
              fmt::format("'{}' is a word and has no '{}'", metric_.id, part.first->str()),
              R"(Write { equal = "word" }.)");
    }
    return number(*part.second);
  }

  double number(const toml::node& node) const {
    if (!node.is_number()) {
      fail_at(text_, node.source(), fmt::format("the limit of '{}' must be a number", metric_.id),
              kLimitForm);
    }
    const double number = to_double(node);
    if (!std::isfinite(number) || number < 0 || number > kMaxExactWhole) {
      fail_at(text_, node.source(), "a limit must be finite, not negative and at most 2^53",
              fmt::format("Write the number of {} that is expected.", metric_.unit));
    }
    return number;
  }

  Value value(const toml::node& node) const {
    if (!is_word(metric_)) return number(node);
    const toml::value<std::string>* word = node.as_string();
    if (!word || word->get().empty()) {
      fail_at(text_, node.source(), fmt::format("the limit of '{}' must be a word", metric_.id),
              fmt::format("Write the expected {} as a string.", metric_.unit));
    }
    return word->get();
  }

  double tolerance(const Entry& part) const {
    const toml::node& node = *part.second;
    double fraction = -1;
    if (is_word(metric_)) {
      fail_at(text_, part.first->source(),
              fmt::format("'{}' is a word and has no tolerance", metric_.id), "Take it out.");
    } else if (const toml::value<std::string>* text = node.as_string()) {
      const char* end = text->get().data() + text->get().size();
      double percent = 0;
      const auto [rest, error] = std::from_chars(text->get().data(), end, percent);
      if (error == std::errc() && std::string_view(rest, end) == "%") fraction = percent / 100;
    } else if (node.is_number()) {
      fraction = to_double(node);
    }
    if (!(fraction >= 0 && fraction <= 1)) {  // also refuses NaN
      fail_at(text_, node.source(), "this is not a tolerance", kToleranceForm);
    }
    return fraction;
  }

  /// The case of a ratio as the file has it. The reader of the section checks that it exists.
  std::string ratio(const Entry& part) const {
    if (is_word(metric_)) {
      fail_at(text_, part.first->source(),
              fmt::format("'{}' is a word and has no 'of'", metric_.id), "Take it out.");
    }
    std::string of =
        text_of(text_, part, R"(Write of = "ideal", or the variant and type of another case.)");
    if (of != kIdeal || !metric_.ideal.empty()) return of;
    std::vector<std::string_view> metrics;
    for (const Metric& row : catalog()) {
      if (!row.ideal.empty()) metrics.push_back(row.id);
    }
    fail_at(text_, part.second->source(), fmt::format("'{}' has no ideal", metric_.id),
            fmt::format("There is one of: {}.", fmt::join(metrics, ", ")));
  }

  std::string code(const Entry& part) const {
    if (metric_.cls != Class::bounded) {
      fail_at(text_, part.first->source(),
              fmt::format("'{}' is exact: the same code always has the same value", metric_.id),
              "Take 'code' out: it is for times and hardware counters.");
    }
    return text_of(text_, part, "Write the \"code_hash\" of the fact that the limit comes from.");
  }

  /// Checks the keys against each other.
  void check(const toml::source_region& at) const {
    const bool equal = !std::holds_alternative<std::monostate>(limit_.equal);
    const bool bounds = limit_.max || limit_.min;
    if (!equal && !bounds) fail_at(text_, at, "there is no limit here", kLimitForm);
    if (equal && bounds) {
      fail_at(text_, at, "'equal' is given with 'max' or 'min'", "Keep one of them.");
    }
    if (!limit_.of.empty() && !limit_.code.empty()) {
      fail_at(text_, at, "'code' is given with 'of', which has code of its own",
              "Keep one of them.");
    }
    if (limit_.max && limit_.min && *limit_.max < *limit_.min) {
      fail_at(text_, at, "'max' is less than 'min': nothing can pass", "Swap them.");
    }
    if (limit_.min && !limit_.max && *limit_.min * (1 - limit_.tolerance) <= 0) {
      fail_at(text_, at, "every value is at least 0: nothing can fail",
              "Write a 'min' above 0, or 'max' or 'equal'.");
    }
    if (limit_.until && limit_.reason.empty()) {
      fail_at(text_, at, "a waiver ('until') must say why", R"(Add reason = "...".)");
    }
    const Limit* standard = built_in_limit(metric_.id);
    const bool keeps_it =
        standard != nullptr &&
        (limit_.equal == standard->equal || Value(limit_.max.value_or(-1)) == standard->equal);
    if (standard != nullptr && !keeps_it && limit_.reason.empty()) {
      fail_at(text_, at,
              fmt::format("a limit of '{}' other than the built-in '{}' must say why", metric_.id,
                          standard->str()),
              R"(Write { equal = ..., reason = "..." } with the count that theory gives.)");
    }
    if (metric_.cls == Class::bounded && limit_.tolerance == 0) {
      fail_at(text_, at, fmt::format("'{}' is noisy: its limit needs a tolerance", metric_.id),
              R"(Write for example { max = 10, tolerance = "10%" }.)");
    }
  }

  const BudgetText& text_;
  const Metric& metric_;
  Limit limit_;
};

}  // namespace

void fail_at(const BudgetText& text, const toml::source_region& at, std::string_view problem,
             std::string_view remedy) {
  text.fail(at.begin.line, at.begin.column, problem, remedy);
}

std::string text_of(const BudgetText& text, const Entry& part, std::string_view remedy) {
  const toml::value<std::string>* found = part.second->as_string();
  if (!found || is_blank(found->get())) {
    fail_at(text, part.second->source(),
            fmt::format("'{}' must be a text that is not empty", part.first->str()), remedy);
  }
  return found->get();
}

std::chrono::year_month_day date_of(const BudgetText& text, const toml::node& node) {
  const toml::value<toml::date>* date = node.as_date();
  if (!date) {
    fail_at(text, node.source(), "'until' must be a date",
            "Write a date without quotes, such as 2027-01-31.");
  }
  const toml::date& day = date->get();
  return std::chrono::year(day.year) / std::chrono::month(day.month) / std::chrono::day(day.day);
}

Limit read_limit(const BudgetText& text, const Metric& metric, const Entry& entry) {
  return LimitReader(text, metric).read(entry);
}

}  // namespace warpgauge::metrics
