// The compile-time values of kernels in recorded cubins (tests/data/cubin), as ptxas -v said them.
#include "metrics/machine_code/kernel_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "metrics/machine_code/sass.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::kernel_values_test {
namespace {

using testing::UnorderedElementsAre;

std::vector<std::byte> recorded(const std::string& name) { return recorded_file("cubin/" + name); }

TEST(KernelValues, AFunctionThatCallsItselfCountsOneFrame) {
  for (const char* file : {"recursion.sm_75.cubin", "recursion.sm_90.cubin"}) {
    const auto image = recorded(file);
    const KernelReader reader(image);
    EXPECT_THAT(reader.kernels(), UnorderedElementsAre("recursive", "aligned", "calling")) << file;
    const auto stack = [&](const char* kernel) {
      return reader.read(kernel).values.at("stack.bytes");
    };
    EXPECT_EQ(stack("recursive"), 32 + 56) << file;
    EXPECT_EQ(stack("aligned"), 112 + 184) << file << ": up to 56 to align 128 bytes to 64";
    EXPECT_EQ(stack("calling"), 64) << file << ": as ptxas noted it";
  }
}

TEST(KernelValues, SpillsAreThoseOfPtxasWithTheirLine) {
  const auto image = recorded("spills.sm_90.cubin");
  const KernelReader reader(image);
  const std::string kernel = "_Z6spillsPfPKf";
  const KernelValues spills = reader.read(kernel);
  EXPECT_EQ(spills.values.at("registers"), 24);
  EXPECT_EQ(spills.values.at("stack.bytes"), 64);
  EXPECT_EQ(spills.values.at("spill.store_bytes"), 64);
  EXPECT_EQ(spills.values.at("spill.load_bytes"), 64);
  EXPECT_FALSE(spills.doubts.contains("spill.load_bytes"));
  EXPECT_FALSE(spills.values.contains("mix.tensor")) << "asked for by itself";
  ASSERT_TRUE(reader.first_local_access(kernel));
  EXPECT_TRUE(reader.first_local_access(kernel)->file.ends_with("spills.cu"));
  EXPECT_FALSE(reader.first_local_access("_Z4leanPf"));
}

// Where spills are not marked, as up to CUDA 12, an access that is indexed is of an array.
TEST(KernelValues, TheCureOfAnArrayNamesItsStack) {
  auto image = recorded("spills.sm_90.cubin");
  const std::string kernel = "_Z6spillsPfPKf";
  constexpr std::size_t kFlags = 48, kAbi = 8;  // of Elf64_Ehdr
  image[kFlags] = std::byte{90};
  image[kAbi] = std::byte{7};
  EXPECT_FALSE(KernelReader(image).read(kernel).cures.contains("spill.load_bytes"));

  constexpr std::byte kRegister{8};
  for (const MemoryInstruction& access : memory_instructions(Cubin(image), kernel)) {
    if (access.op != MemoryOp::ldl) continue;
    const std::span<const std::byte> code = Cubin(image).code(kernel).subspan(access.pc);
    image[static_cast<std::size_t>(code.data() - image.data()) + 3] = kRegister;  // its address
    break;
  }
  const KernelValues indexed = KernelReader(image).read(kernel);
  EXPECT_EQ(indexed.values.at("spill.load_bytes"), 64 - 8);
  EXPECT_THAT(indexed.cures.at("spill.load_bytes"), testing::EndsWith("into 64 bytes of stack."));
}

TEST(KernelValues, WhatTheDeviceLinkerAddsIsUnknown) {
  const auto image = recorded("elsewhere.sm_90.cubin");
  const KernelReader reader(image);
  const auto reason = [&](const std::string& kernel) {
    const KernelValues values = reader.read(kernel);
    const auto unknown = values.unknown.find("spill.load_bytes");
    EXPECT_NE(values.values.contains("spill.load_bytes"), unknown != values.unknown.end());
    return unknown == values.unknown.end() ? std::string() : *unknown->second;
  };
  EXPECT_EQ(reason("_Z15calls_elsewherePf"),
            "it calls of_another_object(float*, int), which the device linker adds: link all "
            "objects (nvcc -dlink, or the program), and inspect the result");
  EXPECT_THAT(reason("_Z16calls_by_pointerPfPFffE"),
              testing::StartsWith("it calls functions by a"));
  EXPECT_EQ(reason("_Z6printsPf"), "") << "vprintf is the driver's";
  EXPECT_EQ(reason("_Z4leanPf"), "");
}

TEST(KernelValues, OccupancyIsThatOfTheBlockThatIsLaunched) {
  const auto image = recorded("spills.sm_90.cubin");
  const KernelValues values = KernelReader(image).read("_Z6spillsPfPKf");
  const auto whole = occupancy_of(values, "sm_90", {.threads = 256});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->fraction, 1);
  const auto shared =
      occupancy_of(values, "sm_90", {.threads = 256, .shared_dynamic_bytes = 100 * 1024});
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->limiter, "shared");
  EXPECT_FALSE(occupancy_of(values, "sm_1", {.threads = 256})) << "its limits are not known";
  EXPECT_FALSE(occupancy_of({}, "sm_90", {.threads = 256})) << "its registers are not known";
}

TEST(KernelValues, OfSeveralCodesTheWorseCounts) {
  KernelValues kernel{.values = {{"registers", 10}, {"occupancy.theoretical", 1}, {"barriers", 1}}};
  KernelValues other{.values = {{"registers", 12}, {"occupancy.theoretical", 0.5}}};
  make_unknown(other, std::vector<std::string_view>{"barriers"}, "it is not said");
  add_other_code(kernel, other);
  EXPECT_EQ(kernel.values.at("registers"), 12);
  EXPECT_EQ(kernel.values.at("occupancy.theoretical"), 0.5);
  EXPECT_FALSE(kernel.values.contains("barriers"));
  EXPECT_EQ(*kernel.unknown.at("barriers"), "it is not said");
}

}  // namespace
}  // namespace warpgauge::metrics::kernel_values_test
