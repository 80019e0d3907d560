// Why a value moved between two runs. reports/warpgauge/changes/causes.py has the same rules for
// the history.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/diff/side.h"

namespace warpgauge::diff {

/// In the order in which they are listed.
enum class Cause {
  code,              ///< the source files of the kernel are not the same
  compiler,          ///< the same source became other machine code
  code_or_compiler,  ///< other machine code, and the source is not known
  launch,            ///< the same machine code was launched otherwise
  input_or_counter,  ///< an exact count of the same machine code: other input or other counting
  driver,            ///< a noisy value of the same machine code and launches, by another driver
  environment,       ///< the same under the same driver: clocks, temperature, load, another GPU
  unknown,           ///< hashes are missing
};
std::string_view to_string(Cause cause);

Cause cause_of(const SideValue& a, const SideValue& b);

/// True for causes that leave the kernel and its launches as they are.
constexpr bool is_of_the_machine(Cause cause) {
  return cause == Cause::driver || cause == Cause::environment;
}

/// True where only the counting moved a count that is an estimate: such need not repeat.
bool is_recount(Cause cause, const SideValue& a, const SideValue& b);

/// Other known differences: "toolkit 12.8 -> 13.0".
std::vector<std::string> details_of(const SideValue& a, const SideValue& b);

}  // namespace warpgauge::diff
