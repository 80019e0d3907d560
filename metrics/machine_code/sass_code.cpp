// Reads machine code, and the attributes of .nv.info about its branches and spills.
#include "metrics/machine_code/sass_code.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "metrics/machine_code/nv_info.h"

namespace warpgauge::metrics {
namespace {

constexpr int kOldestSm = 75, kNewestSm = 121;
constexpr int kNewestAbi = 8;

}  // namespace

bool is_before_known(const Cubin& cubin) { return cubin.sm() < kOldestSm; }
std::string first_known_arch() { return fmt::format("sm_{}", kOldestSm); }

int known_sm(const Cubin& cubin) {
  if (cubin.abi() > kNewestAbi) {
    throw CubinError(fmt::format(
        "the machine code has format {}, and is known here up to format {}. Compile with "
        "a CUDA toolkit that warpgauge is tested with",
        cubin.abi(), kNewestAbi));
  }
  const int sm = cubin.sm();
  if (sm < kOldestSm || sm > kNewestSm) {
    throw CubinError(
        fmt::format("the machine code of sm_{} is not known here, only that of sm_{} "
                    "to sm_{}. Compile for one of these",
                    sm, kOldestSm, kNewestSm));
  }
  return sm;
}

BranchTargets branch_targets(const Cubin& cubin, std::string_view kernel) {
  constexpr std::uint8_t kAttribute = 0x34;
  BranchTargets found;
  const std::string section = ".nv.info." + std::string(kernel);
  nv_info::for_each_record(cubin.section(section), [&](const nv_info::Record& record) {
    if (record.attribute != kAttribute) return;
    // A branch has its offset, a zero, the number of its targets, and the targets.
    std::uint64_t at = 0;
    const auto next = [&] {
      const auto value = nv_info::at<std::uint32_t>(record.value, at);
      at += sizeof(std::uint32_t);
      return value;
    };
    while (const auto branch = next()) {
      next();
      const auto count = next();
      std::vector<std::uint64_t>& targets = found[*branch];
      for (std::uint32_t i = 0; count && i < *count; ++i) {
        const auto target = next();
        if (!target) return;
        targets.push_back(*target);
      }
    }
  });
  return found;
}

std::set<std::uint64_t> spills_and_refills(const Cubin& cubin, std::string_view kernel) {
  constexpr std::uint8_t kAnnotations = 0x55;
  constexpr std::uint32_t kSpillOrRefill = 1;
  std::set<std::uint64_t> found;
  const std::string section = ".nv.info." + std::string(kernel);
  nv_info::for_each_record(cubin.section(section), [&](const nv_info::Record& record) {
    if (record.attribute != kAnnotations) return;
    // An annotation has its kind and its offset. Other kinds may have another size, so they end the
    // loop.
    for (std::uint64_t at = 0; nv_info::at<std::uint32_t>(record.value, at) == kSpillOrRefill;
         at += 2 * sizeof(std::uint32_t)) {
      if (const auto offset = nv_info::at<std::uint32_t>(record.value, at + sizeof(std::uint32_t)))
        found.insert(*offset);
    }
  });
  return found;
}

std::vector<SassWord> machine_code(const Cubin& cubin, std::string_view kernel) {
  std::vector<SassWord> words;
  const auto code = cubin.code(kernel);
  for (std::size_t pc = 0; pc + SassWord::kBytes <= code.size(); pc += SassWord::kBytes) {
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), code.data() + pc, sizeof halves);
    words.push_back({pc, halves[0], halves[1]});
  }
  return words;
}

}  // namespace warpgauge::metrics
