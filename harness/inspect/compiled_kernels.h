// The kernels of a cubin, or of the log of a build, with what the compiler decided of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/programs/program_case.h"
#include "metrics/machine_code/code_file.h"
#include "metrics/machine_code/ptxas.h"

namespace warpgauge::inspect {

/// `threads` of a block, for the occupancy; nothing: the launch bounds of each kernel, as far as it
/// has them. Throws metrics::CubinError for what is no cubin.
std::vector<programs::CountedKernel> compiled_kernels(const metrics::FoundCubin& found,
                                                      std::optional<std::uint32_t> threads);

/// A kernel as `ptxas -v` reported it, which is less than its machine code has.
programs::CountedKernel logged_kernel(const metrics::PtxasKernel& said,
                                      std::optional<std::uint32_t> threads);

/// Replaces spills that are an estimate by what `ptxas -v` said of the kernel. With functions that
/// it calls they stay: ptxas leaves theirs out.
void take_spills(programs::CountedKernel& kernel, const metrics::PtxasKernel& said);

/// Adds what another code of the same kernel has: of each metric the worse value counts.
void add_other_code(programs::CountedKernel& kernel, const programs::CountedKernel& other);

}  // namespace warpgauge::inspect
