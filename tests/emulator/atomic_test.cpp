// atom and red: every operation against what it means, and threads that contend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/emulator/machine/core/window.h"
#include "harness/emulator/machine/memory/atomic_operations.h"
#include "harness/emulator/machine/memory/small_floats.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::atomic_test {
namespace {

using ::testing::EndsWith;

using Atomic = MemoryInstructions;
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(Atomic);

/// Runs atom and red of an operation on few words, so that lanes meet, in global and in shared
/// memory, with all lanes and with some; `reference` gives the new value.
template <typename T>
void check(MemoryBench& bench, const std::string& operation, const std::string& reg,
           const std::function<T(T old, T b)>& reference) {
  std::mt19937_64 random(7);
  constexpr int kWords = 5;
  T* const global = bench.allocate<T>(kWords);
  T* const shared = reinterpret_cast<T*>(bench.shared);
  const auto values = [&] { return static_cast<T>(random() % 9 + (random() % 3 == 0 ? -5 : 0)); };
  for (const bool in_shared : {false, true}) {
    T* const words = in_shared ? shared : global;
    const std::string space = in_shared ? ".shared" : ".global";
    for (const Mask mask : {kAllLanes, Mask{0x0f00ff01}, Mask{1} << 31}) {
      for (const int words_used : {1, kWords}) {
        for (int i = 0; i < kWords; ++i) words[i] = values();
        std::vector<T> expected(words, words + kWords), olds(kLanes, T{99});
        bench.fill<T>(reg + "1", [](int) { return 99; });
        bench.fill<T>(reg + "2", [&](int) { return values(); });
        std::vector<std::size_t> at(kLanes);
        for (auto& index : at) index = random() % static_cast<unsigned>(words_used);
        bench.fill<std::uint64_t>("%rd9", [&](int lane) {
          const std::uint64_t offset = at[static_cast<std::size_t>(lane)] * sizeof(T);
          return in_shared ? offset : reinterpret_cast<std::uint64_t>(words) + offset;
        });
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          if ((mask >> lane & 1) == 0) continue;
          olds[lane] = expected[at[lane]];
          expected[at[lane]] = reference(olds[lane], bench.reg<T>(reg + "2")[lane]);
        }
        const std::vector<T> before(words, words + kWords);
        bench.run("atom" + space + operation + " " + reg + "1, [%rd9], " + reg + "2;", mask);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          ASSERT_EQ(bench.reg<T>(reg + "1")[lane], olds[lane]) << operation << " lane " << lane;
        }
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), words)) << operation;
        std::copy(before.begin(), before.end(), words);
        bench.run("red" + space + operation + " [%rd9], " + reg + "2;", mask);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), words)) << operation;
      }
    }
  }
}

TEST_P(Atomic, Integers) {
  using U = std::uint32_t;
  using S = std::int32_t;
  using U64 = std::uint64_t;
  using S64 = std::int64_t;
  check<U>(bench(), ".add.u32", "%r", [](U a, U b) { return a + b; });
  check<S>(bench(), ".relaxed.gpu.add.s32", "%r", [](S a, S b) { return a + b; });
  check<U64>(bench(), ".add.u64", "%rd", [](U64 a, U64 b) { return a + b; });
  check<U>(bench(), ".min.u32", "%r", [](U a, U b) { return std::min(a, b); });
  check<S>(bench(), ".min.s32", "%r", [](S a, S b) { return std::min(a, b); });
  check<U>(bench(), ".max.u32", "%r", [](U a, U b) { return std::max(a, b); });
  check<S>(bench(), ".max.s32", "%r", [](S a, S b) { return std::max(a, b); });
  check<U64>(bench(), ".min.u64", "%rd", [](U64 a, U64 b) { return std::min(a, b); });
  check<S64>(bench(), ".max.s64", "%rd", [](S64 a, S64 b) { return std::max(a, b); });
  check<U>(bench(), ".acq_rel.sys.and.b32", "%r", [](U a, U b) { return a & b; });
  check<U>(bench(), ".or.b32", "%r", [](U a, U b) { return a | b; });
  check<U>(bench(), ".xor.b32", "%r", [](U a, U b) { return a ^ b; });
  check<U64>(bench(), ".and.b64", "%rd", [](U64 a, U64 b) { return a & b; });
  check<U64>(bench(), ".or.b64", "%rd", [](U64 a, U64 b) { return a | b; });
  check<U64>(bench(), ".xor.b64", "%rd", [](U64 a, U64 b) { return a ^ b; });
  check<U>(bench(), ".exch.b32", "%r", [](U, U b) { return b; });
  check<U64>(bench(), ".exch.b64", "%rd", [](U64, U64 b) { return b; });
}

