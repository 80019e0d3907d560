// Kinds of instructions by their opcodes, as nvdisasm 13 names these.
#include "metrics/machine_code/instruction_mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "metrics/machine_code/sass_code.h"
#include "tests/metrics/written_code.h"

namespace warpgauge::metrics::instruction_mix_test {
namespace {

/// The metrics that count an instruction of this opcode, if it is alone in a kernel.
std::string kinds(unsigned opcode, const std::string& architecture, std::uint64_t high = 0) {
  constexpr const char* kKernel = "spin";
  std::vector<std::byte> image = recorded(architecture);
  const std::span<const std::byte> code = Cubin(image).code(kKernel);
  std::vector<std::uint64_t> words = {opcode | 0x7000, high};
  while (words.size() < code.size() / sizeof(words[0])) words.insert(words.end(), {0x7918, 0});
  std::memcpy(image.data() + (code.data() - image.data()), words.data(), code.size());
  std::string found;
  for (const auto& [metric, number] : instruction_mix(Cubin(image), kKernel)) {
    if (number > 0) found += std::string(metric) + ' ' + std::to_string(number);
  }
  return found;
}

TEST(InstructionMix, KnowsTensorCores) {
  for (const unsigned opcode : {0x237u, 0x23cu, 0x23du, 0x23fu}) {  // IMMA, HMMA, BMMA, DMMA
    EXPECT_EQ(kinds(opcode, "sm_90"), "mix.tensor 1") << opcode;
  }
  EXPECT_EQ(kinds(0x9f0, "sm_90"), "mix.tensor 1") << "HGMMA";
  EXPECT_EQ(kinds(0x236, "sm_75"), "mix.tensor 1") << "HMMA.1684";
  EXPECT_EQ(kinds(0x836, "sm_90"), "") << "VIADD";
  EXPECT_EQ(kinds(0x23b, "sm_90"), "") << "LDSM";
}

TEST(InstructionMix, KnowsDoublesAndApproximations) {
  for (const unsigned opcode : {0x228u, 0x229u, 0x22au, 0x22bu}) {  // DMUL, DADD, DSETP, DFMA
    EXPECT_EQ(kinds(opcode, "sm_75"), "mix.f64 1") << opcode;
  }
  EXPECT_EQ(kinds(0x227, "sm_75") + kinds(0x22c, "sm_75"), "") << "IMAD.HI, none";
  EXPECT_EQ(kinds(0x308, "sm_75"), "mix.mufu 1");
}

TEST(InstructionMix, KnowsTheUniformDatapath) {
  for (const unsigned opcode : {0x282u, 0x290u, 0x2b9u, 0x2bfu}) {  // UMOV, UIADD3, ULDC, UPOPC
    EXPECT_EQ(kinds(opcode, "sm_90"), "mix.uniform 1") << opcode;
  }
  EXPECT_EQ(kinds(0x3ac, "sm_90"), "") << "LDCU is of sm_100";
  EXPECT_EQ(kinds(0x5b4, "sm_90"), "") << "UTMALDG";
}

TEST(InstructionMix, KnowsWidthsOfLoads) {
  constexpr std::uint64_t kOf128 = 6 << 9, kOfU8 = 0;
  EXPECT_EQ(kinds(0x984, "sm_90", kOf128), "mix.lds_128 1");
  EXPECT_EQ(kinds(0x981, "sm_90", kOfU8), "mix.ldg_8 1");
  EXPECT_EQ(kinds(0x986, "sm_90", kOf128), "") << "a store";
}

TEST(InstructionMix, HasARowForEachKind) {
  const std::vector<std::byte> image = recorded("sm_90");
  const auto mix = instruction_mix(Cubin(image), "spin");
  const auto rows = std::ranges::count_if(catalog(), is_of_mix);
  EXPECT_EQ(mix.size(), static_cast<std::size_t>(rows));
}

}  // namespace
}  // namespace warpgauge::metrics::instruction_mix_test
