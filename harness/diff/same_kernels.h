// Finds the kernels of compiled files again where their names or files have others: of another
// version of a library, of another build.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "metrics/fact.h"

namespace warpgauge::diff {

/// A kernel's names in both runs, mangled.
struct KernelNames {
  std::string a, b;
};
/// By id and architecture.
using KernelsOfCases = std::map<std::pair<std::string, std::string>, KernelNames>;

/// Gives the inspected cases of `b` the ids and kernels of the same ones in `a`: those of one name,
/// then those whose names differ in a hash, in parameters or in template arguments. Where several
/// may be meant, that with most words in common; of equals none. Returns the names of the cases
/// that both have.
KernelsOfCases match_kernels(const std::vector<metrics::StoredRun>& a,
                             std::vector<metrics::StoredRun>& b);

}  // namespace warpgauge::diff
