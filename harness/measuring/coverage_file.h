// The coverage of a run: collects it from the processes, and writes the tracefile.
#pragma once

#include <filesystem>
#include <string>

#include "harness/files/temporary_path.h"
#include "metrics/counting/coverage.h"

namespace warpgauge {

class CoverageFile {
 public:
  /// The tracefile will be `path`. Throws std::runtime_error if its folder does not exist.
  explicit CoverageFile(std::filesystem::path path);

  /// The file to which processes append lcov_text().
  const std::filesystem::path& parts() const { return parts_.path(); }
  /// Appends coverage; several processes may do so at once. Throws std::runtime_error.
  void add(const metrics::Coverage& coverage) const;

  /// Writes the sum of all parts, with functions demangled, and returns the line for the terminal.
  std::string write() const;

 private:
  std::filesystem::path path_;
  files::TemporaryPath parts_;
};

}  // namespace warpgauge
