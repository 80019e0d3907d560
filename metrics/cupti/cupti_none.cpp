// Replaces CUPTI in a build without it: all functions report that it is missing.
#include "metrics/counting/line_counts.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_error.h"

namespace warpgauge::metrics {
namespace {

[[noreturn]] void no_cupti() {
  throw Unmeasured("this build has no CUPTI",
                   "Install the CUDA toolkit's CUPTI (>= 12.8) and configure again");
}

}  // namespace

struct SassCounter::Impl {};
struct RangeProfiler::Impl {};

bool built_with_cupti() { return false; }
bool cupti_answers() { return false; }

std::vector<std::string> cupti_chips() { no_cupti(); }
bool ChipSupport::measures(const Metric&) const { return false; }
ChipSupport chip_support(const std::string&, const std::vector<const Metric*>&) { no_cupti(); }
std::vector<ChipCounter> chip_counters(const std::string&, std::string_view) { no_cupti(); }
std::string unknown_counter(std::string_view) { return ""; }
std::string current_chip() { no_cupti(); }

SassCounter::SassCounter() { no_cupti(); }
SassCounter::~SassCounter() = default;
std::vector<LineCounts> SassCounter::count(const std::function<void()>&,
                                           const std::function<void()>&) {
  no_cupti();
}

RangeProfiler::RangeProfiler(const std::vector<const Metric*>&) { no_cupti(); }
RangeProfiler::~RangeProfiler() = default;
std::vector<std::vector<std::pair<std::string_view, double>>> RangeProfiler::measure(
    std::span<const RangeItem>, int) {
  no_cupti();
}

std::string cupti_error_text(int code) { return "CUPTI error " + std::to_string(code); }
std::string_view cupti_remedy(int) { return ""; }
int take_turns(const std::function<int()>& call) { return call(); }
void check_cupti(int code, std::string_view) {
  if (code != 0) no_cupti();
}

}  // namespace warpgauge::metrics
