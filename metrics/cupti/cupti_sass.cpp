// SassCounter: counts one launch and adds its instructions up by source line.
#include <algorithm>

#include "metrics/counting/line_counts.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_context.h"
#include "metrics/cupti/cupti_modules.h"
#include "metrics/cupti/cupti_sass_session.h"
#include "metrics/cupti/sass_lines.h"

namespace warpgauge::metrics {
namespace {

SassRecords count_launch(const CuptiContext& context, const std::function<void()>& launch) {
  wait_for_device();  // earlier launches are not counted
  SassSession session(context);
  launch();
  wait_for_device();
  SassRecords records = session.take();
  session.stop();
  // Every kernel executes instructions: a launch without any was missed, which must not pass for
  // a launch without conflicts.
  const auto executed = [](const auto& record) {
    return record.second[SassMetric::instructions] > 0;
  };
  if (std::ranges::none_of(records, executed)) {
    throw Unmeasured("CUPTI recorded no kernel of this launch",
                     "See that it launches one, in this process and on the current device");
  }
  return records;
}

}  // namespace

struct SassCounter::Impl {
  LoadedModules modules;  // first: it must listen before the context is made
  CuptiContext context = open_context();
  SassLines lines{[this](std::uint32_t crc) { return modules.cubin(crc); }};
};

SassCounter::SassCounter() : impl_(std::make_unique<Impl>()) {
  configured_metrics(impl_->context);  // throws at once if the chip cannot count
}

SassCounter::~SassCounter() = default;

std::vector<LineCounts> SassCounter::count(const std::function<void()>& launch,
                                           const std::function<void()>& is_over) {
  const SassRecords records = count_launch(impl_->context, launch);
  if (is_over) is_over();
  return impl_->lines.add_up(records);
}

}  // namespace warpgauge::metrics
