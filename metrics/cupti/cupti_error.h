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

/// Repeats a call while another process holds the counters of the GPU, so that profilers take
/// turns. Gives up after 60 s; returns the result of the last call.
int take_turns(const std::function<int()>& call);

/// Throws Unmeasured unless `code` is CUPTI_SUCCESS. `call` is the function's name.
void check_cupti(int code, std::string_view call);

}  // namespace warpgauge::metrics

/// WARPGAUGE_CUPTI(cuptiRangeProfilerStart, &params);
#define WARPGAUGE_CUPTI(function, ...) \
  ::warpgauge::metrics::check_cupti((function)(__VA_ARGS__), #function)

/// WARPGAUGE_CUPTI for calls that need the counters of the GPU for this process alone: takes turns.
#define WARPGAUGE_CUPTI_IN_TURN(function, ...) \
  ::warpgauge::metrics::check_cupti(           \
      ::warpgauge::metrics::take_turns([&] { return int{(function)(__VA_ARGS__)}; }), #function)

/// Declares a zeroed parameter block and fills in its size, as CUPTI requires. `type` is its name
/// up to "_Params". (The size is not sizeof: it ends at the last field that this CUPTI has.)
#define WARPGAUGE_CUPTI_PARAMS(type, name) \
  type##_Params name { .structSize = type##_Params_STRUCT_SIZE }
