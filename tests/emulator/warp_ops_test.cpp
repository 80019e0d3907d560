// shfl, vote, match, redux, activemask, elect: against the definitions of the PTX ISA, written down
// once more in plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "harness/emulator/machine/isa/isa.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::warp_ops_test {
namespace {

// Each test with all instruction sets that the CPU has.
class WarpOps : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("WARPGAUGE_ISA", GetParam(), 1);
    try {
      isa::best_isa();
    } catch (const std::invalid_argument& reason) {
      GTEST_SKIP() << reason.what();
    }
  }
  void TearDown() override { unsetenv("WARPGAUGE_ISA"); }
};
INSTANTIATE_TEST_SUITE_P(Isa, WarpOps, ::testing::Values("baseline", "avx2", "avx512"),
                         [](const auto& info) { return std::string(info.param); });

Words random_words(std::uint32_t seed, std::size_t count = kLanes) {
  std::mt19937 random(seed);
  Words result(count);
  for (auto& word : result) word = random();
  return result;
}

// Loads input word `tid` into %r10, word 32 + tid into %r11 and 64 + tid into %r12.
constexpr const char* kLoad = R"(
    mul.wide.u32 %rd3, %r0, 4;
    add.u64 %rd3, %rd2, %rd3;
    ld.global.u32 %r10, [%rd3];
    ld.global.u32 %r11, [%rd3+128];
    ld.global.u32 %r12, [%rd3+256];
)";
constexpr const char* kStore = "st.global.u32 [%rd1], %r20; ret;";

Words three(const Words& a, const Words& b, const Words& c) {
  Words all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

Words run_on(const std::string& instructions, const Words& a, const Words& b = Words(32),
             const Words& c = Words(32)) {
  return run_body(kLoad + instructions + kStore, {}, three(a, b, c)).output;
}

struct Shuffled {
  std::uint32_t from;
  bool inside;
};

// PTX ISA, "shfl.sync".
Shuffled shuffle_source(const std::string& mode, std::uint32_t lane, std::uint32_t b,
                        std::uint32_t c) {
  const int bval = static_cast<int>(b & 31), cval = static_cast<int>(c & 31);
  const int mask = static_cast<int>(c >> 8 & 31), l = static_cast<int>(lane);
  const int max_lane = (l & mask) | (cval & ~mask), min_lane = l & mask;
  int j = 0;
  bool inside = false;
  if (mode == "up") {
    j = l - bval;
    inside = j >= max_lane;
  } else if (mode == "down") {
    j = l + bval;
    inside = j <= max_lane;
  } else if (mode == "bfly") {
    j = l ^ bval;
    inside = j <= max_lane;
  } else {
    j = min_lane | (bval & ~mask);
    inside = j <= max_lane;
  }
  return {static_cast<std::uint32_t>(inside ? j : l), inside};
}

TEST_P(WarpOps, ShuffleAllModesWithRandomOperands) {
  const Words values = random_words(1);
  for (const char* const mode : {"up", "down", "bfly", "idx"}) {
    for (std::uint32_t round = 0; round < 20; ++round) {
      Words distance = random_words(100 + round), control = random_words(200 + round);
      if (round < 6) {  // what compilers write: segments of 1, 2, .. 32 lanes
        const std::uint32_t width = 1U << round;
        const std::uint32_t clamp = mode == std::string("up") ? 0 : 31;
        std::fill(control.begin(), control.end(), (32 - width) << 8 | clamp);
      }
      const Words result = run_on("shfl.sync." + std::string(mode) + R"(.b32 %r20|%p1, %r10, %r11,
          %r12, 0xffffffff; @%p1 xor.b32 %r20, %r20, 1;)",
                                  values, distance, control);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const auto [from, inside] = shuffle_source(mode, lane, distance[lane], control[lane]);
        EXPECT_EQ(result[lane], values[from] ^ (inside ? 1 : 0)) << mode << " lane " << lane;
      }
    }
  }
}

TEST_P(WarpOps, ShuffleWithoutPredicateIntoItsOwnSource) {
  const Words values = random_words(2);
  const Words result =
      run_on("shfl.sync.bfly.b32 %r10, %r10, 16, 31, -1; mov.b32 %r20, %r10;", values);
  EXPECT_EQ(result, words(32, [&](auto n) { return values[n ^ 16]; }));
  EXPECT_EQ(run_on("shfl.bfly.b32 %r20|%p3, %r10, 16, 31;", values), result);
}

