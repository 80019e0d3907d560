// ld and st: values, masks, widths and spaces. Faults: load_store_fault_test.cpp
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/window.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::load_store_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using Kind = Fault::Kind;

using LoadStore = MemoryInstructions;
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(LoadStore);

constexpr Mask kMasks[] = {kAllLanes,  0x1,        0x80000000, 0x0000ffff,
                           0xffff0000, 0x55555555, 0x00f0f0f0};

/// Bytes that are all different in their neighbourhood.
std::byte* patterned(MemoryBench& bench, std::uint64_t bytes) {
  auto* const data = bench.allocate<std::byte>(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 37 + i / 251);
  return data;
}

template <typename T>
T at(const std::byte* data, std::uint64_t offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof(T));
  return value;
}

/// Loads with `text` for each mask and each pattern of addresses. T is the type in memory, Register
/// the type of the registers; the `elements` are in %x0, %x1, ...
template <typename T, typename Register>
void check_load(MemoryBench& bench, const std::string& text,
                const std::vector<std::string>& names) {
  const auto elements = names.size();
  const std::uint64_t width = sizeof(T) * elements;
  const std::byte* const data = patterned(bench, 64 * 64 * width);
  const std::uint64_t strides[] = {0, width, 2 * width, 33 * width};
  for (const Mask mask : kMasks) {
    for (const std::uint64_t stride : strides) {
      for (int repetition = 0; repetition < 2; ++repetition) {  // a miss and a hit of the cache
        bench.point("%rd1", data + 16 * width, static_cast<std::int64_t>(stride));
        for (const auto& name : names) {
          bench.fill<Register>(name, [](int lane) { return static_cast<Register>(lane) + 77; });
        }
        bench.run(text, mask);
        for (std::size_t n = 0; n < elements; ++n) {
          for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
            const T in_memory = at<T>(data, 16 * width + stride * lane + n * sizeof(T));
            const auto expected = (mask >> lane & 1) != 0 ? static_cast<Register>(in_memory)
                                                          : static_cast<Register>(lane) + 77;
            ASSERT_TRUE(bench.reg<Register>(names[n])[lane] == static_cast<Register>(expected))
                << text << " mask " << mask << " stride " << stride << " lane " << lane;
          }
        }
      }
    }
  }
}

TEST_P(LoadStore, LoadsEveryWidth) {
  __extension__ typedef unsigned __int128 u128;
  check_load<std::uint8_t, std::uint16_t>(bench(), "ld.global.u8 %rs1, [%rd1];", {"%rs1"});
  check_load<std::int8_t, std::int16_t>(bench(), "ld.global.s8 %rs1, [%rd1];", {"%rs1"});
  check_load<std::uint8_t, std::uint32_t>(bench(), "ld.global.u8 %r1, [%rd1];", {"%r1"});
  check_load<std::int8_t, std::int64_t>(bench(), "ld.global.s8 %rd2, [%rd1];", {"%rd2"});
  check_load<std::uint16_t, std::uint16_t>(bench(), "ld.global.u16 %rs1, [%rd1];", {"%rs1"});
  check_load<std::int16_t, std::int32_t>(bench(), "ld.global.s16 %r1, [%rd1];", {"%r1"});
  check_load<std::uint32_t, std::uint32_t>(bench(), "ld.global.f32 %f1, [%rd1];", {"%f1"});
  check_load<std::int32_t, std::int64_t>(bench(), "ld.global.s32 %rd2, [%rd1];", {"%rd2"});
  check_load<std::uint32_t, std::uint64_t>(bench(), "ld.global.u32 %rd2, [%rd1];", {"%rd2"});
  check_load<std::uint64_t, std::uint64_t>(bench(), "ld.global.f64 %fd1, [%rd1];", {"%fd1"});
  check_load<u128, u128>(bench(), "ld.global.b128 %q1, [%rd1];", {"%q1"});
}

