// Rows of unequal length, which only the device knows.
#pragma once

#include <cstdint>

#include "warpgauge/warpgauge.h"

namespace dynamic_parallelism {

constexpr int kThreads = 256;
constexpr int kPitch = 1024;  // words from row to row
constexpr int kLongest = 900;

// Row r has 0, 300, 600, 900, 0, 300, ... words, of which each is to become 3 x + 1. The size is
// the number of rows.
struct Rows : warpgauge::Problem {
  const int rows;
  warpgauge::Input<std::int32_t> lengths;
  warpgauge::InOut<std::uint32_t> x;

  explicit Rows(const warpgauge::Size& size)
      : rows(static_cast<int>(size[0])),
        lengths(*this, lengths_of(rows)),
        x(*this, rows * kPitch) {}
  /// The words between the end of a row and the next one need not be moved.
  double bytes() const override {
    double words = 0;
    for (const std::int32_t length : lengths.host()) words += length;
    return lengths.traffic() + 2 * sizeof(std::uint32_t) * words;
  }
  void check(warpgauge::Comparison& comparison) const override {
    std::vector<std::uint32_t> expected = x.initial();
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < lengths.host()[row]; ++i) {
        std::uint32_t& value = expected[row * kPitch + i];
        value = 3 * value + 1;
      }
    }
    comparison.equal(x, expected);
  }

 private:
  static std::vector<std::int32_t> lengths_of(int rows) {
    std::vector<std::int32_t> lengths(rows);
    for (int row = 0; row < rows; ++row) lengths[row] = row % 4 * kLongest / 3;
    return lengths;
  }
};

}  // namespace dynamic_parallelism