TEST_P(WarpOps, ShuffleLanesThatPartedComeTogether) {
  // They reach the shuffle by different ways; the branch back is taken once.
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 20;
    mov.u32 %r3, 0;
    @%p1 bra LATE;
  MEET:
    shfl.sync.idx.b32 %r20, %r0, 31, 31, 0xffffffff;
    add.u32 %r20, %r20, %r3;
    st.global.u32 [%rd1], %r20;
    ret;
  LATE:
    mov.u32 %r3, 100;
    bra.uni MEET;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 20 ? 131 : 31; }));
  EXPECT_EQ(stores(run.outcome), 1u);
}

TEST_P(WarpOps, ShuffleMembersOnlyWaitForEachOther) {
  const KernelRun run = run_body(R"(
    setp.lt.u32 %p1, %r0, 16;
    selp.b32 %r3, 0xffff, 0xffff0000, %p1;
    shfl.sync.down.b32 %r20, %r0, 1, 31, %r3;
    @%p1 bra LOW;
    shfl.sync.idx.b32 %r21, %r20, 20, 31, 0xffff0000;
    bra.uni STORE;
  LOW:
    shfl.sync.idx.b32 %r21, %r20, 3, 31, 0xffff;
  STORE:
    st.global.u32 [%rd1], %r21;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 16 ? 4 : 21; }));
}

TEST_P(WarpOps, ShuffleDoesNotWaitForLanesThatExitOrNeverWere) {
  const KernelRun run = run_body(R"(
    setp.ge.u32 %p1, %r0, 50;
    @%p1 exit;
    shfl.sync.idx.b32 %r20, %r0, 0, 31, 0xffffffff;
    st.global.u32 [%rd1], %r20;
    ret;
  )",
                                 {{1, 1, 1}, {60, 1, 1}});
  EXPECT_EQ(run.output, words(60, [](auto n) { return n < 32 ? 0 : n < 50 ? 32 : 0; }));
}

TEST_P(WarpOps, VoteAllAnyUniformBallot) {
  for (const std::uint32_t bound : {0u, 1u, 17u, 32u}) {
    const std::string set = "setp.lt.u32 %p1, %r0, " + std::to_string(bound) + ";";
    const auto vote = [&](const std::string& form, const std::string& predicate) {
      return run_body(set + "vote.sync." + form + ".pred %p2, " + predicate +
                      ", -1; selp.u32 %r20, 1, 0, %p2;" + kStore)
          .output;
    };
    const auto all = [](bool value) { return Words(32, value); };
    EXPECT_EQ(vote("all", "%p1"), all(bound == 32));
    EXPECT_EQ(vote("any", "%p1"), all(bound > 0));
    EXPECT_EQ(vote("uni", "%p1"), all(bound == 0 || bound == 32));
    EXPECT_EQ(vote("all", "!%p1"), all(bound == 0));
    const std::uint32_t ballot = bound == 32 ? ~0u : (1u << bound) - 1;
    EXPECT_EQ(run_body(set + "vote.sync.ballot.b32 %r20, %p1, 0xffffffff;" + kStore).output,
              Words(32, ballot));
    EXPECT_EQ(run_body(set + "vote.ballot.b32 %r20, !%p1;" + kStore).output, Words(32, ~ballot));
  }
}

TEST_P(WarpOps, VoteEachGroupOfMembersForItself) {
  // Quarters of the warp, each with a mask of its own.
  const KernelRun run = run_body(R"(
    and.b32 %r3, %r0, 24;
    shl.b32 %r4, 255, %r3;
    and.b32 %r5, %r0, 9;
    setp.eq.u32 %p1, %r5, 9;
    vote.sync.ballot.b32 %r20, %p1, %r4;
    st.global.u32 [%rd1], %r20;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n / 8 % 2 == 1 ? 0xaau << n / 8 * 8 : 0; }));
}

TEST_P(WarpOps, MatchAnyAndAll) {
  const Words values = words(32, [](auto n) { return n % 5 == 0 ? 7 : n / 4; });
  const auto equal = [&](std::size_t lane) {
    std::uint32_t mask = 0;
    for (std::size_t n = 0; n < 32; ++n) mask |= (values[n] == values[lane] ? 1u : 0u) << n;
    return mask;
  };
  EXPECT_EQ(run_on("match.any.sync.b32 %r20, %r10, 0xffffffff;", values), words(32, equal));
  EXPECT_EQ(run_on("cvt.u64.u32 %rd9, %r10; shl.b64 %rd9, %rd9, 20;"
                   "match.any.sync.b64 %r20, %rd9, 0xffffffff;",
                   values),
            words(32, equal));
  const std::string all =
      "match.all.sync.b32 %r20|%p1, %r10, 0xffffffff; @!%p1 or.b32 %r20, %r20, 5;";
  EXPECT_EQ(run_on(all, values), Words(32, 5));
  EXPECT_EQ(run_on(all, Words(32, 9)), Words(32, ~0u));
  // The upper lanes by themselves agree.
  EXPECT_EQ(run_on("setp.lt.u32 %p2, %r0, 28; mov.u32 %r20, 1;"
                   "@!%p2 match.all.sync.b32 %r20, %r10, 0xf0000000;",
                   words(32, [](auto n) { return n < 28 ? n : 3; })),
            words(32, [](auto n) { return n < 28 ? 1u : 0xf0000000u; }));
}

