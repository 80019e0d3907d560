// Loads that no store of their launch can race with: where pointers lead, and what the history of
// accesses leaves out.
#include "harness/emulator/machine/settled_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/program.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::settled_reads_test {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Not;

/// Whether each load of a kernel that has two allocations, `output` and `input`, is settled.
class Reads {
 public:
  /// `beyond`: so far behind its allocation the pointer to the output points.
  explicit Reads(std::string_view body, std::string_view items = "", std::size_t beyond = 0) {
    Program& program = machine_.load(ptx::parse(kernel_text(body, items), "test.ptx"));
    Kernel* const kernel = machine_.find_kernel(program, "k");
    machine_.prepare(*kernel);
    std::array<std::byte*, 2> parameters{};
    for (std::byte*& parameter : parameters) {
      parameter = machine_.memory().allocate(256, memory::Memory::Kind::device, "memory");
    }
    parameters[0] += beyond;
    const Launch launch{.parameters = std::as_bytes(std::span(parameters))};
    const std::vector<bool> settled = settled_reads(*kernel, launch, machine_.memory());
    if (settled.empty()) return;  // none is
    for (const auto& [position, roots] : kernel->pointers->loads) {
      for (std::size_t n = 0; n < kernel->code->counters.size(); ++n) {
        if (kernel->code->counters[n].instruction == position) are_settled_.push_back(settled[n]);
      }
    }
  }

  /// None where no load is.
  const std::vector<bool>& are_settled() const { return are_settled_; }

 private:
  Machine machine_{Architecture{}, limited()};
  std::vector<bool> are_settled_;
};

constexpr const char* kStore = "st.global.u32 [%rd1], %r3;";

std::string loading_from(std::string_view pointer) {
  return std::string(pointer) + "ld.global.u32 %r3, [%rd5];" + kStore;
}

TEST(SettledReads, AreOfAllocationsThatTheLaunchDoesNotWrite) {
  const std::string ways[] = {
      "mov.u64 %rd5, %rd2;",
      "add.s64 %rd5, %rd2, 64;",
      "mul.wide.u32 %rd4, %r0, 4; add.s64 %rd5, %rd4, %rd2;",
      "cvta.to.global.u64 %rd5, %rd2;",
      // A number from memory is an index.
      "ld.global.u32 %r4, [%rd2]; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd5, %rd2, %rd4;",
      "setp.eq.u32 %p1, %r0, 0; add.s64 %rd4, %rd2, 4; selp.b64 %rd5, %rd2, %rd4, %p1;",
  };
  for (const std::string& way : ways) {
    const Reads reads(loading_from(way));
    EXPECT_THAT(reads.are_settled(), Not(IsEmpty())) << way;
    EXPECT_THAT(reads.are_settled(), Each(true)) << way;
  }
}

TEST(SettledReads, AreNoneWhereAPointerMayLeadToWhatIsWritten) {
  const std::string ways[] = {
      "mov.u64 %rd5, %rd0;",
      "add.s64 %rd5, %rd0, 64;",
      "setp.eq.u32 %p1, %r0, 0; selp.b64 %rd5, %rd2, %rd0, %p1;",
      // In a loop the second round has another pointer.
      "mov.u64 %rd5, %rd2; L: ld.global.u32 %r3, [%rd5]; mov.u64 %rd5, %rd0; @%p1 bra L;",
      // From memory, and from two halves.
      "ld.global.u64 %rd5, [%rd2];",
      "ld.global.v2.u64 {%rd5, %rd6}, [%rd2];",
      "mov.b64 {%r4, %r5}, %rd2; mov.b64 %rd5, {%r4, %r5};",
      "ld.param.v2.u32 {%r4, %r5}, [input]; mov.b64 %rd5, {%r4, %r5};",
      "atom.global.exch.b64 %rd5, [%rd2], 0;",
      // From a number: no allocation is there.
      "mov.u64 %rd5, 4096;",
  };
  for (const std::string& way : ways) {
    EXPECT_THAT(Reads(loading_from(way)).are_settled(), testing::Not(Each(true))) << way;
  }
}

