// Launches of one kernel after the other, whose counters are used again.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/counting/access_table.h"
#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::relaunch_test {
namespace {

/// Word 0 of the input chooses the way, word 1 the stride of its accesses to shared memory.
constexpr const char* kTwoWays = R"(
  .loc 1 10 0
  ld.global.v2.u32 {%r3, %r4}, [%rd2];
  setp.eq.u32 %p0, %r3, 0;
  mul.lo.u32 %r5, %r0, %r4;
  shl.b32 %r5, %r5, 2;
  and.b32 %r5, %r5, 4095;
  mov.u32 %r6, tile;
  add.u32 %r6, %r6, %r5;
  @%p0 bra OTHER;
  .loc 1 20 0
  st.shared.u32 [%r6], %r0;
  ld.shared.u32 %r7, [%r6];
  bra.uni END;
OTHER:
  .loc 1 30 0
  atom.shared.add.u32 %r7, [%r6], 1;
END:
  setp.lt.u32 %p1, %r0, 40;
  @%p1 st.global.u32 [%rd1], %r7;)";

/// The kernel in a machine of its own.
class Kept {
 public:
  explicit Kept(int threads = 1) : machine_({}, options(threads)) {
    const std::string text = kernel_text(kTwoWays, R"(.file 1 "/a/k.cu"
.shared .align 128 .b8 tile[4096];
)");
    kernel_ = machine_.find_kernel(machine_.load(ptx::parse(text, "test.ptx")), "k");
    for (std::byte** memory : {&output_, &input_}) {
      *memory = machine_.memory().allocate(kBytes, memory::Memory::Kind::device, "words");
      std::memset(*memory, 0, kBytes);
      machine_.memory().note_written(*memory, kBytes);
    }
  }

  LaunchOutcome launch(std::uint32_t way, std::uint32_t stride) {
    const std::array<std::uint32_t, 2> words = {way, stride};
    std::memcpy(input_, words.data(), sizeof words);
    const std::array<const std::byte*, 2> pointers = {output_, input_};
    return machine_.run(
        *kernel_,
        {.grid = {6, 1, 1}, .block = {64, 1, 1}, .parameters = std::as_bytes(std::span(pointers))});
  }

 private:
  static constexpr std::size_t kBytes = 4096;

  static Options options(int threads) {
    Options options = limited();
    options.threads = threads;
    return options;
  }

  Machine machine_;
  Kernel* kernel_ = nullptr;
  std::byte *output_ = nullptr, *input_ = nullptr;
};

void expect_same(const LaunchOutcome& outcome, const LaunchOutcome& other) {
  EXPECT_EQ(outcome.warp_instructions, other.warp_instructions);
  EXPECT_EQ(divergent(outcome), divergent(other));
  ASSERT_EQ(outcome.totals.size(), other.totals.size());
  for (std::size_t n = 0; n < outcome.totals.size(); ++n) {
    const AccessTotals &a = outcome.totals[n].access, &b = other.totals[n].access;
    EXPECT_EQ(outcome.totals[n].text_line, other.totals[n].text_line);
    EXPECT_EQ(a.space, b.space);
    EXPECT_EQ(a.requests, b.requests);
    EXPECT_EQ(a.wavefronts, b.wavefronts);
    EXPECT_EQ(a.wavefronts_ideal, b.wavefronts_ideal);
    EXPECT_EQ(a.sectors, b.sectors);
    EXPECT_EQ(a.lane_groups, b.lane_groups);
    EXPECT_EQ(a.estimates, b.estimates);
    EXPECT_EQ(a.estimate_reason, b.estimate_reason);
  }
  ASSERT_EQ(outcome.records.size(), other.records.size());
  for (std::size_t n = 0; n < outcome.records.size(); ++n) {
    const metrics::WarpAccess &a = outcome.records[n].access, &b = other.records[n].access;
    EXPECT_EQ(outcome.records[n].text_line, other.records[n].text_line);
    EXPECT_EQ(a.taken, b.taken);
    EXPECT_EQ(a.mask, b.mask);
    EXPECT_EQ(a.block_number, b.block_number);
    EXPECT_EQ(a.warp, b.warp);
    EXPECT_TRUE(!a.is_shared() || a.addresses == b.addresses);
  }
}

TEST(Relaunch, CountsAsTheFirstLaunchOfAMachine) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kLaunches[] = {{1, 8}, {1, 1}, {0, 2}, {0, 2},
                                                                   {1, 8}, {0, 0}, {1, 32}};
  for (const int threads : {1, 3}) {
    Kept kept(threads);
    for (const auto& [way, stride] : kLaunches) {
      SCOPED_TRACE(std::to_string(way) + ", stride " + std::to_string(stride));
      expect_same(kept.launch(way, stride), Kept().launch(way, stride));
    }
  }
}

TEST(Relaunch, CountsTheSameWhenManyOtherKernelsWereLaunchedMeanwhile) {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (int n = 0; n < 12; ++n) {
    text += ".visible .entry k" + std::to_string(n) + R"(() {
  .shared .align 4 .b32 word;
  st.shared.u32 [word], 1;
  ret;
})";
  }
  Machine machine({}, limited());
  Program& program = machine.load(ptx::parse(text, "test.ptx"));
  for (int round = 0; round < 3; ++round) {
    for (int n = 0; n < 12; ++n) {
      Kernel* const kernel = machine.find_kernel(program, "k" + std::to_string(n));
      const LaunchOutcome outcome = machine.run(*kernel, {.grid = {3, 1, 1}});
      EXPECT_EQ(totals_of(outcome, AccessTotals::Space::shared).requests, 3u);
    }
  }
}

TEST(Relaunch, OutcomesKeepTheirLinesWhenTheMachineIsGone) {
  counting::CountTable counts;
  counting::AccessTable accesses;
  const auto trust = std::make_shared<counting::KernelTrust>();
  {
    std::optional<Kept> kept(std::in_place);
    for (const std::uint32_t way : {0, 1, 1}) {
      const LaunchOutcome outcome = kept->launch(way, 1);
      if (way == 1) kept.emplace();
      counts.add("k", outcome, trust);
      accesses.add("k", outcome, *trust);
    }
  }
  std::vector<std::pair<int, std::uint64_t>> requests;
  for (const metrics::LineCounts& line : counts.take()) {
    if (line.line == 0) continue;  // the whole kernel
    EXPECT_EQ(line.file, "/a/k.cu");
    requests.emplace_back(line.line, line.counts.shared_requests);
  }
  EXPECT_EQ(requests, (std::vector<std::pair<int, std::uint64_t>>{{10, 0}, {20, 48}, {30, 12}}));
  EXPECT_EQ(accesses.take().size(), 4u);
}

TEST(Relaunch, TablesBeginAnewWhenTheyWereTaken) {
  Kept kept;
  counting::CountTable counts;
  counting::AccessTable accesses;
  const auto trust = std::make_shared<counting::KernelTrust>();
  for (const std::uint64_t launches : {1, 2}) {
    for (std::uint64_t n = 0; n < launches; ++n) {
      const LaunchOutcome outcome = kept.launch(1, 1);
      counts.add("k", outcome, trust);
      accesses.add("k", outcome, *trust);
    }
    const std::vector<metrics::LineCounts> lines = counts.take();
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[2].line, 20);
    EXPECT_EQ(lines[2].counts.shared_requests, 24 * launches);
    EXPECT_EQ(accesses.take().size(), 3u);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::relaunch_test
