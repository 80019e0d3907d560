// The provenance of the facts of a run: commit, time, toolkit, flags.
#pragma once

#include <string>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge {

/// The way that code was compiled elsewhere. Empty: not known.
struct Compilation {
  std::string toolkit, flags;  ///< as in metrics::Run
  std::string source_hash;     ///< hash of the sources of all kernels
};

/// The provenance, without devices, of a run of this program that starts now. The commit is the
/// source tree's of this build; empty where git or the tree is missing.
metrics::Run start_run(std::string command, metrics::RunRequest asked);
/// The provenance of a run of another program, whose toolkit and flags are not known. The commit is
/// that of the tree around `folder`.
metrics::Run start_run_of_other(const std::string& folder, std::string command,
                                metrics::RunRequest asked);
/// The provenance of a run with code of this compilation, whose commit is not known.
metrics::Run start_run_of_compiled(std::string command, metrics::RunRequest asked,
                                   const Compilation& compilation);
/// A list with the word, or an empty list for an empty word.
std::vector<std::string> unless_empty(const std::string& word);

}  // namespace warpgauge
