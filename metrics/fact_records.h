// Reading the four records of facts. Everything throws MalformedFact.
#pragma once

#include <string>

#include "metrics/fact.h"
#include "metrics/fact_members.h"

namespace warpgauge::metrics {

/// Refuses every other version with one message.
void check_schema(Members& members);

Run read_run(Members members);

/// Reads a case record as a fact without a value, which the values of case `name` start from.
Fact read_case(Members members, const std::string& name);

/// `fact` is what its case gives it.
Fact read_value_record(Members members, Fact fact);

/// `run` is the run that must end here.
RunEnd read_end(Members members, const std::string& run);

}  // namespace warpgauge::metrics
