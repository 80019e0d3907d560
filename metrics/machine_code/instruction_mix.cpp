// Sorts instructions into kinds by their opcodes, as nvdisasm 13 names them.
#include "metrics/machine_code/instruction_mix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {
namespace {

/// True for HMMA (on sm_75 its form with k = 8 has an opcode of its own), IMMA, BMMA, DMMA, QMMA,
/// OMMA, HGMMA, IGMMA, BGMMA, QGMMA, and UTCHMMA and its variants.
bool is_tensor(unsigned opcode, int sm) {
  constexpr unsigned kFirstHmma = 0x036;  // VIADD from sm_90 on
  constexpr auto kTensor = std::to_array<unsigned>(
      {0x037, 0x03c, 0x03d, 0x03f, 0x07a, 0x07f, 0x1ea, 0x1f0, 0x1f1, 0x1f2, 0x1f3});
  return (opcode == kFirstHmma && sm == 75) || std::ranges::find(kTensor, opcode) != kTensor.end();
}

/// True for UMOV and the rest of its range, for ULDC, which is LDCU from sm_100 on, and for
/// instructions on uniform floats, which sm_120 has.
bool is_uniform(unsigned opcode, int sm) {
  constexpr unsigned kFirst = 0x080, kLast = 0x0bf, kLdcu = 0x1ac;
  constexpr unsigned kFirstOf120 = 0x049, kLastOf120 = 0x05e, kVirtualCount = 0x04c;
  if (opcode >= kFirst && opcode <= kLast) return true;
  if (opcode == kLdcu) return sm >= 100;
  return sm >= 120 && opcode >= kFirstOf120 && opcode <= kLastOf120 && opcode != kVirtualCount;
}

/// True for DMUL, DADD, DSETP, DFMA.
bool is_f64(unsigned opcode) { return opcode >= 0x028 && opcode <= 0x02b; }

bool is_mufu(unsigned opcode) { return opcode == 0x108; }

/// Metrics by bytes a lane: 1, 2, 4 ... 32.
constexpr std::array<std::string_view, 6> kSharedLoads = {"mix.lds_8", "mix.lds_16", "mix.lds_32",
                                                          "mix.lds_64", "mix.lds_128"};
constexpr std::array<std::string_view, 6> kGlobalLoads = {
    "mix.ldg_8", "mix.ldg_16", "mix.ldg_32", "mix.ldg_64", "mix.ldg_128", "mix.ldg_256"};

/// The metric that counts an instruction; empty if none does.
std::string_view metric_of(const SassWord& word, int sm) {
  const unsigned opcode = word.opcode();
  if (is_tensor(opcode, sm)) return "mix.tensor";
  if (is_uniform(opcode, sm)) return "mix.uniform";
  if (is_f64(opcode)) return "mix.f64";
  if (is_mufu(opcode)) return "mix.mufu";
  const std::optional<MemoryInstruction> access = memory_instruction(word, sm);
  if (!access || access->width == 0) return "";
  const auto width = static_cast<std::size_t>(std::countr_zero(unsigned(access->width)));
  if (access->op == MemoryOp::lds) return kSharedLoads[width];
  if (access->op == MemoryOp::ldg) return kGlobalLoads[width];
  return "";
}

}  // namespace

bool is_of_mix(const Metric& metric) { return metric.id.starts_with("mix."); }

std::map<std::string_view, std::uint64_t> instruction_mix(const Cubin& cubin,
                                                          std::string_view kernel) {
  const int sm = known_sm(cubin);
  std::map<std::string_view, std::uint64_t> mix;
  for (const Metric& row : catalog()) {
    if (is_of_mix(row)) mix[row.id] = 0;
  }
  for (const SassWord& word : machine_code(cubin, kernel)) {
    const std::string_view metric = metric_of(word, sm);
    if (!metric.empty()) ++mix[metric];
  }
  return mix;
}

}  // namespace warpgauge::metrics