TEST_P(LoadStore, LoadsVectors) {
  check_load<std::uint8_t, std::uint16_t>(bench(),
                                          "ld.global.v4.u8 {%rs0, %rs1, %rs2, %rs3}, [%rd1];",
                                          {"%rs0", "%rs1", "%rs2", "%rs3"});
  check_load<std::uint16_t, std::uint16_t>(bench(), "ld.global.v2.b16 {%rs0, %rs1}, [%rd1];",
                                           {"%rs0", "%rs1"});
  check_load<std::uint32_t, std::uint32_t>(bench(), "ld.global.nc.v2.f32 {%f0, %f1}, [%rd1];",
                                           {"%f0", "%f1"});
  check_load<std::uint32_t, std::uint32_t>(
      bench(), "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];", {"%f0", "%f1", "%f2", "%f3"});
  check_load<std::uint64_t, std::uint64_t>(bench(), "ld.global.v2.u64 {%rd2, %rd3}, [%rd1];",
                                           {"%rd2", "%rd3"});
  check_load<std::uint64_t, std::uint64_t>(bench(),
                                           "ld.global.v4.b64 {%rd2, %rd3, %rd4, %rd5}, [%rd1];",
                                           {"%rd2", "%rd3", "%rd4", "%rd5"});
  check_load<std::uint32_t, std::uint32_t>(
      bench(), "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%rd1];",
      {"%r0", "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r7"});
}

TEST_P(LoadStore, LoadsIntoTheRegisterOfTheAddress) {
  auto* const list = bench().allocate<std::uint64_t>(64);
  std::iota(list, list + 64, 1000);
  for (const std::int64_t stride : {0, 16}) {
    bench().point("%rd1", list, stride);
    bench().run("ld.global.u64 %rd1, [%rd1];");
    EXPECT_EQ(bench().reg<std::uint64_t>("%rd1")[31], 1000u + 31 * stride / 8);
    bench().point("%rd1", list, stride);
    bench().run("ld.global.v2.u64 {%rd1, %rd2}, [%rd1];", 0xffff);
    EXPECT_EQ(bench().reg<std::uint64_t>("%rd2")[15], 1001u + 15 * stride / 8);
  }
}

/// The lanes in the order in which their stores of `width` bytes overwrite each other on an H100:
/// 128 bytes at a time, and in these the lowest lane last.
std::vector<std::uint64_t> store_order(std::uint64_t width) {
  const std::uint64_t at_once = std::min<std::uint64_t>(kLanes, 128 / width);
  std::vector<std::uint64_t> order;
  for (std::uint64_t first = 0; first < kLanes; first += at_once) {
    for (std::uint64_t lane = first + at_once; lane > first; --lane) order.push_back(lane - 1);
  }
  return order;
}

/// Stores `text` with each mask and stride, and looks at all of the memory.
template <typename T, typename Register>
void check_store(MemoryBench& bench, const std::string& text,
                 const std::vector<std::string>& names) {
  const auto elements = names.size();
  const std::uint64_t width = sizeof(T) * elements;
  const std::uint64_t bytes = 34 * 33 * width;
  auto* const data = bench.allocate<std::byte>(bytes);
  for (std::size_t n = 0; n < elements; ++n) {
    bench.fill<Register>(names[n], [&](int lane) {
      return static_cast<Register>(0x0123456789abcdef * static_cast<std::uint64_t>(lane + 1) + n);
    });
  }
  for (const Mask mask : kMasks) {
    for (const std::uint64_t stride : {std::uint64_t{0}, width, 33 * width}) {
      for (int repetition = 0; repetition < 2; ++repetition) {
        std::vector<std::byte> expected(bytes, std::byte{0xee});
        std::fill(data, data + bytes, std::byte{0xee});
        for (const std::uint64_t lane : store_order(width)) {
          if ((mask >> lane & 1) == 0) continue;
          for (std::size_t n = 0; n < elements; ++n) {
            const T value = static_cast<T>(bench.reg<Register>(names[n])[lane]);
            std::memcpy(&expected[width + stride * lane + n * sizeof(T)], &value, sizeof(T));
          }
        }
        bench.point("%rd1", data + width, static_cast<std::int64_t>(stride));
        bench.run(text, mask);
        ASSERT_EQ(std::memcmp(data, expected.data(), bytes), 0)
            << text << " mask " << mask << " stride " << stride;
      }
    }
  }
}

