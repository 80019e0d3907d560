// Reads formulas into postfix order, and evaluates them.
#include "metrics/facts/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

namespace warpgauge::metrics {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_of_name(char c) { return begins_name(c) || is_digit(c) || c == '.'; }

double combined(double left, char sign, double right) {
  return sign == '+'   ? left + right
         : sign == '-' ? left - right
         : sign == '*' ? left * right
                       : left / right;
}

}  // namespace

CatalogError::CatalogError(const TextPlace& place, std::string_view problem)
    : std::runtime_error(
          fmt::format("{}:{}:{}: {}", place.path, place.line, place.column, problem)) {}

/// Descends recursively: a sum is of products, a product of operands.
class Formula::Reader {
 public:
  explicit Reader(Formula& formula) : formula_(formula), text_(formula.text_) {}

  void read() {
    sum();
    if (at_ < text_.size()) fail("an operator is missing");
  }

 private:
  void sum() {
    product();
    while (const char sign = taken("+-")) {
      product();
      add({.kind = Kind::sign, .sign = sign});
    }
  }

  void product() {
    operand();
    while (const char sign = taken("*/")) {
      operand();
      add({.kind = Kind::sign, .sign = sign});
    }
  }

  void operand() {
    if (taken("(") != 0) {
      sum();
      if (taken(")") == 0) fail("')' is missing");
      return;
    }
    const std::size_t begin = at_;
    if (at_ < text_.size() && is_digit(text_[at_])) {
      double number = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      at_ = static_cast<std::size_t>(end - text_.data());
      add({.kind = Kind::number, .number = number});
      return;
    }
    if (at_ == text_.size() || !begins_name(text_[at_])) fail("a name or number is missing");
    while (at_ < text_.size() && is_of_name(text_[at_])) ++at_;
    add({.kind = Kind::name, .name = place_of(text_.substr(begin, at_ - begin), begin)});
  }

  std::size_t place_of(std::string_view name, std::size_t offset) {
    std::vector<Name>& names = formula_.names_;
    const auto found = std::ranges::find(names, name, &Name::text);
    const auto place = static_cast<std::size_t>(found - names.begin());
    if (found != names.end()) return place;
    if (names.size() == kMostNames) {
      formula_.refuse(offset, fmt::format("more than {} names", kMostNames));
    }
    names.push_back({std::string(name), offset});
    return place;
  }

  /// The next character if it is one of `these`, which then is read, else 0. Skips blanks.
  char taken(std::string_view these) {
    skip_blanks();
    if (at_ == text_.size() || these.find(text_[at_]) == these.npos) return 0;
    const char c = text_[at_++];
    skip_blanks();
    return c;
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  void add(const Step& step) {
    if (formula_.steps_.size() == kMostSteps) fail("the formula is too long");
    formula_.steps_.push_back(step);
  }

  [[noreturn]] void fail(std::string_view problem) const { formula_.refuse(at_, problem); }

  Formula& formula_;
  std::string_view text_;
  std::size_t at_ = 0;
};

Formula::Formula(std::string_view text, TextPlace place) : text_(text), place_(std::move(place)) {
  Reader(*this).read();
}

double Formula::operator()(std::span<const double> values) const {
  std::array<double, kMostSteps> stack;
  stack[0] = std::numeric_limits<double>::quiet_NaN();
  std::size_t size = 0;
  for (const Step& step : steps_) {
    if (step.kind == Kind::sign) {
      --size;
      stack[size - 1] = combined(stack[size - 1], step.sign, stack[size]);
    } else {
      stack[size++] = step.kind == Kind::name ? values[step.name] : step.number;
    }
  }
  return stack[0];
}

void Formula::refuse(std::size_t offset, std::string_view problem) const {
  throw CatalogError({place_.path, place_.line, place_.column + offset},
                     fmt::format("in the formula '{}': {}", text_, problem));
}

}  // namespace warpgauge::metrics
