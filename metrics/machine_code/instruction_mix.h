// The instruction mix of a kernel: the number of instructions in its machine code, by kind.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "metrics/facts/catalog.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// True for the metrics "mix.*", which only `warpgauge inspect` measures.
bool is_of_mix(const Metric& metric);

/// The number of instructions by metric ("mix.tensor"), with zeros, in the code of `kernel` without
/// the functions that it calls. Throws CubinError for an architecture that memory_instructions()
/// does not know.
std::map<std::string_view, std::uint64_t> instruction_mix(const Cubin& cubin,
                                                          std::string_view kernel);

}  // namespace warpgauge::metrics
