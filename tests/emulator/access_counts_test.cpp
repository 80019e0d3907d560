// Counts of memory instructions: textbook cases by their known numbers, and any addresses by the
// rules of metrics/counting/counting_rules.h applied to each execution by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/window.h"
#include "metrics/counting/counting_rules.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::access_counts_test {
namespace {

using Role = AccessPlan::Role;
using Space = AccessTotals::Space;
using metrics::AccessKind;

class AccessCounts : public MemoryInstructions {
 protected:
  /// Executes a shared access at stride * lane + shift; what this execution added.
  AccessTotals shared(const std::string& text, int stride, int shift = 0, Mask mask = kAllLanes) {
    bench().fill<std::uint32_t>("%r1", [&](int lane) { return stride * lane + shift; });
    return added(text, mask);
  }
  AccessTotals global(const std::string& text, int stride, int shift = 0, Mask mask = kAllLanes) {
    if (data_ == nullptr) data_ = bench().allocate<std::byte>(1 << 16);
    bench().point("%rd1", data_ + shift, stride);
    return added(text, mask);
  }
  AccessTotals added(const std::string& text, Mask mask = kAllLanes) {
    bench().decode(text);
    const AccessTotals before = bench().totals(text);
    bench().run(text, mask);
    AccessTotals now = bench().totals(text);
    EXPECT_EQ(now.requests - before.requests, 1u);
    now.wavefronts -= before.wavefronts;
    now.wavefronts_ideal -= before.wavefronts_ideal;
    now.sectors -= before.sectors;
    now.sectors_ideal -= before.sectors_ideal;
    now.tags -= before.tags;
    return now;
  }
  std::byte* data_ = nullptr;
};
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(AccessCounts);

constexpr const char* kLoad = "ld.shared.f32 %f1, [%r1];";
constexpr const char* kStore = "st.shared.f32 [%r1], %f1;";

TEST_P(AccessCounts, SharedBankConflictsOfStrides) {
  for (const char* const text : {kLoad, kStore}) {
    for (int repetition = 0; repetition < 2; ++repetition) {
      EXPECT_EQ(shared(text, 4).wavefronts, 1u);
      EXPECT_EQ(shared(text, 8).wavefronts, 2u);
      EXPECT_EQ(shared(text, 128).wavefronts, 32u);  // a column of 32 floats
      EXPECT_EQ(shared(text, 132).wavefronts, 1u);   // the same, padded
      EXPECT_EQ(shared(text, 0).wavefronts, 1u);     // one word for all
      EXPECT_EQ(shared(text, 128, 4, 0xff).wavefronts, 8u);
      EXPECT_EQ(shared(text, 132).wavefronts_ideal, 1u);
    }
  }
}

// More patterns than an access remembers, in turns.
TEST_P(AccessCounts, PatternsThatReturnCostTheSame) {
  const std::string text = "ld.shared.u32 %r0, [%r1];";
  for (int turn = 0; turn < 3; ++turn) {
    for (int stride = 0; stride < 40; ++stride) {
      for (const Mask mask : {kAllLanes, kAllLanes >> stride % 8}) {
        std::uint32_t addresses[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) {
          addresses[lane] = static_cast<std::uint32_t>(4 * stride * lane);
        }
        EXPECT_EQ(shared(text, 4 * stride, 0, mask).wavefronts,
                  metrics::shared_cost(AccessKind::shared_load, 4, addresses, mask).wavefronts)
            << stride;
      }
    }
  }
}

TEST_P(AccessCounts, SharedWidths) {
  EXPECT_EQ(shared("ld.shared.f64 %fd1, [%r1];", 8).wavefronts, 2u);
  EXPECT_EQ(shared("ld.shared.f64 %fd1, [%r1];", 8).wavefronts_ideal, 2u);
  EXPECT_EQ(shared("ld.shared.v2.f32 {%f1, %f2}, [%r1];", 8).wavefronts, 2u);
  EXPECT_EQ(shared("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];", 16).wavefronts, 4u);
  EXPECT_EQ(shared("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];", 16).wavefronts_ideal, 4u);
  EXPECT_EQ(shared("ld.shared.u8 %rs1, [%r1];", 1).wavefronts, 1u);
  EXPECT_EQ(shared("st.shared.u8 [%r1], %rs1;", 4, 3).wavefronts, 1u);
}

TEST_P(AccessCounts, GlobalSectors) {
  const std::string load = "ld.global.f32 %f1, [%rd1];";
  for (int repetition = 0; repetition < 2; ++repetition) {
    const AccessTotals coalesced = global(load, 4);
    EXPECT_EQ(coalesced.space, Space::global_load);
    EXPECT_EQ(coalesced.sectors, 4u);
    EXPECT_EQ(coalesced.sectors_ideal, 4u);
    EXPECT_EQ(coalesced.tags, 1u);
    const AccessTotals shifted = global(load, 4, 4);
    EXPECT_EQ(shifted.sectors, 5u);
    EXPECT_EQ(shifted.sectors_ideal, 4u);
    EXPECT_EQ(shifted.tags, 2u);
    EXPECT_EQ(global(load, 4, 64).tags, 2u);
    EXPECT_EQ(global(load, 4, 128).tags, 1u);
    EXPECT_EQ(global(load, 8).sectors, 8u);
    EXPECT_EQ(global(load, 128).sectors, 32u);
    EXPECT_EQ(global(load, 128).sectors_ideal, 4u);
    EXPECT_EQ(global(load, 0).sectors, 1u);
    EXPECT_EQ(global(load, 0).sectors_ideal, 1u);
    EXPECT_EQ(global(load, 4, 0, 0xff).sectors, 1u);
  }
  EXPECT_EQ(global("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", 16).sectors, 16u);
  EXPECT_EQ(global("st.global.f32 [%rd1], %f1;", 4).space, Space::global_store);
  EXPECT_EQ(global("st.global.u8 [%rd1], %rs1;", 1).sectors, 1u);
  EXPECT_EQ(global("red.global.add.u32 [%rd1], %r2;", 4).space, Space::global_atomic);
  EXPECT_EQ(global("red.global.add.u32 [%rd1], %r2;", 4).sectors, 4u);
}

// A remembered pattern may lack bits of the addresses, but none that the cost depends
// on.
TEST_P(AccessCounts, ALoopThatWalksThroughMemoryCostsWhatEachRoundDoes) {
  const std::string load = "ld.global.u32 %r2, [%rd1];";
  for (const int stride : {0, 4, 8, 12, 32, 36, 64, 96, 100, 128, 132, 256, 392, -4, -32, -128}) {
    for (int shift = 0; shift < 256; shift += 4) {
      const int first = shift + (stride < 0 ? -31 * stride : 0);
      const AccessTotals now = global(load, stride, first);
      const auto cost = metrics::global_cost(4, bench().reg<std::uint64_t>("%rd1"), kAllLanes);
      ASSERT_EQ(now.sectors, cost.sectors) << stride << " " << shift;
      ASSERT_EQ(now.tags, cost.tags) << stride << " " << shift;
    }
  }
}

TEST_P(AccessCounts, LocalSectors) {
  const std::string load = "ld.local.u32 %r2, [%rd1];";
  bench().fill<std::uint64_t>("%rd1", [](int) { return 8; });
  EXPECT_EQ(added(load).sectors, 4u);  // words of 32 lanes lie next to each other
  EXPECT_EQ(added(load).space, Space::local);
  EXPECT_EQ(added("st.local.u8 [%rd1], %rs1;").sectors, 4u);
  EXPECT_EQ(added("ld.local.u64 %rd2, [%rd1];").sectors, 8u);
  bench().fill<std::uint64_t>("%rd1", [](int lane) { return 4 * lane; });
  EXPECT_EQ(added(load).sectors, 32u);
}

TEST_P(AccessCounts, SharedAtomics) {
  const std::string add = "atom.shared.add.u32 %r2, [%r1], 1;";
  EXPECT_EQ(shared(add, 4).wavefronts, 1u);
  EXPECT_EQ(shared(add, 0).wavefronts, 32u);  // one after the other
  EXPECT_EQ(shared("atom.shared.cas.b32 %r2, [%r1], 1, 2;", 4).wavefronts, 2u);
  bench().plan = {Role::one_for_all};
  EXPECT_EQ(shared("red.shared.add.u32 [%r1], 1;", 0).wavefronts, 1u);
}

TEST_P(AccessCounts, LoopsOfCompareAndSwap) {
  bench().plan = {Role::compare_and_swap};
  const std::string add = "red.shared.add.f32 [%r1], %f1;";
  EXPECT_EQ(shared(add, 4).wavefronts, 1u + 2u);
  // One lane succeeds in each of 32 rounds, in which n lanes load one word and try.
  std::uint64_t rounds = 0;
  for (std::uint64_t n = 1; n <= 32; ++n) rounds += 1 + 2 * n;
  EXPECT_EQ(shared(add, 0).wavefronts, rounds);
  const AccessTotals totals = bench().totals(add);
  EXPECT_EQ(totals.estimates, 2u);
  EXPECT_FALSE(totals.estimate_reason.empty());
}

TEST_P(AccessCounts, LeadersCountAsTheWideAccessAndItsPartsNothing) {
  // Four loads of a row of 4 floats a lane, which SASS does by one of 16 bytes.
  bench().plan = {Role::leader, 16};
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 16 * lane; });
  const AccessTotals leader = added("ld.shared.f32 %f1, [%r1+8];");
  EXPECT_EQ(leader.wavefronts, 4u);
  EXPECT_EQ(leader.wavefronts_ideal, 4u);
  bench().plan = {Role::absorbed};
  bench().run("ld.shared.f32 %f2, [%r1+4];");
  EXPECT_EQ(bench().totals("ld.shared.f32 %f2, [%r1+4];").space, Space::none);
  bench().plan = {};
  EXPECT_EQ(added("ld.shared.f32 %f3, [%r1];").wavefronts, 4u);  // stride 4: 4-way conflicts
}

