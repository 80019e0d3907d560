// SassCounter: counts one launch and adds its instructions up by source line.
#include <algorithm>
#include <map>
#include <tuple>

#include "metrics/cupti.h"
#include "metrics/cupti_context.h"
#include "metrics/cupti_modules.h"
#include "metrics/cupti_sass_session.h"
#include "metrics/line_table.h"
#include "metrics/sass.h"

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

/// Why CUPTI's counts of an instruction are not to be trusted, by group of metrics.
using Doubts = std::map<std::string, Trust, std::less<>>;

/// Found on an H100 with CUPTI 13.0: of copies of 4 bytes that many blocks make at once, wavefronts
/// were lost, other ones in each run; of copies of 16 bytes, lanes that a predicate had switched
/// off were counted.
Doubts doubts_of(const MemoryInstruction& instruction) {
  if (instruction.op != MemoryOp::ldgsts) return {};
  if (instruction.width == 4) {
    const Trust lost = {Confidence::estimate,
                        "CUPTI loses wavefronts of asynchronous copies of 4 bytes"};
    return {{"shared", lost}};
  }
  if (instruction.width == 16 && instruction.guarded) {
    const Trust added = {
        Confidence::estimate,
        "CUPTI counts lanes that a predicate switches off in asynchronous copies of 16 bytes"};
    return {{"shared", added}, {"global", added}};
  }
  return {};
}

/// Of the instructions of a kernel that there are doubts about, by offset. None where the machine
/// code cannot be read.
std::map<std::uint64_t, Doubts> doubts_of(std::span<const std::byte> image,
                                          const std::string& kernel) {
  std::map<std::uint64_t, Doubts> doubts;
  if (image.empty()) return doubts;
  try {
    for (const MemoryInstruction& instruction : memory_instructions(Cubin(image), kernel)) {
      if (Doubts own = doubts_of(instruction); !own.empty())
        doubts[instruction.pc] = std::move(own);
    }
  } catch (const CubinError&) {  // an architecture that is newer than the decoder
  }
  return doubts;
}

}  // namespace

struct SassCounter::Impl {
  SourceLine line_of(const Instruction& instruction);
  const Doubts& doubts_about(const Instruction& instruction);

  LoadedModules modules;  // first: it must listen before the context is made
  CuptiContext context = open_context();
  std::map<std::uint32_t, std::optional<SourceLines>> lines;  // of each cubin, by its CRC
  std::map<std::pair<std::uint32_t, std::string>, std::map<std::uint64_t, Doubts>> doubts;
};

const Doubts& SassCounter::Impl::doubts_about(const Instruction& instruction) {
  static const Doubts kNone;
  const auto [place, is_new] = doubts.try_emplace({instruction.cubin_crc, instruction.kernel});
  if (is_new) place->second = doubts_of(modules.cubin(instruction.cubin_crc), instruction.kernel);
  const auto known = place->second.find(instruction.pc);
  return known == place->second.end() ? kNone : known->second;
}

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
  std::map<std::tuple<std::string, std::string, int>, LineCounts> lines;
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
    LineCounts& at = lines[{instruction.kernel, line.file, line.line}];
    at.kernel = instruction.kernel;
    at.file = line.file;
    at.line = line.line;
    at.counts += *counts;
    for (const auto& [group, trust] : impl_->doubts_about(instruction)) at.trust[group] = trust;
  }
  std::vector<LineCounts> result;
  for (auto& [key, counts] : lines) result.push_back(std::move(counts));
  return result;
}

}  // namespace warpgauge::metrics
