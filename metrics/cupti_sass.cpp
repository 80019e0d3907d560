// SassCounter: runs a launch once per group of metrics and puts the instructions together again.
#include <algorithm>
#include <set>
#include <tuple>

#include "metrics/cupti.h"
#include "metrics/cupti_context.h"
#include "metrics/cupti_host.h"
#include "metrics/cupti_modules.h"
#include "metrics/cupti_sass_session.h"

namespace warpgauge::metrics {
namespace {

using Group = std::vector<SassId>;
using Kernels = std::set<std::pair<std::uint32_t, std::string>>;  // CRC of the cubin, name

// The groups of the chip. Each ends with `instructions`: every kernel executes some, so a group
// without any has missed the launch, and that must not pass for zero.
std::vector<Group> make_groups(const std::string& chip, std::size_t metrics_per_group) {
  const std::vector<std::string> known = sass_names(chip);
  std::vector<Group> groups;
  std::string lacking;
  for (std::vector<SassMetric>& metrics : sass_groups(metrics_per_group)) {
    metrics.push_back(SassMetric::instructions);
    Group& group = groups.emplace_back();
    for (const SassMetric metric : metrics) {
      if (std::ranges::find(known, name(metric)) != known.end()) {
        group.push_back(sass_id(chip, metric));
      } else if (!is_optional(name(metric))) {
        lacking.append(lacking.empty() ? "" : ", ").append(name(metric));
      }
    }
  }
  if (lacking.empty()) return groups;
  throw Unmeasured("chip " + chip + " has not all of the SASS metrics: it lacks " + lacking,
                   "Run on compute capability 7.5 or higher, or use the emulator");
}

Kernels kernels_of(const SassRecords& records) {
  Kernels kernels;
  for (const auto& [instruction, values] : records) {
    if (values[SassMetric::instructions] > 0) {
      kernels.emplace(instruction.cubin_crc, instruction.kernel);
    }
  }
  return kernels;
}

SassRecords count_group(const CuptiContext& context, const Group& group,
                        const std::function<void()>& prepare, const std::function<void()>& launch) {
  prepare();
  wait_for_device();
  SassSession session(context, group);
  launch();
  wait_for_device();
  SassRecords records = session.take();
  session.stop();
  return records;
}

// Adds what a further group counted. Its `instructions` have done their duty as witness.
void merge(SassRecords& all, SassRecords& group) {
  if (kernels_of(all) != kernels_of(group)) {
    throw Unmeasured("two launches for two groups of SASS metrics did not run the same kernels",
                     "Make the launch repeatable: it is run once for each group");
  }
  for (auto& [instruction, values] : group) {
    values[SassMetric::instructions] = 0;
    SassValues& sum = all[instruction];
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += values.values[i];
  }
}

}  // namespace

struct SassCounter::Impl {
  explicit Impl(std::size_t metrics_per_group)
      : context(open_context()), groups(make_groups(context.chip, metrics_per_group)) {}

  const SourceLine& line_of(const Instruction& instruction);

  LoadedModules modules;  // first: it must listen before the context is made
  CuptiContext context;
  std::vector<Group> groups;
  std::map<Instruction, SourceLine> lines;  // looked up once
};

const SourceLine& SassCounter::Impl::line_of(const Instruction& instruction) {
  const auto found = lines.find(instruction);
  if (found != lines.end()) return found->second;
  SourceLine line;
  if (const auto cubin = modules.cubin(instruction.cubin_crc); !cubin.empty()) {
    line = source_line(cubin, instruction.kernel, instruction.pc).value_or(SourceLine{});
  }
  return lines.emplace(instruction, std::move(line)).first->second;
}

SassCounter::SassCounter(std::size_t metrics_per_group)
    : impl_(std::make_unique<Impl>(metrics_per_group)) {}

SassCounter::~SassCounter() = default;

std::size_t SassCounter::groups() const { return impl_->groups.size(); }

std::vector<LineCounts> SassCounter::count(const std::function<void()>& prepare,
                                           const std::function<void()>& launch) {
  SassRecords records;
  for (const Group& group : impl_->groups) {
    SassRecords counted = count_group(impl_->context, group, prepare, launch);
    if (kernels_of(counted).empty()) {
      throw Unmeasured("CUPTI recorded no kernel of this launch",
                       "See that it launches one, in this process and on the current device");
    }
    if (records.empty()) {
      records = std::move(counted);
    } else {
      merge(records, counted);
    }
  }

  std::map<std::tuple<std::string, std::string, int>, Counts> lines;
  for (const auto& [instruction, values] : records) {
    const std::optional<Counts> counts = counts_of(values);
    if (!counts) {
      throw Unmeasured("an instruction of " + instruction.kernel + " (offset " +
                           std::to_string(instruction.pc) +
                           ") touched global sectors and is no load, store or atomic",
                       "");
    }
    if (*counts == Counts{}) continue;
    const SourceLine& line = impl_->line_of(instruction);
    lines[{instruction.kernel, line.file, line.line}] += *counts;
  }
  std::vector<LineCounts> result;
  for (const auto& [key, counts] : lines) {
    result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), counts});
  }
  return result;
}

}  // namespace warpgauge::metrics
