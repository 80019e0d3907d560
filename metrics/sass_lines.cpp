#include "metrics/sass_lines.h"

#include "metrics/counts_by_line.h"
#include "metrics/cubin.h"
#include "metrics/cupti.h"
#include "metrics/sass.h"

namespace warpgauge::metrics {
namespace {

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

const SassLines::Doubts& SassLines::doubts_about(const Instruction& instruction) {
  static const Doubts kNone;
  const auto [place, is_new] = doubts_.try_emplace({instruction.cubin_crc, instruction.kernel});
  if (is_new) place->second = doubts_of(cubin_of_(instruction.cubin_crc), instruction.kernel);
  const auto known = place->second.find(instruction.pc);
  return known == place->second.end() ? kNone : known->second;
}

/// No file and line 0 where they are not known.
SourceLine SassLines::line_of(const Instruction& instruction) {
  const auto [place, is_new] = lines_.try_emplace(instruction.cubin_crc);
  std::optional<SourceLines>& table = place->second;
  if (is_new) table = SourceLines::of(cubin_of_(instruction.cubin_crc));
  if (!table) return {};
  return table->find(instruction.kernel, instruction.pc).value_or(SourceLine{});
}

std::vector<LineCounts> SassLines::add_up(const SassRecords& records) {
  CountsByLine lines;
  for (const auto& [instruction, values] : records) {
    const std::optional<Counts> counts = counts_of(values);
    if (!counts) {
      throw Unmeasured("an instruction of " + instruction.kernel + " (offset " +
                           std::to_string(instruction.pc) +
                           ") touched global sectors and is no load, store or atomic",
                       "");
    }
    if (*counts == Counts{}) continue;
    LineCounts& at = lines.at(instruction.kernel, line_of(instruction));
    at.counts += *counts;
    for (const auto& [group, trust] : doubts_about(instruction)) at.trust[group] = trust;
    if (values[SassMetric::async_copies] > 0 && cubin_of_(instruction.cubin_crc).empty()) {
      at.trust["shared"] = at.trust["global"] = {
          Confidence::estimate,
          "not all asynchronous copies are counted exactly, and the code of these is not known"};
    }
  }
  return lines.take();
}

}  // namespace warpgauge::metrics