TEST_P(AccessCounts, LeadersAreRoundedDownWhereverTheyAre) {
  bench().plan = {Role::leader, 8};
  const std::string text = "ld.shared.f32 %f1, [%r1];";
  for (const int shift : {0, 4, 8, 12}) {
    std::uint32_t addresses[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) addresses[lane] = (4 * lane + shift) & ~7u;
    const metrics::SharedCost cost =
        metrics::shared_cost(AccessKind::shared_load, 8, addresses, kAllLanes);
    EXPECT_EQ(shared(text, 4, shift).wavefronts, cost.wavefronts) << shift;
  }
}

TEST_P(AccessCounts, APartCountsByItsWidthInTheSameSectors) {
  bench().plan = {Role::leader, 4};
  const AccessTotals part = global("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", 16);
  EXPECT_EQ(part.sectors, 16u);
  EXPECT_EQ(part.sectors_ideal, 4u);
}

TEST_P(AccessCounts, GroupsOf8LanesAreCounted) {
  const std::string text = "ld.global.f32 %f1, [%rd1];";
  EXPECT_EQ(global(text, 4).lane_groups, 4u);
  EXPECT_EQ(global(text, 4, 0, 0x00010081).lane_groups, 4u + 2u);
}

TEST_P(AccessCounts, GenericAccessesCountWhereTheyFall) {
  auto* const data = bench().allocate<std::uint32_t>(32);
  bench().fill<std::uint64_t>("%rd1", [&](int lane) {
    return lane < 16 ? reinterpret_cast<std::uint64_t>(data + lane)
                     : window_base(Window::shared) + 128 * static_cast<std::uint64_t>(lane);
  });
  const std::string text = "ld.u32 %r2, [%rd1];";
  for (int i = 0; i < 3; ++i) bench().run(text);
  const AccessTotals global = bench().totals(text, 0), shared = bench().totals(text, 1);
  EXPECT_EQ(global.requests, 3u);
  EXPECT_EQ(global.sectors, 3 * 2u);
  EXPECT_EQ(shared.requests, 3u);
  EXPECT_EQ(shared.wavefronts, 3 * 16u);
  EXPECT_EQ(bench().totals(text, 2).space, Space::none);
}

