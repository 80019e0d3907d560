// Adds counts up by line, and doubts those that the order of threads or CUPTI's errors can change.
#include "metrics/cupti/sass_lines.h"

#include <set>

#include "metrics/counting/counts_by_line.h"
#include "metrics/cupti/cupti.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/order_dependence.h"
#include "metrics/machine_code/sass.h"

namespace warpgauge::metrics {
namespace {

using Doubts = std::map<std::string, Trust, std::less<>>;

/// The doubts about an instruction's counts. On an H100 CUPTI 13.0 lost wavefronts of copies of 4
/// bytes that many blocks make at once, different ones in each run, and in copies of 16 bytes it
/// counted lanes that a predicate had switched off.
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

void distrust(LineCounts& line, const Doubts& doubts) {
  for (const auto& [group, trust] : doubts) line.trust.try_emplace(group, trust);
}

}  // namespace

/// The PTX lines of a cubin; null where the line table cannot be read.
const PtxLines* SassLines::ptx_lines_of(std::uint32_t cubin_crc, const Cubin& cubin) {
  const auto [place, is_new] = ptx_lines_.try_emplace(cubin_crc);
  std::optional<PtxLines>& lines = place->second;
  try {
    if (is_new) lines.emplace(cubin);
  } catch (const LineTableError&) {
    // There are no lines.
  }
  return lines ? &*lines : nullptr;
}

SassLines::KernelDoubts SassLines::find_doubts(const Code& code) {
  KernelDoubts doubts;
  const auto image = cubin_of_(code.first);
  if (image.empty()) return doubts;
  try {
    const Cubin cubin(image);
    for (const MemoryInstruction& instruction : memory_instructions(cubin, code.second)) {
      if (Doubts own = doubts_of(instruction); !own.empty())
        doubts.of_counts[instruction.pc] = std::move(own);
    }
    const PtxLines* ptx_lines = ptx_lines_of(code.first, cubin);
    const OrderInfluence order = OrderOfThreads(cubin, code.second, ptx_lines).influence();
    for (const OrderDependence& found : order.dependences) {
      const bool may_execute = found.effect == OrderDependence::Effect::execution;
      const Trust trust = found.trust(line_of(code, found.source_pc));
      for (const std::string_view group : found.groups) {
        auto& at = may_execute ? doubts.of_execution[found.pc] : doubts.of_counts[found.pc];
        at.try_emplace(std::string(group), trust);
      }
    }
  } catch (const CubinError&) {  // an architecture that is newer than the decoder
  }
  return doubts;
}
const SassLines::KernelDoubts& SassLines::doubts_about(const Code& code) {
  const auto known = doubts_.find(code);
  return known != doubts_.end() ? known->second : doubts_[code] = find_doubts(code);
}

/// The line of an instruction; no file and line 0 where it is not known.
SourceLine SassLines::line_of(const Code& code, std::uint64_t pc) {
  const auto [place, is_new] = lines_.try_emplace(code.first);
  std::optional<SourceLines>& table = place->second;
  if (is_new) table = SourceLines::of(cubin_of_(code.first));
  if (!table) return {};
  return table->find(code.second, pc).value_or(SourceLine{});
}

std::vector<LineCounts> SassLines::add_up(const SassRecords& records) {
  CountsByLine lines;
  std::set<std::pair<Code, std::string>> executed;  // code, and the kernel that its lines belong to
  for (const auto& [instruction, values] : records) {
    const std::optional<Counts> counts = counts_of(values);
    if (!counts) {
      throw Unmeasured("an instruction of " + instruction.kernel + " (offset " +
                           std::to_string(instruction.pc) +
                           ") touched global sectors and is no load, store or atomic",
                       "");
    }
    if (*counts == Counts{}) continue;
    const Code code(instruction.cubin_crc, instruction.kernel);
    const std::string& owner = instruction.owner.empty() ? instruction.kernel : instruction.owner;
    executed.emplace(code, owner);
    LineCounts& at = lines.at(owner, line_of(code, instruction.pc));
    at.counts += *counts;
    const auto& doubts = doubts_about(code).of_counts;
    if (const auto own = doubts.find(instruction.pc); own != doubts.end())
      distrust(at, own->second);
    if (values[SassMetric::async_copies] > 0 && cubin_of_(instruction.cubin_crc).empty()) {
      at.trust["shared"] = at.trust["global"] = {
          Confidence::estimate,
          "not all asynchronous copies are counted exactly, and the code of these is not known"};
    }
  }
  for (const auto& [code, owner] : executed) {
    for (const auto& [pc, doubts] : doubts_about(code).of_execution) {
      distrust(lines.at(owner, line_of(code, pc)), doubts);
    }
  }
  return lines.take();
}

}  // namespace warpgauge::metrics
