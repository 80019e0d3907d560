// The instruction mix of a kernel: how many instructions of a kind its machine code has.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "metrics/facts/catalog.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// Whether it is one of these metrics, which only `warpgauge inspect` measures.
bool is_of_mix(const Metric& metric);

/// Instructions by metric ("mix.tensor"), those that are 0 among them. Of the code of `kernel`
/// itself, without the functions that it calls. Throws CubinError for an architecture whose code is
/// not known: memory_instructions().
std::map<std::string_view, std::uint64_t> instruction_mix(const Cubin& cubin,
                                                          std::string_view kernel);

}  // namespace warpgauge::metrics
