// The table of architectures: order, names, and what is refused.
#include "metrics/architecture/architectures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace warpgauge::metrics::architectures_test {
namespace {

TEST(Architectures, AreCompleteAndOrdered) {
  std::set<std::string> names;
  for (const Architecture& row : architectures()) {
    names.insert(row.name());
    EXPECT_FALSE(row.generation.empty() || row.features.empty()) << row.name();
    EXPECT_GT(row.multiprocessors, 0) << row.name();
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("sm_75", "sm_80", "sm_86", "sm_87", "sm_88",
                                                   "sm_89", "sm_90", "sm_100", "sm_103", "sm_110",
                                                   "sm_120", "sm_121"));
  const auto number = [](const Architecture& row) { return row.major * 10 + row.minor; };
  EXPECT_TRUE(std::ranges::is_sorted(architectures(), {}, number));
}

TEST(Architectures, ChipsAreThoseOfTheirDataSheets) {
  struct Chip {
    const char* arch;
    int multiprocessors, l2_mib, bus_bits;
  };
  for (const Chip& chip : {Chip{"sm_75", 40, 4, 256},       // T4
                           Chip{"sm_80", 108, 40, 5120},    // A100
                           Chip{"sm_86", 82, 6, 384},       // RTX 3090
                           Chip{"sm_87", 16, 4, 256},       // Orin
                           Chip{"sm_88", 16, 4, 256},       // Orin
                           Chip{"sm_89", 128, 72, 384},     // RTX 4090
                           Chip{"sm_90", 132, 50, 5120},    // H100
                           Chip{"sm_100", 148, 126, 8192},  // B200
                           Chip{"sm_103", 148, 126, 8192},  // B300
                           Chip{"sm_110", 20, 32, 256},     // Thor
                           Chip{"sm_120", 170, 96, 512},    // RTX 5090
                           Chip{"sm_121", 48, 24, 256}}) {  // GB10
    const Architecture& row = architecture(chip.arch);
    EXPECT_EQ(row.multiprocessors, chip.multiprocessors) << chip.arch;
    EXPECT_EQ(row.l2_mib, chip.l2_mib) << chip.arch;
    EXPECT_EQ(row.bus_bits, chip.bus_bits) << chip.arch;
  }
}

// NVIDIA publishes these figures, at boost clocks.
TEST(Architectures, HaveThePublishedPeakOfFloat) {
  const auto teraflops = [](const char* arch, int multiprocessors, double gigahertz) {
    return architecture(arch).peak_flops_per_second(multiprocessors, gigahertz * 1e9) / 1e12;
  };
  EXPECT_NEAR(teraflops("sm_75", 40, 1.59), 8.1, 0.05);      // T4
  EXPECT_NEAR(teraflops("sm_80", 108, 1.41), 19.5, 0.05);    // A100
  EXPECT_NEAR(teraflops("sm_86", 82, 1.695), 35.6, 0.05);    // RTX 3090
  EXPECT_NEAR(teraflops("sm_89", 128, 2.52), 82.6, 0.05);    // RTX 4090
  EXPECT_NEAR(teraflops("sm_90", 132, 1.98), 66.9, 0.05);    // H100 SXM
  EXPECT_NEAR(teraflops("sm_120", 170, 2.407), 104.8, 0.1);  // RTX 5090
}

// CUDA C++ Programming Guide, technical specifications per compute capability.
TEST(Architectures, HaveTheBlocksAndThreadsOfTheGuide) {
  struct Limits {
    const char* arch;
    int blocks, threads;
  };
  for (const Limits& limits :
       {Limits{"sm_75", 16, 1024}, Limits{"sm_80", 32, 2048}, Limits{"sm_86", 16, 1536},
        Limits{"sm_87", 16, 1536}, Limits{"sm_89", 24, 1536}, Limits{"sm_90", 32, 2048},
        Limits{"sm_100", 32, 2048}, Limits{"sm_120", 24, 1536}}) {
    const Architecture& row = architecture(limits.arch);
    EXPECT_EQ(row.max_blocks_per_multiprocessor, limits.blocks) << limits.arch;
    EXPECT_EQ(row.max_threads_per_multiprocessor, limits.threads) << limits.arch;
  }
}

TEST(Architectures, AreFoundByTheirFullNames) {
  for (const Architecture& row : architectures()) EXPECT_EQ(&architecture(row.name()), &row);
  EXPECT_EQ(find_architecture("sm_90a"), find_architecture("sm_90"));
  EXPECT_EQ(find_architecture("sm_100f"), find_architecture("sm_100"));
  EXPECT_EQ(find_architecture("sm_121a"), find_architecture("sm_121"));
}

TEST(Architectures, UnknownOnesAreRefused) {
  for (const char* unknown :
       {"", "sm_", "sm_70", "sm_91", "sm_9", "sm_90x", "sm_90aa", "90", "sm_-90", "compute_90",
        "sm_99999999999999999999", "sm_75a", "sm_89a", "sm_89f", "sm_90f", "sm_91a"}) {
    EXPECT_EQ(find_architecture(unknown), nullptr) << unknown;
    EXPECT_THROW(architecture(unknown), std::invalid_argument) << unknown;
  }
  try {
    architecture("90");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(),
                testing::StartsWith("unknown architecture '90', did you mean 'sm_90'?; choose one "
                                    "of sm_75, sm_80, "));
  }
}

}  // namespace
}  // namespace warpgauge::metrics::architectures_test
