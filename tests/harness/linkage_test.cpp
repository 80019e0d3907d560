// Why the emulator did not come to see a program.
#include "harness/programs/linkage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace warpgauge::programs::linkage_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string why(const Linkage& linkage) { return why_not_called(linkage, "libcudart.so.13"); }

TEST(LinkageTest, EachWayHasItsReason) {
  EXPECT_THAT(why({.needed = {"libm.so.6", "libcudart.so.13"}, .has_device_code = true}),
              StartsWith("it ended before it called CUDA"));
  EXPECT_THAT(why({.needed = {"libcudart.so.12"}, .has_device_code = true}),
              HasSubstr("another version"));
  EXPECT_THAT(why({.needed = {"libcuda.so.1"}}), StartsWith("it ended before it called CUDA"));
  EXPECT_THAT(why({.needed = {"libcuda.so.1"}, .has_device_code = true}), HasSubstr("part of it"));
  EXPECT_THAT(why({.needed = {"libm.so.6"}, .has_device_code = true}),
              HasSubstr("link it without -s or strip"));
  EXPECT_THAT(why({.needed = {"libm.so.6"}, .has_device_code = true, .has_names = true}),
              StartsWith("it ended before it called CUDA"));
  EXPECT_THAT(why({}), StartsWith("neither it nor a program that it started"));
}

TEST(LinkageTest, ARuntimeIsTheEmulatedOneOrAnother) {
  const auto why_other = [](const Linkage& linkage) {
    return why_not_replaced(linkage, "libcudart.so.13");
  };
  EXPECT_EQ(why_other({.needed = {"libcudart.so.13"}, .has_device_code = true}), "");
  EXPECT_EQ(why_other({.needed = {"libcuda.so.1"}}), "");
  EXPECT_THAT(why_other({.needed = {"libcudart.so.12"}}), HasSubstr("another version"));
  EXPECT_THAT(why_other({.needed = {"libcuda.so.1"}, .has_device_code = true}),
              HasSubstr("names of its functions, which were stripped"));
  EXPECT_THAT(why_other({.has_device_code = true, .has_names = true}),
              HasSubstr("the reason that stands above"));
}

TEST(LinkageTest, AProgramIsFoundInThePathAndRead) {
  const Linkage linkage = linkage_of("true");
  EXPECT_THAT(linkage.needed, Contains(StartsWith("libc.so")));
  EXPECT_FALSE(linkage.has_device_code);
}

TEST(LinkageTest, WhatIsNoProgramHasNoLinkage) {
  EXPECT_THAT(linkage_of("./missing").needed, IsEmpty());
  const std::string path = testing::TempDir() + "cut_off";
  std::ifstream whole("/proc/self/exe", std::ios::binary);
  std::string bytes(200, '\0');
  whole.read(bytes.data(), 200);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT(linkage_of(path).needed, IsEmpty());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace warpgauge::programs::linkage_test