/// Random addresses that often repeat or only move, as kernels' do.
class RandomAddresses {
 public:
  explicit RandomAddresses(std::uint32_t width, std::uint32_t range)
      : width_(width), units_(range / width) {}
  const std::vector<std::uint32_t>& next() {
    switch (random_() % 4) {
      case 0:
        for (auto& address : addresses_) address = width_ * (random_() % units_);
        break;
      case 1: {
        const std::uint32_t stride = random_() % 40, first = random_() % 64;
        for (std::uint32_t l = 0; l < kLanes; ++l) addresses_[l] = width_ * (first + stride * l);
        break;
      }
      case 2: {  // the same distances from another place
        const std::uint32_t lowest = *std::min_element(addresses_.begin(), addresses_.end());
        const std::uint32_t to = width_ * (random_() % 64);
        for (auto& address : addresses_) address += to - lowest;
        break;
      }
      default:
        break;
    }
    return addresses_;
  }
  Mask mask() { return random_() % 2 == 0 ? kAllLanes : static_cast<Mask>(random_() | 1 << 9); }

 private:
  std::mt19937 random_{42};
  std::uint32_t width_, units_;
  std::vector<std::uint32_t> addresses_ = std::vector<std::uint32_t>(kLanes, 0);
};

struct Form {
  const char* text;
  AccessKind kind;
  std::uint32_t width;
};

