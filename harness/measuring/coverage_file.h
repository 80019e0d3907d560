// The coverage of a run: what its processes add, and the tracefile that comes of it.
#pragma once

#include <filesystem>
#include <string>

#include "harness/files/temporary_path.h"
#include "metrics/counting/coverage.h"

namespace warpgauge {

class CoverageFile {
 public:
  /// Throws std::runtime_error if there is no folder for it.
  explicit CoverageFile(std::filesystem::path path);

  /// Where processes append what lcov_text() gives.
  const std::filesystem::path& parts() const { return parts_.path(); }
  /// Throws std::runtime_error. Several processes may do so at once.
  void add(const metrics::Coverage& coverage) const;

  /// Writes the sum of all parts, with functions demangled, and returns the line for the terminal.
  std::string write() const;

 private:
  std::filesystem::path path_;
  files::TemporaryPath parts_;
};

}  // namespace warpgauge
