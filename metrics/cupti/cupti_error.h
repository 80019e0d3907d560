// The one check of CUPTI calls: throws Unmeasured with call, name, text and remedy. Includes no
// header of CUPTI, so that tests can read the table of remedies without them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// "CUPTI_ERROR_NAME (code): text", also for unknown codes.
std::string cupti_error_text(int code);

/// The remedy for a CUptiResult, one or more sentences without the last full stop; empty if there
/// is none.
std::string_view cupti_remedy(int code);

/// Calls again for as long as another process has the counters of the GPU and may give them back:
/// profilers take turns. Gives up after 60 s; returns what the last call returned.
int take_turns(const std::function<int()>& call);

/// Throws Unmeasured unless `code` is CUPTI_SUCCESS. `call` is the function's name.
void check_cupti(int code, std::string_view call);

}  // namespace warpgauge::metrics

/// WARPGAUGE_CUPTI(cuptiRangeProfilerStart, &params);
#define WARPGAUGE_CUPTI(function, ...) \
  ::warpgauge::metrics::check_cupti((function)(__VA_ARGS__), #function)

/// The same for calls that need the counters of the GPU for this process alone.
#define WARPGAUGE_CUPTI_IN_TURN(function, ...) \
  ::warpgauge::metrics::check_cupti(           \
      ::warpgauge::metrics::take_turns([&] { return int{(function)(__VA_ARGS__)}; }), #function)

/// Declares a zeroed parameter block with its size filled in, as CUPTI wants it: `type` is its
/// name up to "_Params". (Not sizeof: the size ends at the last field that this CUPTI has.)
#define WARPGAUGE_CUPTI_PARAMS(type, name) \
  type##_Params name{};                    \
  name.structSize = type##_Params_STRUCT_SIZE
