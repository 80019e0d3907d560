// A finding for people: as on the terminal, and in every output that has room for it.
#pragma once

#include <string>
#include <string_view>

#include "harness/outcome/finding.h"

namespace warpgauge::outcome {

/// " on sm_90"; empty without an architecture.
std::string on_arch(const metrics::Fact& fact);

/// "transpose.padded.f32@1024x1024 on sm_90 and 6 more"; of a compiled kernel "..., in 2 files".
std::string title(const Finding& finding);

/// "1015808 wavefronts"; "0 sectors, leaves out 8 bulk copies"; "not measured" for nothing.
std::string value_text(const metrics::Fact& fact);

/// "8 bulk copies".
std::string copies_text(std::uint64_t copies);

/// The cure of a value: the one that was worked out from its line's accesses, else the metric's.
std::string_view cure_text(const metrics::Fact& fact);

/// The word that a finding begins with: ERROR, FAIL, BETTER, MOVED or UNSURE.
std::string_view label(const metrics::Fact& fact);

/// Several lines: value, budget and its reason, the lines to blame, the meaning, the cure, what
/// else has the same cause, and `repeat`, the command that gives this verdict again. `with_kernel`:
/// with the name of the kernel, too. An empty `repeat` is left out.
std::string finding_text(const Finding& finding, const std::string& repeat,
                         bool with_kernel = false);

/// "inlined from cuda_fp16.hpp:120 and 2 more; inlined at family.cu:30": the rest of the chain that
/// the line was inlined through, the nearest lines first; empty where there is none.
std::string inlined_text(const metrics::SourceLine& line);

/// "on sm_80 (28), @1000x700 on sm_90 (36) and 5 more"; empty where there is nothing else.
std::string also_text(const Finding& finding);

}  // namespace warpgauge::outcome
