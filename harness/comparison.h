// Comparison of what a variant made with the CPU reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/buffers.h"

namespace warpgauge {

/// Collects what differs. A problem calls `equal` or `close` for each of its outputs.
class Comparison {
 public:
  /// Every element the same, bit for bit in meaning (NaN differs from everything).
  template <typename T>
  void equal(const Output<T>& output, const std::vector<T>& expected) {
    compare(output.host(), expected, 0.0);
  }

  /// |got - expected| <= tolerance * max(1, |expected|) for every element. `expected` comes from
  /// a reference in higher precision; `tolerance` is the family's, derived beside its reference.
  template <typename T, typename Reference>
  void close(const Output<T>& output, const std::vector<Reference>& expected, double tolerance) {
    compare(output.host(), expected, tolerance);
  }

  bool compared() const { return compared_; }
  bool passed() const { return compared_ && failure_.empty(); }
  /// "element 17 is nan (never written?), expected 0.25; 1023 of 4096 differ"; empty if passed.
  const std::string& failure() const { return failure_; }

 private:
  template <typename T, typename Reference>
  void compare(const std::vector<T>& got, const std::vector<Reference>& expected, double tolerance);
  void fail(std::size_t index, double got, double expected, std::size_t differing, std::size_t total);
  void fail_count(std::size_t got, std::size_t expected);

  bool compared_ = false;
  std::string failure_;
};

template <typename T, typename Reference>
void Comparison::compare(const std::vector<T>& got, const std::vector<Reference>& expected,
                         double tolerance) {
  compared_ = true;
  if (got.size() != expected.size()) return fail_count(got.size(), expected.size());
  std::size_t first = 0, differing = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool same;
    if constexpr (std::is_integral_v<T> && std::is_integral_v<Reference>) {
      same = got[i] == expected[i];
    } else {
      const double g = static_cast<double>(got[i]), e = static_cast<double>(expected[i]);
      same = std::abs(g - e) <= tolerance * std::max(1.0, std::abs(e));  // false for NaN
    }
    if (!same && differing++ == 0) first = i;
  }
  if (differing > 0) {
    fail(first, static_cast<double>(got[first]), static_cast<double>(expected[first]), differing,
         got.size());
  }
}

}  // namespace warpgauge