TEST_P(LoadStore, StoresEveryWidth) {
  check_store<std::uint8_t, std::uint16_t>(bench(), "st.global.u8 [%rd1], %rs1;", {"%rs1"});
  check_store<std::uint8_t, std::uint32_t>(bench(), "st.global.u8 [%rd1], %r1;", {"%r1"});
  check_store<std::uint16_t, std::uint16_t>(bench(), "st.global.u16 [%rd1], %rs1;", {"%rs1"});
  check_store<std::uint16_t, std::uint64_t>(bench(), "st.global.b16 [%rd1], %rd2;", {"%rd2"});
  check_store<std::uint32_t, std::uint32_t>(bench(), "st.global.f32 [%rd1], %f1;", {"%f1"});
  check_store<std::uint32_t, std::uint64_t>(bench(), "st.global.u32 [%rd1], %rd2;", {"%rd2"});
  check_store<std::uint64_t, std::uint64_t>(bench(), "st.global.u64 [%rd1], %rd2;", {"%rd2"});
  check_store<std::uint32_t, std::uint32_t>(bench(), "st.global.v2.f32 [%rd1], {%f1, %f2};",
                                            {"%f1", "%f2"});
  check_store<std::uint32_t, std::uint32_t>(
      bench(), "st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};", {"%r1", "%r2", "%r3", "%r4"});
  check_store<std::uint64_t, std::uint64_t>(bench(), "st.global.v2.f64 [%rd1], {%fd1, %fd2};",
                                            {"%fd1", "%fd2"});
  check_store<std::uint8_t, std::uint16_t>(bench(),
                                           "st.global.v4.u8 [%rd1], {%rs1, %rs2, %rs3, %rs4};",
                                           {"%rs1", "%rs2", "%rs3", "%rs4"});
}

/// Stores all lanes' numbers to words that `lanes` neighbours share; which lanes' have stayed.
std::vector<std::uint32_t> winners(MemoryBench& bench, const std::string& text, int width,
                                   int lanes) {
  auto* const data = bench.allocate<std::uint32_t>(32 * 4);
  bench.fill<std::uint64_t>("%rd1", [&](int lane) {
    return reinterpret_cast<std::uint64_t>(data) + static_cast<std::uint64_t>(lane / lanes * width);
  });
  for (const char* name : {"%r1", "%r2", "%r3", "%r4"}) {
    bench.fill<std::uint32_t>(name, [](int lane) { return static_cast<std::uint32_t>(lane); });
  }
  bench.run(text);
  std::vector<std::uint32_t> result;
  for (int group = 0; group < 32 / lanes; ++group) result.push_back(data[group * width / 4]);
  return result;
}

TEST_P(LoadStore, OfLanesThatStoreToOneWordOneWins) {
  using ::testing::ElementsAre;
  const std::string store = "st.global.u32 [%rd1], %r1;";
  EXPECT_THAT(winners(bench(), store, 4, 8), ElementsAre(0, 8, 16, 24));
  EXPECT_THAT(winners(bench(), store, 4, 32), ElementsAre(0));
  const std::string two = "st.global.v2.u32 [%rd1], {%r1, %r2};";  // half a warp at a time
  EXPECT_THAT(winners(bench(), two, 8, 8), ElementsAre(0, 8, 16, 24));
  EXPECT_THAT(winners(bench(), two, 8, 32), ElementsAre(16));
  const std::string four = "st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};";  // a quarter
  EXPECT_THAT(winners(bench(), four, 16, 8), ElementsAre(0, 8, 16, 24));
  EXPECT_THAT(winners(bench(), four, 16, 16), ElementsAre(8, 24));
  EXPECT_THAT(winners(bench(), four, 16, 32), ElementsAre(24));
}