TEST_P(Atomic, CountersWrapAround) {
  // CUDA C++ Programming Guide, atomicInc and atomicDec.
  using U = std::uint32_t;
  check<U>(bench(), ".inc.u32", "%r", [](U old, U b) { return old >= b ? 0 : old + 1; });
  check<U>(bench(), ".dec.u32", "%r", [](U old, U b) { return old == 0 || old > b ? b : old - 1; });
}

TEST_P(Atomic, Floats) {
  check<float>(bench(), ".add.f32", "%f", [](float a, float b) { return a + b; });
  check<double>(bench(), ".add.f64", "%fd", [](double a, double b) { return a + b; });
}

TEST_P(Atomic, FloatSubnormalsBecomeZeroInGlobalMemoryOnly) {
  const float subnormal = std::numeric_limits<float>::denorm_min();
  auto* const global = bench().allocate<float>(1);
  auto* const shared = reinterpret_cast<float*>(bench().shared);
  bench().fill<float>("%f1", [&](int) { return subnormal; });
  bench().point("%rd1", global, 0);
  bench().fill<std::uint32_t>("%r1", [](int) { return 0; });
  *global = *shared = -subnormal;
  bench().run("red.global.add.f32 [%rd1], %f1;", 0x3);
  bench().run("red.shared.add.f32 [%r1], %f1;", 0x3);
  EXPECT_EQ(*global, 0.0f);
  EXPECT_EQ(*shared, subnormal);
}

TEST_P(Atomic, CompareAndSwap) {
  auto* const word = bench().allocate<std::uint32_t>(1);
  *word = 3;
  bench().point("%rd1", word, 0);
  bench().fill<std::uint32_t>("%r2", [](int lane) { return lane; });      // expected
  bench().fill<std::uint32_t>("%r3", [](int lane) { return lane + 1; });  // new
  bench().run("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;");
  EXPECT_EQ(*word, 32u);  // lane 3 finds 3 and leaves 4 for lane 4, ...
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[lane], std::max(lane, 3u));
  }
  auto* const wide = bench().allocate<std::uint64_t>(32);
  bench().point("%rd1", wide, 8);
  bench().run("atom.cas.b64 %rd4, [%rd1], 0, 77;", 0xff);
  EXPECT_EQ(wide[7], 77u);
  EXPECT_EQ(wide[8], 0u);
  bench().fill<std::uint16_t>("%rs2", [](int) { return 0; });
  bench().fill<std::uint16_t>("%rs3", [](int) { return 9; });
  bench().run("atom.shared.cas.b16 %rs1, [%r9], %rs2, %rs3;");
  EXPECT_EQ(bench().shared[0], std::byte{9});
  EXPECT_EQ(bench().reg<std::uint16_t>("%rs1")[31], 9u);
}

TEST_P(Atomic, ResultInTheRegisterOfTheOperand) {
  auto* const word = bench().allocate<std::uint32_t>(1);
  *word = 0;
  bench().point("%rd1", word, 0);
  bench().fill<std::uint32_t>("%r1", [](int) { return 1; });
  bench().run("atom.global.add.u32 %r1, [%rd1], %r1;");
  EXPECT_EQ(*word, 32u);
  EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[31], 31u);
}

TEST_P(Atomic, VectorsOfFloats) {
  auto* const data = bench().allocate<float>(64);
  std::fill(data, data + 64, 1.0f);
  bench().point("%rd1", data, 8);
  bench().fill<float>("%f1", [](int lane) { return lane; });
  bench().fill<float>("%f2", [](int lane) { return 100 + lane; });
  bench().run("atom.global.add.v2.f32 {%f3, %f4}, [%rd1], {%f1, %f2};");
  EXPECT_EQ(data[62], 32.0f);
  EXPECT_EQ(data[63], 132.0f);
  EXPECT_EQ(bench().reg<float>("%f4")[31], 1.0f);
}

