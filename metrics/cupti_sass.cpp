// SassCounter: counts one launch and adds its instructions up by source line.
#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/cupti.h"
#include "metrics/cupti_context.h"
#include "metrics/cupti_modules.h"
#include "metrics/cupti_sass_session.h"
#include "metrics/line_table.h"

namespace warpgauge::metrics {
namespace {

SassRecords count_launch(const CuptiContext& context, const std::function<void()>& launch) {
  wait_for_device();  // what was launched before is not counted
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
  SourceLine line_of(const Instruction& instruction);

  LoadedModules modules;  // first: it must listen before the context is made
  CuptiContext context = open_context();
  std::map<std::uint32_t, std::optional<SourceLines>> lines;  // of each cubin, by its CRC
};

/// No file and line 0 where they are not known.
SourceLine SassCounter::Impl::line_of(const Instruction& instruction) {
  const auto [place, is_new] = lines.try_emplace(instruction.cubin_crc);
  std::optional<SourceLines>& table = place->second;
  if (is_new) table = SourceLines::of(modules.cubin(instruction.cubin_crc));
  if (!table) return {};
  return table->find(instruction.kernel, instruction.pc).value_or(SourceLine{});
}

SassCounter::SassCounter() : impl_(std::make_unique<Impl>()) {
  configured_metrics(impl_->context);  // whether the chip can do it is known at once
}

SassCounter::~SassCounter() = default;

std::vector<LineCounts> SassCounter::count(const std::function<void()>& launch) {
  std::map<std::tuple<std::string, std::string, int>, Counts> lines;
  for (const auto& [instruction, values] : count_launch(impl_->context, launch)) {
    const std::optional<Counts> counts = counts_of(values);
    if (!counts) {
      throw Unmeasured("an instruction of " + instruction.kernel + " (offset " +
                           std::to_string(instruction.pc) +
                           ") touched global sectors and is no load, store or atomic",
                       "");
    }
    if (*counts == Counts{}) continue;
    const SourceLine line = impl_->line_of(instruction);
    lines[{instruction.kernel, line.file, line.line}] += *counts;
  }
  std::vector<LineCounts> result;
  for (const auto& [key, counts] : lines) {
    result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), counts});
  }
  return result;
}

}  // namespace warpgauge::metrics