TEST_P(LoadStore, StoresImmediates) {
  auto* const data = bench().allocate<std::uint32_t>(32);
  bench().point("%rd1", data, 4);
  bench().run("st.global.u32 [%rd1], 41;");
  EXPECT_EQ(data[31], 41u);
}

TEST_P(LoadStore, TakesOffsets) {
  auto* const data = bench().allocate<std::uint32_t>(64);
  std::iota(data, data + 64, 0);
  bench().point("%rd1", data + 16, 4);
  bench().run("ld.global.u32 %r1, [%rd1+-64];");
  bench().run("ld.global.u32 %r2, [%rd1+32];", 0xffffff);
  EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[31], 31u);
  EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[23], 47u);
}

TEST_P(LoadStore, SharedMemoryByShortAndLongAddresses) {
  auto* const words = reinterpret_cast<std::uint32_t*>(bench().shared);
  std::iota(words, words + MemoryBench::kSharedBytes / 4, 0);
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 128 * lane; });
  bench().fill<std::uint64_t>("%rd1", [](int lane) { return 4 * lane; });
  bench().run("ld.shared.u32 %r2, [%r1+4];");
  bench().run("ld.volatile.shared.u32 %r3, [%rd1+4000];");
  bench().run("ld.shared::cta.v2.u32 {%r4, %r5}, [%rd1+16];", 0x55555555);
  EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[31], 31u * 32 + 1);
  EXPECT_EQ(bench().reg<std::uint32_t>("%r3")[31], 1000u + 31);
  EXPECT_EQ(bench().reg<std::uint32_t>("%r5")[30], 4u + 30 + 1);
  bench().run("st.shared.u32 [%r1], %r3;");
  EXPECT_EQ(words[31 * 32], 1031u);
}

TEST_P(LoadStore, SharedRegistersBelowTheVariableAreFine) {
  auto* const words = reinterpret_cast<std::uint32_t*>(bench().shared);
  std::iota(words, words + 64, 0);
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 4 * lane - 64; });
  for (const Mask mask : {kAllLanes, Mask{0xff00}}) {
    bench().run("ld.shared.u32 %r2, [%r1+64];", mask);
    EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[15], 15u);
  }
  EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[31], 31u);
}

TEST_P(LoadStore, SharedVariablesByName) {
  bench().places["tile"] = {Location::Kind::shared, 64, 128, 4};
  reinterpret_cast<std::uint32_t*>(bench().shared)[18] = 5;
  bench().run("ld.shared.u32 %r1, [tile+8];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[7], 5u);
}

TEST_P(LoadStore, LocalMemoryIsEachLanesOwn) {
  bench().fill<std::uint64_t>("%rd1", [](int lane) { return 8 * (lane % 4); });
  bench().fill<std::uint64_t>("%rd2", [](int lane) { return 100 + lane; });
  bench().run("st.local.u64 [%rd1+16], %rd2;");
  bench().run("ld.local.u64 %rd3, [%rd1+16];");
  for (int lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(bench().reg<std::uint64_t>("%rd3")[lane], 100u + lane);
    EXPECT_EQ(
        at<std::uint64_t>(bench().local, MemoryBench::kLocalStride * lane + 16 + 8 * (lane % 4)),
        100u + lane);
  }
}

TEST_P(LoadStore, LocalMemoryAndParametersByShortAddresses) {
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 8 * (lane % 4); });
  bench().fill<std::uint32_t>("%r2", [](int lane) { return 100 + lane; });
  bench().run("st.local.u32 [%r1+16], %r2;");
  bench().run("ld.local.u32 %r3, [%r1+16];");
  for (int lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(bench().reg<std::uint32_t>("%r3")[lane], 100u + lane);
    EXPECT_EQ(
        at<std::uint32_t>(bench().local, MemoryBench::kLocalStride * lane + 16 + 8 * (lane % 4)),
        100u + lane);
  }
  bench().parameters[24] = std::byte{9};
  bench().run("ld.param.u8 %rs1, [%r1+8];");
  EXPECT_EQ(bench().reg<std::uint16_t>("%rs1")[6], 9);
  EXPECT_THROW(bench().run("ld.global.u32 %r3, [%r1];"), decode::Unsupported);
}

