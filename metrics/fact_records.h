// Reading the four records of facts. Everything throws MalformedFact.
#pragma once

#include <string>

#include "metrics/fact.h"
#include "metrics/fact_members.h"

namespace warpgauge::metrics {

/// Refuses every other version with one message.
void check_schema(Members& members);

Run read_run(Members members);

/// What the values of the case `name` have in common: a fact without a value.
Fact read_case(Members members, const std::string& name);

/// `fact` is what its case gives it.
Fact read_value_record(Members members, Fact fact);

/// `run` is the run that must end here.
RunEnd read_end(Members members, const std::string& run);

}  // namespace warpgauge::metrics
