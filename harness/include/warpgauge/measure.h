// Measures kernels inside any test or program, without a registration:
//
//   const warpgauge::Measurement cost = warpgauge::measure([&] { copy<<<grid, block>>>(b, a); });
//   cost["shared.bank_conflicts"];   // 0
//
// In a test of GoogleTest include <warpgauge/gtest.h>, which has EXPECT_BUDGET as well. The program
// is made by warpgauge_add_gtest() (CMake); its main() is warpgauge's, unless a source has one.
#pragma once

#include <functional>
#include <map>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgauge {

/// The requested metric, or anything, cannot be counted here. what() says why.
class NotMeasured : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The exact counts of all launches together, and the compile-time values for their device.
/// Registers, spills and occupancy are those of the worst kernel.
class Measurement {
 public:
  /// The value of a metric in its unit; `warpgauge metrics` lists both. Throws NotMeasured for a
  /// metric that is a word or does not belong to one launch, such as a time, and for a count that
  /// is only estimated here; std::out_of_range, with the nearest name, if there is no such metric.
  double operator[](std::string_view metric) const;
  /// The line with the largest part of a metric, "kernels/copy.cu:12"; empty if no line has a part.
  /// Throws NotMeasured for a metric that does not belong to one launch, and std::out_of_range as
  /// operator[] does.
  const std::string& line(std::string_view metric) const;
  /// The open NVTX ranges of this thread during the measurement, "outer/inner". Empty if there were
  /// none, and where a tool such as Nsight takes them.
  const std::string& name() const { return name_; }
  /// All values, a line each below the name, for a message.
  std::string str() const;

 private:
  friend class Measuring;
  struct Value {
    double value = 0;
    std::string unit, line, why_not;  ///< why_not: why there is no value, or empty
  };
  const Value& at(std::string_view metric) const;
  std::string name_;
  std::map<std::string, Value, std::less<>> values_;
};

/// Why nothing can be measured here ("no CUDA device here"); empty if it can. For GTEST_SKIP.
std::string why_nothing_is_measured();

/// Gets ready to count. For a main() of your own: call it before the first launch, best before
/// anything else of CUDA, because it takes the GPU that CTest has assigned. The main() of
/// warpgauge_add_gtest() does. Where nothing can be measured it keeps the reason for measure().
/// Throws metrics::CudaError for a GPU that is there and cannot be used.
void prepare_to_measure();

/// Names further measurements suite.test.launch@N, with N from 1. <warpgauge/gtest.h> calls it for
/// each test of GoogleTest; with another framework call it where a test begins. Two empty names,
/// for code between tests, give measured.here.launch@N.
void name_measurements(std::string suite, std::string test);

/// Runs `launch` once, waits for its kernels, and returns their costs. It may launch several
/// kernels, on any stream, and call anything else. A main() of your own must have called
/// prepare_to_measure() before any kernel was launched. Throws NotMeasured, metrics::CudaError for
/// a launch that failed, and anything `launch` throws.
///
/// If WARPGAUGE_FACTS names a file, this and over_budget() append the facts to it, for `warpgauge
/// diff`, `outcome`, `emit` and `accept`. name_measurements() names their case. Throws
/// metrics::FactError if the file cannot be written.
Measurement measure(const std::function<void()>& launch,
                    std::source_location where = std::source_location::current());

/// Measures `launch`, holds the values against `budget`, and returns those over budget in the
/// gate's words; empty if all are within. `budget` is one of
/// - lines as in budgets.toml (`"registers" = 32`, one a line; names need no quotes);
/// - the id of a case ("family.variant.type@size"; an id has no '='), whose budgets hold: a case
///   that is registered in this program, or one with a section in <family>.toml in the folder
///   BUDGETS of warpgauge_add_gtest().
///
/// Estimates are printed, as by the gate, and not held against a budget without `gate_on`.
///
/// Precedence: for metrics that lines leave out, <suite>.toml in that folder holds (with `_` for
/// the `/` of parameterised tests), which `warpgauge accept` writes; then the built-in budgets do:
/// no bank conflicts, spills or local traffic.
///
/// Failures: throws like measure(), metrics::BudgetError for bad lines, and std::invalid_argument
/// for an unknown id.
std::string over_budget(const std::function<void()>& launch, std::string_view budget,
                        std::source_location where = std::source_location::current());

}  // namespace warpgauge