TEST_P(LoadStore, KernelParametersAreTheSameForAllLanes) {
  for (std::size_t i = 0; i < sizeof(bench().parameters); ++i) {
    bench().parameters[i] = static_cast<std::byte>(i);
  }
  bench().places["p"] = {Location::Kind::kernel_parameter, 16, 32, 8};
  bench().fill<std::uint64_t>("%rd1", [](int) { return 0; });
  bench().run("ld.param.u64 %rd1, [p+8];", 0xffff);
  EXPECT_EQ(bench().reg<std::uint64_t>("%rd1")[15], 0x1f1e1d1c1b1a1918u);
  EXPECT_EQ(bench().reg<std::uint64_t>("%rd1")[16], 0u);
  bench().run("ld.param.v2.u32 {%r1, %r2}, [p];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[31], 0x17161514u);
  bench().run("ld.param.s8 %rs1, [p+3];");
  EXPECT_EQ(bench().reg<std::int16_t>("%rs1")[3], 0x13);
  EXPECT_THROW(bench().run("ld.param.u64 %rd1, [p+32];"), decode::Unsupported);
  // Each lane has an address of its own.
  bench().fill<std::uint64_t>("%rd2", [](int lane) { return lane % 8 * 4; });
  bench().run("ld.param.u32 %r1, [%rd2+16];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[9], 0x17161514u);
  EXPECT_EQ(bench().fault_of("ld.param.u32 %r1, [%rd2+40];").kind(), Kind::illegal_address);
}

TEST_P(LoadStore, ParametersOfDeviceFunctionsAreLocalAndCountNothing) {
  bench().is_kernel = false;
  bench().places["param0"] = {Location::Kind::local, 24, 8, 8};
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 7 * lane; });
  bench().run("st.param.b32 [param0+4], %r1;");
  bench().run("ld.param.b32 %r2, [param0+4];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r2")[31], 217u);
  EXPECT_EQ(at<std::uint32_t>(bench().local, MemoryBench::kLocalStride * 31 + 28), 217u);
  EXPECT_EQ(bench().totals("ld.param.b32 %r2, [param0+4];").space, AccessTotals::Space::none);
}