TEST_P(Atomic, GenericAddressesOfTwoSpaces) {
  auto* const word = bench().allocate<std::uint32_t>(1);
  *word = 0;
  bench().fill<std::uint64_t>("%rd1", [&](int lane) {
    return lane % 2 == 0 ? reinterpret_cast<std::uint64_t>(word) : window_base(Window::shared) + 4;
  });
  bench().fill<std::uint32_t>("%r1", [](int lane) { return lane; });
  bench().run("red.add.u32 [%rd1], %r1;");
  EXPECT_EQ(*word, 240u);
  EXPECT_EQ(reinterpret_cast<std::uint32_t*>(bench().shared)[1], 256u);
}

TEST_P(Atomic, FaultsNameTheAccess) {
  auto* const word = bench().allocate<std::uint32_t>(1, "counter");
  bench().point("%rd1", word, 0);
  EXPECT_THAT(bench().fault_of("red.global.add.u32 [%rd1+4], 1;").what(),
              EndsWith("right past the end of counter (4 bytes)"));
  EXPECT_EQ(bench().fault_of("red.global.add.u32 [%rd1+2], 1;").kind(),
            Fault::Kind::misaligned_address);
  bench().make_constant(word);
  EXPECT_THAT(bench().fault_of("red.global.add.u32 [%rd1], 1;").what(),
              EndsWith("which is constant"));
}

TEST_P(Atomic, FormsThatDoNotExistAreRefused) {
  for (const char* const text :
       {"red.global.add.b32 [%rd1], %r1;", "atom.global.cas.b128 %q1, [%rd1], %q2, %q3;",
        "atom.global.min.f32 %f1, [%rd1], %f2;", "red.global.sub.u32 [%rd1], %r1;",
        "red.async.global.add.u32 [%rd1], %r1;", "red.shared.add.v2.f32 [%r1], {%f1, %f2};"}) {
    EXPECT_THROW(bench().run(text), decode::Unsupported) << text;
  }
}