TEST_P(WarpOps, ReductionOfIntegers) {
  const Words values = random_words(3);
  const auto fold = [&](std::uint32_t start, auto function) {
    std::uint32_t result = start;
    for (const std::uint32_t value : values) result = function(result, value);
    return Words(32, result);
  };
  const auto as_signed = [](auto function) {
    return [=](std::uint32_t a, std::uint32_t b) {
      return static_cast<std::uint32_t>(
          function(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
    };
  };
  const auto lower = [](auto a, auto b) { return std::min(a, b); };
  const auto higher = [](auto a, auto b) { return std::max(a, b); };
  const auto reduce = [&](const std::string& form) {
    return run_on("redux.sync." + form + " %r20, %r10, 0xffffffff;", values);
  };
  EXPECT_EQ(reduce("add.u32"), fold(0, std::plus<>()));
  EXPECT_EQ(reduce("add.s32"), fold(0, std::plus<>()));
  EXPECT_EQ(reduce("min.u32"), fold(values[0], lower));
  EXPECT_EQ(reduce("max.u32"), fold(values[0], higher));
  EXPECT_EQ(reduce("min.s32"), fold(values[0], as_signed(lower)));
  EXPECT_EQ(reduce("max.s32"), fold(values[0], as_signed(higher)));
  EXPECT_EQ(reduce("and.b32"), fold(values[0], std::bit_and<>()));
  EXPECT_EQ(reduce("or.b32"), fold(0, std::bit_or<>()));
  EXPECT_EQ(reduce("xor.b32"), fold(0, std::bit_xor<>()));
}

TEST_P(WarpOps, ReductionOfFloats) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  Words values = words(32, [&](auto n) { return bits(static_cast<float>(n) - 20.5f); });
  values[7] = bits(std::numeric_limits<float>::quiet_NaN());
  const auto reduce = [&](const std::string& form) {
    return run_on(
        "mov.b32 %f1, %r10; redux.sync." + form + ".f32 %f2, %f1, 0xffffffff; mov.b32 %r20, %f2;",
        values);
  };
  constexpr std::uint32_t kNan = 0x7fffffff;
  EXPECT_EQ(reduce("min"), Words(32, bits(-20.5f)));
  EXPECT_EQ(reduce("max"), Words(32, bits(10.5f)));
  EXPECT_EQ(reduce("min.abs"), Words(32, bits(0.5f)));
  EXPECT_EQ(reduce("max.abs"), Words(32, bits(20.5f)));
  EXPECT_EQ(reduce("min.NaN"), Words(32, kNan));
  EXPECT_EQ(reduce("max.abs.NaN"), Words(32, kNan));
  values[7] = bits(0.25f);
  EXPECT_EQ(reduce("max.NaN"), Words(32, bits(10.5f)));
}

TEST_P(WarpOps, ActiveMaskIsOfTheLanesThatAreTogether) {
  const KernelRun run = run_body(R"(
    and.b32 %r3, %r0, 1;
    setp.eq.u32 %p1, %r3, 1;
    @%p1 bra ODD;
    activemask.b32 %r20;
    bra.uni STORE;
  ODD:
    activemask.b32 %r20;
  STORE:
    st.global.u32 [%rd1], %r20;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n % 2 == 1 ? 0xaaaaaaaa : 0x55555555; }));
}

TEST_P(WarpOps, ElectOneLeaderOfTheMembers) {
  const KernelRun run = run_body(R"(
    mov.u32 %r20, 99;
    setp.ge.u32 %p2, %r0, 5;
    @%p2 elect.sync %r20|%p1, 0xffffffe0;
    @!%p2 mov.pred %p1, 0;
    @%p1 add.u32 %r20, %r20, 1000;
    st.global.u32 [%rd1], %r20;
    ret;
  )");
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 5 ? 99 : n == 5 ? 1005 : 5; }));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::warp_ops_test