TEST_P(LoadStore, ConstantMemory) {
  auto* const table = bench().allocate<std::uint32_t>(64, "table");
  std::iota(table, table + 64, 0);
  bench().point("%rd1", table, 4);
  EXPECT_THAT(bench().fault_of("ld.const.u32 %r1, [%rd1];").what(),
              HasSubstr("byte 0 of table (256 bytes), which is not constant memory"));
  bench().make_constant(table);
  bench().run("ld.const.u32 %r1, [%rd1+4];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[31], 32u);
  EXPECT_EQ(bench().totals("ld.const.u32 %r1, [%rd1+4];").space, AccessTotals::Space::none);
  const Fault write = bench().fault_of("st.global.u32 [%rd1], %r1;");
  EXPECT_EQ(write.kind(), Kind::illegal_address);
  EXPECT_THAT(write.what(), EndsWith("byte 0 of table (256 bytes), which is constant"));
}

TEST_P(LoadStore, MemoryThatKernelsOnlyRead) {
  auto* const table = bench().allocate<std::uint32_t>(64, "table");
  std::iota(table, table + 64, 0);
  bench().memory.make_read_only(reinterpret_cast<std::byte*>(table), memory::Memory::Rights::read,
                                "which is an input");
  bench().point("%rd1", table, 4);
  bench().run("ld.global.u32 %r1, [%rd1+4];");
  EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[31], 32u);
  EXPECT_EQ(bench().totals("ld.global.u32 %r1, [%rd1+4];").space, AccessTotals::Space::global_load);
  for (const char* const text :
       {"st.global.u32 [%rd1], %r1;", "st.u32 [%rd1], %r1;", "red.global.add.u32 [%rd1], 1;"}) {
    const Fault fault = bench().fault_of(text);
    EXPECT_EQ(fault.kind(), Kind::illegal_address);
    EXPECT_THAT(fault.what(), EndsWith("byte 0 of table (256 bytes), which is an input")) << text;
  }
  EXPECT_THAT(bench().fault_of("ld.const.u32 %r1, [%rd1];").what(),
              EndsWith("which is not constant memory"));
}

TEST_P(LoadStore, GenericAddressesMayBeOfSeveralSpacesAtOnce) {
  auto* const data = bench().allocate<std::uint32_t>(32);
  std::iota(data, data + 32, 1000);
  auto* const words = reinterpret_cast<std::uint32_t*>(bench().shared);
  std::iota(words, words + 32, 2000);
  for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
    const auto value = static_cast<std::uint32_t>(3000 + lane);
    std::memcpy(bench().local + MemoryBench::kLocalStride * lane + 8, &value, 4);
  }
  bench().parameters[20] = std::byte{9};
  bench().fill<std::uint64_t>("%rd1", [&](int lane) -> std::uint64_t {
    switch (lane % 4) {
      case 0:
        return reinterpret_cast<std::uint64_t>(data + lane);
      case 1:
        return window_base(Window::shared) + 4 * lane;
      case 2:
        return window_base(Window::local) + 8;
      default:
        return window_base(Window::parameter) + 20;
    }
  });
  bench().run("ld.u32 %r1, [%rd1];");
  const auto* const loaded = bench().reg<std::uint32_t>("%r1");
  for (int lane = 0; lane < kLanes; lane += 4) {
    EXPECT_EQ(loaded[lane], 1000u + lane);
    EXPECT_EQ(loaded[lane + 1], 2001u + lane);
    EXPECT_EQ(loaded[lane + 2], 3002u + lane);
    EXPECT_EQ(loaded[lane + 3], 9u);
  }
  EXPECT_EQ(bench().totals("ld.u32 %r1, [%rd1];", 0).space, AccessTotals::Space::global_load);
  EXPECT_EQ(bench().totals("ld.u32 %r1, [%rd1];", 1).space, AccessTotals::Space::shared);
  EXPECT_EQ(bench().totals("ld.u32 %r1, [%rd1];", 2).space, AccessTotals::Space::local);
  bench().run("st.u32 [%rd1+-4], %r1;", 0x66666666 & ~Mask{2});
  EXPECT_EQ(words[4], 2005u);
  EXPECT_EQ(at<std::uint32_t>(bench().local, MemoryBench::kLocalStride * 2 + 4), 3002u);
}

TEST_P(LoadStore, GenericAddressesOfOneSpace) {
  auto* const words = reinterpret_cast<std::uint32_t*>(bench().shared);
  std::iota(words, words + 64, 0);
  for (const std::uint64_t stride : {0, 4, 8}) {
    bench().fill<std::uint64_t>("%rd1", [&](int lane) {
      return window_base(Window::shared) + stride * static_cast<std::uint64_t>(lane);
    });
    bench().run("ld.u32 %r1, [%rd1];");
    EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[31], 31 * stride / 4);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::load_store_test