TEST_P(AccessCounts, SharedAccessesAreTheSumOfTheirExecutions) {
  const Form forms[] = {
      {"ld.shared.u8 %rs1, [%r1];", AccessKind::shared_load, 1},
      {"ld.shared.u16 %rs1, [%r1];", AccessKind::shared_load, 2},
      {"ld.shared.u32 %r2, [%r1];", AccessKind::shared_load, 4},
      {"ld.shared.u64 %rd1, [%r1];", AccessKind::shared_load, 8},
      {"ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];", AccessKind::shared_load, 16},
      {"st.shared.u16 [%r1], %rs1;", AccessKind::shared_store, 2},
      {"st.shared.u32 [%r1], %r2;", AccessKind::shared_store, 4},
      {"st.shared.v2.u64 [%r1], {%rd1, %rd2};", AccessKind::shared_store, 16},
      {"red.shared.add.u32 [%r1], 2;", AccessKind::shared_atomic, 4},
      {"atom.shared.cas.b64 %rd1, [%r1], 2, 3;", AccessKind::shared_cas, 8},
  };
  for (const Form& form : forms) {
    RandomAddresses addresses(form.width, MemoryBench::kSharedBytes / 4);
    AccessTotals expected;
    bench().context.shared_bytes = 1 << 20;  // only counts matter, so the memory is not ours
    std::vector<std::byte> memory(1 << 20);
    bench().context.shared =
        memory.data() + (-reinterpret_cast<std::uintptr_t>(memory.data()) & 63);
    for (int i = 0; i < 400; ++i) {
      const auto& next = addresses.next();
      const Mask mask = addresses.mask();
      std::copy(next.begin(), next.end(), bench().reg<std::uint32_t>("%r1"));
      const auto cost =
          metrics::shared_cost(form.kind, static_cast<int>(form.width), next.data(), mask);
      ++expected.requests;
      expected.wavefronts += cost.wavefronts;
      expected.wavefronts_ideal += cost.ideal;
      expected.estimates += cost.exact ? 0 : 1;
      bench().run(form.text, mask);
    }
    const AccessTotals totals = bench().totals(form.text);
    EXPECT_EQ(totals.requests, expected.requests) << form.text;
    EXPECT_EQ(totals.wavefronts, expected.wavefronts) << form.text;
    EXPECT_EQ(totals.wavefronts_ideal, expected.wavefronts_ideal) << form.text;
    EXPECT_EQ(totals.estimates, expected.estimates) << form.text;
  }
}

