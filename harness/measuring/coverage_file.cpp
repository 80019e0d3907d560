// Appends coverage to a temporary file, and adds its parts up in the end.
#include "harness/measuring/coverage_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "harness/files/write_file.h"
#include "metrics/base/append_file.h"
#include "metrics/base/demangled.h"

namespace warpgauge {
namespace {

metrics::Coverage with_readable_names(metrics::Coverage coverage) {
  for (auto& [name, file] : coverage) {
    std::map<std::string, metrics::FunctionHits> functions;
    for (const auto& [function, hits] : file.functions) {
      functions[metrics::without_void(metrics::demangled(function))].add(hits);
    }
    file.functions = std::move(functions);
  }
  return coverage;
}

}  // namespace

CoverageFile::CoverageFile(std::filesystem::path path)
    : path_(std::move(path)), parts_(files::TemporaryPath::file()) {
  const std::filesystem::path folder = path_.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw std::runtime_error(fmt::format("--coverage {}: there is no folder {}; make it first",
                                         path_.string(), folder.string()));
  }
}

void CoverageFile::add(const metrics::Coverage& coverage) const {
  if (metrics::append_at_once(parts(), metrics::lcov_text(coverage))) return;
  throw std::runtime_error(
      fmt::format("{}: coverage cannot be written: {}", parts().string(), std::strerror(errno)));
}

std::string CoverageFile::write() const {
  std::ifstream stream(parts());
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const metrics::Coverage coverage = with_readable_names(metrics::read_lcov(text));
  files::write_file(path_, metrics::lcov_text(coverage));
  return fmt::format("{}: {}\n", metrics::headline(metrics::totals(coverage)), path_.string());
}

}  // namespace warpgauge
