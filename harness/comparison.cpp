// Messages of comparisons that failed.
#include "harness/comparison.h"

#include <fmt/format.h>

namespace warpgauge {

std::string Comparison::text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{}", value);  // fmt shows the sign of NaN
}

void Comparison::fail(std::size_t index, const std::string& got, const std::string& expected,
                      std::size_t differing, std::size_t total) {
  if (!failure_.empty()) return;  // the first output that differs is enough to start from
  const char* hint = got == "nan" ? " (never written?)" : "";
  failure_ = fmt::format("element {} is {}{}, expected {}; {} of {} differ", index, got, hint,
                         expected, differing, total);
}

void Comparison::fail_count(std::size_t got, std::size_t expected) {
  if (failure_.empty()) {
    failure_ = fmt::format("{} elements, but the reference has {}", got, expected);
  }
}

}  // namespace warpgauge
