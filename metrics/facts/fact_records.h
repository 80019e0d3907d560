// Reading the five records of facts. Everything throws MalformedFact.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metrics/facts/fact.h"
#include "metrics/facts/fact_members.h"

namespace warpgauge::metrics {

/// Refuses a schema of another version.
void check_schema(Members& members);

/// Refuses a name that no record has: `key` holds it.
void check_name(const Members& members, std::string_view key, std::string_view name);

Run read_run(Members members);

/// Reads a case record as a fact without a value, which the values of case `name` start from.
Fact read_case(Members members, const std::string& name);

/// Refuses members that no record of values has. What a limit may be, its metrics say.
void check_shared(Members members);

/// Reads the values of a record. `shared` has what their case gives them.
std::vector<Fact> read_values(Members members, Fact shared);

/// Reads the end of a run. It must end `run`.
RunEnd read_end(Members members, const std::string& run);

}  // namespace warpgauge::metrics