TEST_P(AccessCounts, GlobalAccessesAreTheSumOfTheirExecutions) {
  const Form forms[] = {{"ld.global.u8 %rs1, [%rd1];", {}, 1},
                        {"ld.global.u32 %r2, [%rd1];", {}, 4},
                        {"st.global.u16 [%rd1], %rs1;", {}, 2},
                        {"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];", {}, 16},
                        {"ld.global.v4.b64 {%rd2, %rd3, %rd4, %rd5}, [%rd1];", {}, 32},
                        {"red.global.add.u64 [%rd1], 1;", {}, 8}};
  auto* const data = bench().allocate<std::byte>(1 << 18);
  for (const Form& form : forms) {
    RandomAddresses addresses(form.width, 8192);
    AccessTotals expected;
    for (int i = 0; i < 400; ++i) {
      const auto& next = addresses.next();
      const Mask mask = addresses.mask();
      auto* const pointers = bench().reg<std::uint64_t>("%rd1");
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        pointers[lane] = reinterpret_cast<std::uint64_t>(data) + next[lane];
      }
      const auto cost = metrics::global_cost(static_cast<int>(form.width), pointers, mask);
      expected.sectors += cost.sectors;
      expected.sectors_ideal += cost.ideal;
      expected.tags += cost.tags;
      bench().run(form.text, mask);
    }
    const AccessTotals totals = bench().totals(form.text);
    EXPECT_EQ(totals.requests, 400u);
    EXPECT_EQ(totals.sectors, expected.sectors) << form.text;
    EXPECT_EQ(totals.sectors_ideal, expected.sectors_ideal) << form.text;
    EXPECT_EQ(totals.tags, expected.tags) << form.text;
  }
}

TEST_P(AccessCounts, LocalAccessesAreTheSumOfTheirExecutions) {
  for (const std::uint32_t width : {1u, 4u, 8u}) {
    const std::string text = width == 1   ? "ld.local.u8 %rs1, [%rd1];"
                             : width == 4 ? "ld.local.u32 %r1, [%rd1];"
                                          : "ld.local.u64 %rd2, [%rd1];";
    std::mt19937 random(3);
    std::uint64_t expected = 0;
    std::uint32_t offsets[kLanes] = {};
    for (int i = 0; i < 300; ++i) {
      const std::uint32_t first = width * (random() % 4);
      const bool again = random() % 2 == 0;
      for (auto& offset : offsets) {
        offset = again ? first : width * (random() % (MemoryBench::kLocalBytes / width));
      }
      const Mask mask = i % 3 == 0 ? static_cast<Mask>(random() | 1) : kAllLanes;
      bench().fill<std::uint64_t>("%rd1", [&](int lane) { return offsets[lane]; });
      expected += metrics::local_sectors(static_cast<int>(width), offsets, mask);
      bench().run(text, mask);
    }
    EXPECT_EQ(bench().totals(text).sectors, expected) << text;
  }
}

TEST(Counters, AddUpOverWorkers) {
  AccessTotals sum;
  add(sum, {});
  EXPECT_EQ(sum.space, Space::none);
  const AccessTotals part{.space = Space::shared,
                          .requests = 2,
                          .wavefronts = 5,
                          .wavefronts_ideal = 3,
                          .estimates = 1,
                          .estimate_reason = "why"};
  add(sum, part);
  add(sum, {});
  add(sum, part);
  EXPECT_EQ(sum.space, Space::shared);
  EXPECT_EQ(sum.requests, 4u);
  EXPECT_EQ(sum.wavefronts, 10u);
  EXPECT_EQ(sum.wavefronts_ideal, 6u);
  EXPECT_EQ(sum.estimates, 2u);
  EXPECT_EQ(sum.estimate_reason, "why");
}

TEST(AccessTotals, OfWorkersAreAddedUp) {
  const AccessTotals more = {.space = Space::bulk_load,
                             .requests = 1,
                             .wavefronts = 2,
                             .wavefronts_ideal = 3,
                             .sectors = 4,
                             .sectors_ideal = 5,
                             .bytes = 6,
                             .tags = 7,
                             .lane_groups = 8,
                             .estimates = 9,
                             .estimate_reason = "open"};
  AccessTotals sum;
  add(sum, {});
  EXPECT_EQ(sum.space, Space::none);
  add(sum, more);
  add(sum, more);
  EXPECT_EQ(sum.space, Space::bulk_load);
  EXPECT_THAT((std::array{sum.requests, sum.wavefronts, sum.wavefronts_ideal, sum.sectors,
                          sum.sectors_ideal, sum.bytes, sum.tags, sum.lane_groups, sum.estimates}),
              testing::ElementsAre(2, 4, 6, 8, 10, 12, 14, 16, 18));
  EXPECT_EQ(sum.estimate_reason, "open");
}

}  // namespace
}  // namespace warpgauge::emulator::machine::access_counts_test
