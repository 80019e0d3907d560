// The kernels of a cubin, with what their machine code says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/programs/program_case.h"
#include "metrics/machine_code/code_file.h"
#include "metrics/machine_code/ptxas.h"

namespace warpgauge::inspect {

/// `threads` of a block, for the occupancy; nothing: the launch bounds of each kernel, as far as it
/// has them. Throws metrics::CubinError for what is no cubin.
std::vector<programs::CountedKernel> compiled_kernels(const metrics::FoundCubin& found,
                                                      std::optional<std::uint32_t> threads);

/// Adds what other code of the same kernel says: the worse of the two, as any of them may run.
void add_other_code(programs::CountedKernel& kernel, const programs::CountedKernel& other);

/// Replaces spills that are an estimate by what `ptxas -v` said of the kernel. With functions that
/// it calls they stay: ptxas leaves theirs out.
void take_spills(programs::CountedKernel& kernel, const metrics::PtxasKernel& said);

}  // namespace warpgauge::inspect
