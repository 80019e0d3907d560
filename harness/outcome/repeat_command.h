// The command that gives a verdict again.
#pragma once

#include <string>

#include "harness/outcome/finding.h"

namespace warpgauge::outcome {

/// The option that repeats the trial whose failure is the value, with a blank before it; empty for
/// other facts.
std::string trial_option(const metrics::Fact& fact);

/// A command that gives the verdict of the value again, to be pasted into a shell; "..." stands for
/// what is not known. The same counts are counted again the same way, even on another machine:
/// emulated again what was emulated, as the same architecture; timed again what was timed.
std::string repeat_command(const JudgedValue& value);

}  // namespace warpgauge::outcome
