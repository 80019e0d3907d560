// Where the facts of a run come from: commit, time, toolkit, flags.
#pragma once

#include <string>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge {

/// How something was compiled elsewhere; empty: not known.
struct Compilation {
  std::string toolkit, flags;  ///< as in metrics::Run
  std::string source_hash;     ///< of the sources of all kernels
};

/// The provenance of a run of this program that starts now, without its device. The commit is that
/// of the source tree of this build; empty where git or the tree is missing.
metrics::Run start_run(std::string command, metrics::RunRequest asked);
/// The same of a program of somebody else's, of which neither toolkit nor flags are known. The
/// commit is that of the tree that `folder` lies in.
metrics::Run start_run_of_other(const std::string& folder, std::string command,
                                metrics::RunRequest asked);
/// The same of something that was compiled so, of which no commit is known.
metrics::Run start_run_of_compiled(std::string command, metrics::RunRequest asked,
                                   const Compilation& compilation);
/// The words of an option that may be left empty.
std::vector<std::string> unless_empty(const std::string& word);

}  // namespace warpgauge
