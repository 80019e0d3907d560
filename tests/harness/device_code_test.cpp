// The code inside this program: its own, and fat binaries that are registered while it runs.
#include "harness/cases/device_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>

#include "harness/cases/built_architectures.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/fat_binary.h"
#include "tests/metrics/fat_binary_wrapper.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::device_code_test {
namespace {

using ::testing::HasSubstr;
constexpr const char* kFaultyCopy = "_ZN6faulty4copyEPfPKf";

/// A recorded fat binary as it is registered. It lives as long as the program: nothing unregisters
/// it.
const metrics::FatBinaryWrapper* recorded(const std::string& name) {
  static std::deque<std::string> containers;
  static std::deque<metrics::FatBinaryWrapper> wrappers;
  containers.push_back(metrics::recorded_text("fat_binary/" + name + ".fatbin"));
  return &wrappers.emplace_back(metrics::FatBinaryWrapper{.container = containers.back().data()});
}

TEST(DeviceCode, PtxOfThisProgramIsFound) {
  for (const std::string& arch : built_archs()) {
    const EmbeddedPtx* ptx = find_ptx(kFaultyCopy, arch);
    ASSERT_NE(ptx, nullptr) << arch;
    EXPECT_EQ(ptx->arch, arch);
    EXPECT_THAT(ptx->text, HasSubstr(".target " + arch));
  }
  EXPECT_EQ(find_ptx(kFaultyCopy, "sm_1"), nullptr);
  EXPECT_EQ(find_ptx("_ZN6faulty4copyEPfPK", "sm_90"), nullptr) << "only the first part of a name";
}

TEST(DeviceCode, CompressedCodeIsFoundToo) {
  constexpr const char* kCopy = "_Z4copyPfPKfi";
  EXPECT_EQ(find_cubin(kCopy, "sm_120"), nullptr);
  register_fat_binary(recorded("zstd"));
  const EmbeddedCubin* cubin = find_cubin(kCopy, "sm_120");
  ASSERT_NE(cubin, nullptr);
  EXPECT_FALSE(metrics::Cubin(cubin->image).code(kCopy).empty());
  ASSERT_NE(find_ptx(kCopy, "sm_120"), nullptr);
  EXPECT_THAT(find_ptx(kCopy, "sm_120")->text, HasSubstr(".target sm_120"));
  EXPECT_EQ(find_ptx(kCopy, "sm_75"), nullptr) << "only machine code for it was embedded";
}

TEST(DeviceCode, WhatCouldNotBeReadIsAnErrorEachTime) {
  static std::string container = metrics::recorded_text("fat_binary/lz4.fatbin");
  static const metrics::FatBinaryWrapper kWrapper = {.container = container.data()};
  const std::string name = "_Z4nonePf", arch = "sm_90";
  const char magic = std::exchange(container[0], 'x');
  register_fat_binary(&kWrapper);
  for (int repetition = 0; repetition < 2; ++repetition) {
    EXPECT_THROW(sass_hash(name, arch), metrics::FatBinaryError);
    EXPECT_THROW(source_hash(name, arch), metrics::FatBinaryError);
    EXPECT_THROW(cluster_of_code(name, arch), metrics::FatBinaryError);
  }
  container[0] = magic;
  EXPECT_EQ(sass_hash(name, arch), "") << "is not embedded";
}

TEST(DeviceCode, CubinsStayWhereTheyAreWhenMoreAreRegistered) {
  const EmbeddedCubin* const first = &embedded_cubins().front();
  const std::string arch = first->arch;
  const std::size_t count = embedded_cubins().size();
  for (int n = 0; n < 20; ++n) register_fat_binary(recorded("none"));
  EXPECT_GT(embedded_cubins().size(), count);
  EXPECT_EQ(&embedded_cubins().front(), first);
  EXPECT_EQ(first->arch, arch);
}

}  // namespace
}  // namespace warpgauge::device_code_test
