// Formulas of the table of metrics: "100 * hits / (hits + misses)".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/facts/catalog_error.h"

namespace warpgauge::metrics {

/// An expression of names, numbers, + - * / and parentheses. A default one has no names and no
/// value.
class Formula {
 public:
  static constexpr std::size_t kMostNames = 8;

  struct Name {
    std::string text;
    std::size_t offset = 0;  ///< where it is first used
  };

  Formula() = default;
  /// `place` is that of the first character. Throws CatalogError.
  explicit Formula(std::string_view text, TextPlace place = {});

  const std::string& text() const { return text_; }
  /// The names in it, in the order in which they appear, each once; kMostNames at most.
  const std::vector<Name>& names() const { return names_; }
  /// Its value where names()[i] is values[i]. It is not finite where it divides by 0.
  double operator()(std::span<const double> values) const;

  /// Throws CatalogError, which points at the character at `offset`.
  [[noreturn]] void refuse(std::size_t offset, std::string_view problem) const;

 private:
  class Reader;
  enum class Kind { number, name, sign };
  struct Step {  // in postfix order
    Kind kind;
    double number = 0;
    std::size_t name = 0;
    char sign = ' ';
  };
  static constexpr std::size_t kMostSteps = 32;

  std::string text_;
  TextPlace place_;
  std::vector<Name> names_;
  std::vector<Step> steps_;
};

}  // namespace warpgauge::metrics
