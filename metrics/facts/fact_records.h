// Reading the four records of facts. Everything throws MalformedFact.
#pragma once

#include <string>
#include <vector>

#include "metrics/facts/fact.h"
#include "metrics/facts/fact_members.h"

namespace warpgauge::metrics {

/// Refuses a schema of another version.
void check_schema(Members& members);

Run read_run(Members members);

/// Reads a case record as a fact without a value, which the values of case `name` start from.
Fact read_case(Members members, const std::string& name);

/// Reads the values of a record. `shared` has what their case gives them.
std::vector<Fact> read_values(Members members, Fact shared);

/// Reads the end of a run. It must end `run`.
RunEnd read_end(Members members, const std::string& run);

}  // namespace warpgauge::metrics