TEST(SettledReads, AreNoneWhereItIsNotKnownWhatIsWritten) {
  const std::string ways[] = {
      "ld.global.u64 %rd6, [%rd2]; st.global.u32 [%rd6], 1;",
      "ld.global.u64 %rd6, [%rd2]; st.u32 [%rd6], 1;",
      "ld.global.u64 %rd6, [%rd2]; red.global.add.u32 [%rd6], 1;",
      "ld.global.u64 %rd6, [%rd2]; atom.global.add.u32 %r4, [%rd6], 1;",
  };
  for (const std::string& way : ways) {
    EXPECT_THAT(Reads(loading_from("mov.u64 %rd5, %rd2;" + way)).are_settled(), IsEmpty()) << way;
  }
}

TEST(SettledReads, OfReadOnlyLoadsAreLikeOthers) {
  const auto load = [](std::string_view pointer) {
    return std::string("ld.global.nc.u32 %r3, [") + std::string(pointer) + "];" + kStore;
  };
  EXPECT_THAT(Reads(load("%rd2")).are_settled(), testing::ElementsAre(true));
  EXPECT_THAT(Reads(load("%rd0")).are_settled(), testing::ElementsAre(false));
}

TEST(SettledReads, AreNoneWhereAPointerIsTheEndOfAnArray) {
  const std::string store =
      "add.s64 %rd6, %rd1, -4; sub.s64 %rd7, %rd6, %rd2; add.s64 %rd7, %rd7, %rd2;"
      "st.global.u32 [%rd7], %r3;";
  EXPECT_THAT(Reads("ld.global.u32 %r3, [%rd2];" + store, "", 256).are_settled(), IsEmpty());
}

TEST(SettledReads, AreNotDisturbedByStoresToSharedMemory) {
  const Reads reads(loading_from(R"(
    .shared .align 4 .b8 tile[256];
    mov.u32 %r5, tile; st.shared.u32 [%r5], %r0;
    mov.u64 %rd7, tile; cvta.shared.u64 %rd7, %rd7; st.u32 [%rd7], %r0;
    mov.u64 %rd5, %rd2;
  )"));
  EXPECT_THAT(reads.are_settled(), testing::ElementsAre(true));
}

TEST(SettledReads, KnowVariables) {
  constexpr const char* kItems = ".global .align 4 .u32 read[8]; .global .align 4 .u32 both[8];\n";
  EXPECT_THAT(Reads("ld.global.u32 %r3, [read]; st.global.u32 [both], %r3;", kItems).are_settled(),
              testing::ElementsAre(true));
  EXPECT_THAT(
      Reads("ld.global.u32 %r3, [both]; st.global.u32 [both+4], %r3;", kItems).are_settled(),
      testing::ElementsAre(false));
}

TEST(SettledReads, AreNoneOfAFunctionThatWrites) {
  constexpr const char* kItems =
      ".func f(.param .u64 at) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [at];"
      " st.global.u32 [%rd1], 1; ret; }\n";
  EXPECT_THAT(Reads("{ .param .u64 at; st.param.u64 [at], %rd0; call f, (at); }" +
                        loading_from("mov.u64 %rd5, %rd2;"),
                    kItems)
                  .are_settled(),
              IsEmpty());
}

/// The races that a launch is asked for though its options name no check.
std::vector<Finding> quiet_races(const std::string& body) {
  Options options = limited();
  options.threads = 1;
  options.checks = checks_called("none");
  LoadedKernel kernel(kernel_text(body), {.grid = {2, 1, 1}}, {1, 2, 3, 4}, options);
  std::vector<Finding> races, findings;
  Launch launch = kernel.launch();
  launch.races = &races;
  launch.findings = &findings;
  kernel.run(launch);
  EXPECT_THAT(findings, IsEmpty()) << "nobody asked for them";
  return races;
}

TEST(QuietRaces, AreFoundWhereOthersWriteWhatIsRead) {
  const auto races = quiet_races("ld.global.u32 %r3, [%rd0]; st.global.u32 [%rd1], %r1;");
  ASSERT_THAT(races, testing::SizeIs(1));
  EXPECT_EQ(races[0].rule, "race");
}

TEST(QuietRaces, AreNoneWhereNobodyWritesWhatIsRead) {
  EXPECT_THAT(quiet_races("ld.global.u32 %r3, [%rd2]; st.global.u32 [%rd1], %r1;"), IsEmpty());
  EXPECT_THAT(quiet_races("ld.global.u32 %r3, [%rd1]; st.global.u32 [%rd1], %r1;"), IsEmpty());
}

}  // namespace
}  // namespace warpgauge::emulator::machine::settled_reads_test
