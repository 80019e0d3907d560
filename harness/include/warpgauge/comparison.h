// Compares the results of a variant with the CPU reference.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpgauge/buffers.h"

namespace warpgauge {

/// The distance of results from the reference, over all elements that `close` has compared.
struct Errors {
  std::size_t count =
      0;  ///< elements; those with an expected value that is not finite are left out
  double max_scaled = 0;    ///< largest |got - expected| / max(1, |expected|)
  double sum_absolute = 0;  ///< sum of |got - expected|
  double sum_relative = 0;  ///< sum of |got - expected| / |expected|, where expected is not 0
  std::size_t relative_count = 0;  ///< elements in sum_relative

  /// The mean of |got - expected|; NaN where nothing was compared.
  double mean_absolute() const { return sum_absolute / static_cast<double>(count); }
  /// The mean of |got - expected| / |expected|; negative where no expected value other than 0 was
  /// compared.
  double mean_relative() const {
    return relative_count == 0 ? -1 : sum_relative / static_cast<double>(relative_count);
  }
};

/// Collects differences. A problem calls `equal` or `close` for each of its outputs, or for values
/// that the host derives from them. Vectors of different lengths differ.
class Comparison {
 public:
  /// Compares for equal values: 0 equals -0, and NaN differs from everything.
  template <typename T>
  void equal(const std::vector<T>& got, const std::vector<T>& expected) {
    compare(got, expected, 0.0);
  }
  /// Compares the contents of an Output or InOut for equal values.
  template <typename T>
  void equal(const Output<T>& output, const std::vector<T>& expected) {
    equal(output.host(), expected);
  }

  /// Compares for |got - expected| <= tolerance * max(1, |expected|) in every element. An expected
  /// infinity is close to itself alone. `expected` comes from a reference in higher precision;
  /// `tolerance` is the family's, derived beside its reference. Throws std::invalid_argument for a
  /// tolerance that is negative, NaN, or at least 1, where 0 would be close to everything.
  template <typename T, typename Reference>
  void close(const std::vector<T>& got, const std::vector<Reference>& expected, double tolerance) {
    require_usable(tolerance);
    add_errors(got, expected);
    compare(got, expected, tolerance);
  }
  /// Compares the contents of an Output or InOut for close values.
  template <typename T, typename Reference>
  void close(const Output<T>& output, const std::vector<Reference>& expected, double tolerance) {
    close(output.host(), expected, tolerance);
  }

  /// Adds the distance of `got` from `expected` to errors(), and compares nothing. For checks whose
  /// bound differs from element to element, which make the comparison by another call.
  template <typename T, typename Reference>
  void add_errors(const std::vector<T>& got, const std::vector<Reference>& expected) {
    if (got.size() != expected.size()) return fail_count(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      add_error(static_cast<double>(got[i]), static_cast<double>(expected[i]));
    }
  }

  /// Declares that the problem has no reference: the costs of a run are judged, and its result is
  /// not.
  void counts_only() { counts_only_ = true; }

  /// True once an element was compared.
  bool compared() const { return compared_; }
  bool is_counts_only() const { return counts_only_; }  ///< was counts_only() called?
  /// True if nothing differed, and something was compared or counts_only() was called.
  bool passed() const { return (compared_ || counts_only_) && difference_.kind == Kind::none; }
  /// "element 17 is nan (never written?), expected 0.25; 1023 of 4096 differ"; empty if passed.
  std::string failure() const;
  const Errors& errors() const { return errors_; }  ///< over all elements that close() compared

 private:
  template <typename T, typename Reference>
  void compare(const std::vector<T>& got, const std::vector<Reference>& expected, double tolerance);
  template <typename T, typename Reference>
  static bool same(const T& got, const Reference& expected, double tolerance);
  static void require_usable(double tolerance);
  void fail_count(std::size_t got, std::size_t expected);
  void add_error(double got, double expected);

  /// An element for a message.
  struct Element {
    bool is_integer, is_signed;
    std::int64_t integer;  // its bits, if it is one
    double number;         // otherwise
    std::string text() const;
  };
  template <typename T>
  static Element element(const T& value);

  /// The first difference: enough to start from.
  enum class Kind { none, elements, count };
  struct Difference {
    Kind kind = Kind::none;
    std::size_t index = 0;            // index of the first element that differs
    Element got = {}, expected = {};  // at that index
    // Elements that differ, and all; or elements that there are, and that there should be.
    std::size_t count = 0, total = 0;
  };

  bool compared_ = false, counts_only_ = false;
  Difference difference_;
  Errors errors_;
};

template <typename T, typename Reference>
void Comparison::compare(const std::vector<T>& got, const std::vector<Reference>& expected,
                         double tolerance) {
  if (!got.empty()) compared_ = true;
  if (got.size() != expected.size()) return fail_count(got.size(), expected.size());
  std::size_t first = 0, differing = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!same(got[i], expected[i], tolerance) && differing++ == 0) first = i;
  }
  if (differing > 0 && difference_.kind == Kind::none) {
    difference_ = {Kind::elements,           first,     element(got[first]),
                   element(expected[first]), differing, got.size()};
  }
}

template <typename T, typename Reference>
bool Comparison::same(const T& got, const Reference& expected, double tolerance) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<Reference>) {
    // Integers are compared as such: a double cannot represent 2^53 + 1.
    if (tolerance == 0) return std::cmp_equal(+got, +expected);
  }
  const double g = static_cast<double>(got), e = static_cast<double>(expected);
  if (g == e) return true;
  // Both comparisons are false for NaN. Any distance to an infinity is within a part of it.
  return std::isfinite(e) && std::fabs(g - e) <= tolerance * std::fmax(1.0, std::fabs(e));
}

template <typename T>
Comparison::Element Comparison::element(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return {true, std::is_signed_v<T>, static_cast<std::int64_t>(value), 0};
  } else {
    return {false, true, 0, static_cast<double>(value)};
  }
}

}  // namespace warpgauge