/// Threads, each a warp of its own, on the same memory.
template <typename Work>
void contend(const char* isa, Work work) {
  constexpr int kThreads = 4;
  MemoryBench first(*instruction_set(isa));
  std::vector<std::unique_ptr<MemoryBench>> benches;
  for (int n = 0; n < kThreads; ++n) {
    benches.push_back(std::make_unique<MemoryBench>(*instruction_set(isa)));
    benches.back()->context.memory = &first.memory;
  }
  work(first, [&](const std::string& text, int repetitions) {
    std::vector<std::thread> threads;
    for (auto& bench : benches) {
      threads.emplace_back([&, repetitions] {
        std::memcpy(bench->reg<std::byte>("%rd1"), first.reg<std::byte>("%rd1"), 256);
        std::memcpy(bench->reg<std::byte>("%rd2"), first.reg<std::byte>("%rd2"), 256);
        for (int i = 0; i < repetitions; ++i) bench->run(text);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST_P(Atomic, NoUpdateIsLostBetweenThreads) {
  contend(GetParam(), [](MemoryBench& bench, const auto& run) {
    constexpr std::uint64_t kExecutions = 4 * 2000;
    auto* const words = bench.allocate<std::uint32_t>(32);
    std::fill(words, words + 32, 0);
    bench.point("%rd1", words, 0);  // all lanes on one word
    run("red.global.add.u32 [%rd1], 1;", 2000);
    EXPECT_EQ(words[0], 32 * kExecutions);
    bench.point("%rd1", words, 4);  // a word for each lane
    run("atom.global.inc.u32 %r1, [%rd1+0], 4294967295;", 2000);
    EXPECT_EQ(words[31], kExecutions);
    auto* const sum = bench.allocate<double>(1);
    *sum = 0;
    bench.point("%rd1", sum, 0);
    bench.fill<double>("%rd2", [](int lane) { return lane; });
    run("red.global.add.f64 [%rd1], %rd2;", 2000);
    EXPECT_EQ(*sum, 496.0 * kExecutions);
  });
}

// Small floats.

TEST(SmallFloats, EveryHalfIsWhatItsBitsSay) {
  for (int bits = 0; bits < 0x8000; ++bits) {
    const int exponent = bits >> 10, fraction = bits & 0x3ff;
    const float value = memory::from_half(static_cast<std::uint16_t>(bits));
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(value), fraction != 0);
      EXPECT_EQ(std::isinf(value), fraction == 0);
      continue;
    }
    const double expected =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(value, expected) << bits;
    ASSERT_EQ(memory::from_half(static_cast<std::uint16_t>(bits | 0x8000)), -expected) << bits;
  }
}

/// Between neighbours the nearer one is taken, in the middle the even one.
template <typename Wide, typename Narrow>
void check_rounding(int end, Wide wide, Narrow narrow) {
  for (int bits = 0; bits + 1 < end; ++bits) {
    const float below = wide(static_cast<std::uint16_t>(bits));
    const float above = wide(static_cast<std::uint16_t>(bits + 1));
    const float middle = below / 2 + above / 2;
    ASSERT_EQ(narrow(below), bits);
    ASSERT_EQ(narrow(middle), bits + (bits & 1)) << bits;
    ASSERT_EQ(narrow(-middle), (bits + (bits & 1)) | 0x8000) << bits;
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), bits) << bits;
    ASSERT_EQ(narrow(std::nextafter(middle, INFINITY)), bits + 1) << bits;
  }
}

TEST(SmallFloats, RoundToTheNearestEven) {
  check_rounding(0x7c00, memory::from_half, memory::to_half);
  // In the lowest binade of bfloat16 the middle is not a float.
  for (const std::uint16_t bits : {0x0001, 0x007f, 0x3f80, 0x7f7f}) {
    EXPECT_EQ(memory::to_bfloat(memory::from_bfloat(bits)), bits);
  }
  EXPECT_EQ(memory::to_bfloat(1.0f + 1.0f / 256), 0x3f80);  // the middle of 1 and 1 + 2^-7: even
  EXPECT_EQ(memory::to_bfloat(1.0f + 3.0f / 256), 0x3f82);
  EXPECT_EQ(memory::to_bfloat(1.0f + 1.0f / 255), 0x3f81);
  EXPECT_EQ(memory::to_bfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(memory::to_half(65519.996f), 0x7bff);
  EXPECT_EQ(memory::to_half(65520.0f), 0x7c00);
  EXPECT_EQ(memory::to_half(NAN), 0x7fff);
  EXPECT_EQ(memory::to_bfloat(NAN), 0x7fff);
}

TEST_P(Atomic, HalvesAndPairsOfThem) {
  auto* const words = bench().allocate<std::uint32_t>(32);
  const auto run = [&](const std::string& text, std::uint32_t initial, std::uint32_t operand) {
    words[0] = initial;
    bench().point("%rd1", words, 0);
    bench().fill<std::uint32_t>("%r1", [&](int) { return operand; });
    bench().fill<std::uint16_t>("%rs1", [&](int) { return operand; });
    bench().run(text, 0x3);
    return words[0];
  };
  const std::uint32_t one = 0x3c00, two = 0x4000, three = 0x4200;  // f16
  EXPECT_EQ(run("red.global.add.noftz.f16 [%rd1], %rs1;", one, one), three);
  EXPECT_EQ(run("red.global.add.noftz.f16x2 [%rd1], %r1;", one | two << 16, one | one << 16),
            three | 0x4400u << 16);                                                    // 4
  EXPECT_EQ(run("red.global.add.noftz.bf16 [%rd1], %rs1;", 0x3f80, 0x3f80), 0x4040u);  // 3
  EXPECT_EQ(run("red.global.add.noftz.bf16x2 [%rd1], %r1;", 0x3f80, 0x40003f80), 0x40804040u);
}

TEST_P(Atomic, HalvesHaveMinimumAndMaximum) {
  auto* const halves = bench().allocate<std::uint16_t>(64);
  bench().point("%rd1", halves, 4);
  bench().fill<std::uint16_t>("%rs1", [](int) { return 0xbc00; });  // -1
  bench().fill<std::uint16_t>("%rs2", [](int) { return 0x7e00; });  // NaN
  std::fill(halves, halves + 64, 0x3c00);
  bench().run("red.global.min.noftz.v2.f16 [%rd1], {%rs1, %rs2};");
  EXPECT_EQ(halves[62], 0xbc00);
  EXPECT_EQ(halves[63], 0x3c00);
  bench().fill<std::uint16_t>("%rs1", [](int) { return 0x4000; });
  bench().run("red.global.max.noftz.v2.f16 [%rd1], {%rs1, %rs2};");
  EXPECT_EQ(halves[62], 0x4000);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::atomic_test
