// Why a value moved between two runs.
#pragma once

#include <string>
#include <vector>

#include "harness/diff/cause_rules.h"
#include "harness/diff/compared_facts.h"

namespace warpgauge::diff {

Cause cause_of(const ComparedValue& a, const ComparedValue& b);

/// True for causes that leave the kernel and its launches as they are.
constexpr bool is_of_the_machine(Cause cause) {
  return cause == Cause::driver || cause == Cause::environment;
}

/// True where both are of kernels with known machine code, and that is not the same.
bool have_other_code(const ComparedValue& a, const ComparedValue& b);

/// True for a count that either side calls an estimate.
bool is_estimate(const ComparedValue& a, const ComparedValue& b);

/// True where only the counting moved a count that is an estimate: such need not repeat.
bool is_recount(Cause cause, const ComparedValue& a, const ComparedValue& b);

/// Other known differences: "toolkit 12.8 -> 13.0".
std::vector<std::string> details_of(const ComparedValue& a, const ComparedValue& b);

}  // namespace warpgauge::diff
