// The sources of a program's kernels, named relative to the folder that they lie in, so that the
// place of a checkout is in no fact.
#pragma once

#include <string_view>

#include "harness/files/source_root.h"
#include "harness/programs/program_case.h"
#include "metrics/facts/fact.h"

namespace warpgauge::programs {

/// Takes the sources of a kernel, or of a fault, into account.
void add_sources(files::SourceFolder& folder, const CountedKernel& kernel);
void add_sources(files::SourceFolder& folder, const metrics::Fact& fault);

/// Names the files of a kernel, or of a fault and in its reason, relative to the folder where they
/// lie below it.
void name_from(std::string_view folder, CountedKernel& kernel);
void name_from(std::string_view folder, metrics::Fact& fault);

}  // namespace warpgauge::programs
