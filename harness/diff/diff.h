// The comparer: what changed between two runs, or how far the counts of two sources agree.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/cases/selection.h"
#include "harness/diff/noise.h"
#include "harness/diff/truncate.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::diff {

struct DiffOptions {
  std::filesystem::path a, b;  ///< two files of facts
  std::string name_a, name_b;  ///< their names in texts; empty: the files' own
  Selection selection;
  std::vector<std::string> archs;  ///< names or globs of them; empty: all
  double noise = kUsualNoise;      ///< a share of A's value: 0.03 is 3%
  std::filesystem::path json;      ///< gets the result as JSON; empty: no file
  bool require_all = false;  ///< a case that is not compared at all makes the exit code 3, too
  DisplayOptions display;
};

/// Reads both files, prints the result and writes it. Where the accesses were counted by different
/// sources (the emulator and a GPU) it compares the counts of cases with the same machine code;
/// otherwise all values of whole cases. Returns the exit code: 1 where a value is worse, or a count
/// differs that both sources call exact; else 3 where a value of A is lost, the machine code of a
/// counted case is not the same, or with require_all a case or its lines were not compared; else 0.
/// Throws metrics::FactError, and std::runtime_error where the runs have nothing in common.
outcome::ExitCode diff_runs(const DiffOptions& options);

}  // namespace warpgauge::diff
