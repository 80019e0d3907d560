// Writes the choice of launches into the environment, and reads it there.
#include "harness/programs/launch_filter.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "metrics/base/demangled.h"
#include "metrics/base/glob.h"

namespace warpgauge::programs {
namespace {

constexpr const char* kSample = "WARPGAUGE_PROGRAM_SAMPLE";
constexpr const char* kLimit = "WARPGAUGE_PROGRAM_LIMIT";
constexpr const char* kSkip = "WARPGAUGE_PROGRAM_SKIP";  // a glob a line

std::uint64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

bool LaunchFilter::is_enough(std::uint64_t of_kernel, std::uint64_t of_all) const {
  return (sample > 0 && of_kernel >= sample) || (limit > 0 && of_all >= limit);
}

bool LaunchFilter::skips(const std::string& kernel) const {
  if (skip.empty()) return false;
  const std::vector<std::string> names = metrics::names_of(metrics::demangled(kernel));
  return std::ranges::any_of(skip,
                             [&](const std::string& glob) { return metrics::fits(glob, names); });
}

std::map<std::string, std::string> LaunchFilter::variables() const {
  std::string globs;
  for (const std::string& glob : skip) globs += (globs.empty() ? "" : "\n") + glob;
  return {{kSample, std::to_string(sample)}, {kLimit, std::to_string(limit)}, {kSkip, globs}};
}

LaunchFilter LaunchFilter::from_environment() {
  LaunchFilter choice{.sample = number_in(kSample), .limit = number_in(kLimit), .skip = {}};
  if (const char* skip = std::getenv(kSkip)) {
    std::istringstream lines(skip);
    for (std::string glob; std::getline(lines, glob);) choice.skip.push_back(glob);
  }
  return choice;
}

}  // namespace warpgauge::programs
