// The rules for the cause of a change, in one table for `diff` and for the history, which reads it
// from cause_rules.json.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace warpgauge::diff {

/// The causes, in the order in which they are listed.
enum class Cause {
  code,              ///< the source files of the kernel are not the same
  compiler,          ///< the same source became other machine code
  code_or_compiler,  ///< other machine code, and the source is not known
  launch,            ///< the same machine code was launched differently
  input_or_counter,  ///< an exact count of the same machine code: other input or other counting
  driver,            ///< a noisy value of the same machine code and launches, by another driver
  environment,       ///< the same under the same driver: clocks, temperature, load, another GPU
  unknown,           ///< hashes are missing
};
std::string_view to_string(Cause cause);

/// Whether something is the same on both sides.
enum class Sameness { same, other, unknown };
std::string_view to_string(Sameness sameness);

/// How the origins of two values compare.
struct Origins {
  bool noisy = false;     ///< the values differ from run to run: times, hardware counters
  Sameness whole_case{};  ///< machine code of all kernels and launches of the case
  Sameness source{};      ///< source files of the kernel
  Sameness code{};        ///< machine code of the kernel
  Sameness launches{};    ///< launches of the kernel; unknown: neither side has any
  Sameness compiler{};    ///< toolkit and flags
  Sameness driver{};
};

/// Holds where all that it names is so.
struct CauseRule {
  Cause cause;
  std::optional<bool> noisy = {};
  std::optional<Sameness> whole_case = {}, source = {}, code = {}, launches = {}, compiler = {},
                          driver = {};
};

/// The first that holds gives the cause; the last one always does.
std::span<const CauseRule> cause_rules();

Cause cause_of(const Origins& origins);

}  // namespace warpgauge::diff
