// Barriers that would cure a race are tried, and told if they do.
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
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "harness/emulator/runtime/copy_of_process.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::barrier_trial_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// Two launches of one block. %r4 is the shared address of the thread's word, %r5 that of
/// its opposite's, %rd0 points to a word of global memory, which is 0 at first.
class Launched {
 public:
  explicit Launched(const std::string& body, std::string_view checks = "races",
                    std::uint32_t threads = 64) {
    Options options = limited();
    options.threads = 1;
    options.checks = checks_called(checks);
    Machine machine(Architecture{}, options);
    const std::string text = kernel_text(R"(
      .shared .align 4 .b8 tile[256];
      mov.u32 %r3, tile;
      mad.lo.u32 %r4, %r0, 4, %r3;
      xor.b32 %r5, %r0, 63;
      mad.lo.u32 %r5, %r5, 4, %r3;
    )" + body) + ".file 1 \"f.cu\"\n";
    Program& program = machine.load(ptx::parse(text, "test.ptx"));
    std::byte* const word = machine.memory().allocate(4, memory::Memory::Kind::device, "word");
    std::memset(word, 0, 4);
    const std::array<const std::byte*, 2> parameters = {word, word};
    std::vector<Finding> findings;
    const Launch launch{.grid = {1, 1, 1},
                        .block = {threads, 1, 1},
                        .parameters = std::as_bytes(std::span(parameters)),
                        .findings = &findings};
    Kernel& kernel = *machine.find_kernel(program, "k");
    for (std::vector<std::string>& texts : texts_) {
      findings.clear();
      machine.run(kernel, launch);
      std::memcpy(&word_, word, 4);
      machine.try_barriers(kernel, launch, runtime::holds_in_copy, findings);
      std::uint32_t now = 0;
      std::memcpy(&now, word, 4);
      EXPECT_EQ(now, word_) << "what is tried leaves memory as it is";
      for (const Finding& finding : findings) texts.push_back(finding.text);
    }
  }

  /// Of the first launch.
  const std::vector<std::string>& texts() const { return texts_[0]; }
  const std::vector<std::string>& texts_of_second() const { return texts_[1]; }

 private:
  std::array<std::vector<std::string>, 2> texts_;
  std::uint32_t word_ = 0;
};

/// A line of f.cu.
std::string line(int number, const std::string& code) {
  return ".loc 1 " + std::to_string(number) + " 0\n" + code + "\n";
}

TEST(BarrierTrial, InFrontOfTheLaterLineIsTold) {
  const Launched launched(line(3, "st.shared.u32 [%r4], %r0;") +
                          line(4, "ld.shared.u32 %r6, [%r5];"));
  EXPECT_THAT(launched.texts(),
              Each(EndsWith("no __syncthreads() stands between; tried: with a __syncthreads() in "
                            "front of f.cu:4 this finding is gone")));
  EXPECT_THAT(launched.texts(), SizeIs(2)) << "each line before the other one";
  EXPECT_EQ(launched.texts_of_second(), launched.texts());
}

TEST(BarrierTrial, InOneLineIsToldAsSuch) {
  EXPECT_THAT(Launched(line(3, "ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r4], %r6;")).texts(),
              ElementsAre(HasSubstr("with a __syncthreads() between the two accesses of f.cu:3")));
}

TEST(BarrierTrial, OfABlockThatIsNoMultipleOfAWarpIsTold) {
  const Launched launched(
      line(3, "st.shared.u32 [%r4], %r0;") + line(4, "ld.shared.u32 %r6, [%r5];"), "races", 48);
  EXPECT_THAT(launched.texts(), Each(HasSubstr("with a __syncthreads() in front of f.cu:4")));
  EXPECT_THAT(launched.texts(), Not(IsEmpty()));
}

TEST(BarrierTrial, RoundALoopIsFound) {
  // What a thread reads in one round another one writes in the next.
  const std::string loop = "mov.u32 %r7, 0;\nAGAIN:\n" + line(3, "st.shared.u32 [%r4], %r7;") +
                           line(4, "bar.sync 0;") + line(5, "ld.shared.u32 %r6, [%r5];") +
                           line(6, "add.u32 %r7, %r7, 1; setp.lt.u32 %p0, %r7, 4;") +
                           "@%p0 bra AGAIN;\n";
  EXPECT_THAT(Launched(loop).texts(),
              Each(HasSubstr("tried: with a __syncthreads() in front of f.cu:3 this finding")));
  EXPECT_THAT(Launched(loop).texts(), Not(IsEmpty()));
}

TEST(BarrierTrial, StandsAtAllCopiesOfALine) {
  std::string unrolled;
  for (int round = 0; round < 3; ++round) {
    unrolled += line(3, "st.shared.u32 [%r4], %r0;") + line(4, "bar.sync 0;") +
                line(5, "ld.shared.u32 %r6, [%r5];");
  }
  EXPECT_THAT(Launched(unrolled).texts(),
              Each(HasSubstr("tried: with a __syncthreads() in front of f.cu:3 this finding")));
  EXPECT_THAT(Launched(unrolled).texts(), Not(IsEmpty()));
}

TEST(BarrierTrial, OfAWarpIsTriedBeforeOneOfTheBlock) {
  const std::string kernel = line(3, "st.shared.u32 [%r4], %r0;") +
                             line(4, "xor.b32 %r8, %r4, 4; ld.shared.u32 %r6, [%r8];");
  EXPECT_THAT(Launched(kernel, "lanes").texts(),
              ElementsAre(HasSubstr("tried: with a __syncwarp() in front of f.cu:4")));
}

TEST(BarrierTrial, IsNotToldWhereItDoesNotHelp) {
  // Warp 0 writes in one branch, and warp 1 reads in the other: all threads come to no place
  // between.
  const Launched launched(line(3, "setp.ge.u32 %p0, %r0, 32; @%p0 bra OTHERS;") +
                          line(4, "st.shared.u32 [%r4], %r0;") + "bra DONE;\nOTHERS:\n" +
                          line(5, "ld.shared.u32 %r6, [%r5];") + "DONE:\n");
  EXPECT_THAT(launched.texts(), ElementsAre(AllOf(HasSubstr("race: "), Not(HasSubstr("tried")))));
}

TEST(BarrierTrial, IsNotToldWhereTheLaunchWouldDoSomethingElseNow) {
  // The first launch sets the word, and with it set no thread races.
  const std::string kernel =
      "ld.global.u32 %r9, [%rd0]; bar.sync 0; setp.eq.u32 %p1, %r0, 0;\n" +
      line(2, "@%p1 st.global.u32 [%rd0], 1;") + "setp.ne.u32 %p0, %r9, 0; @%p0 bra DONE;\n" +
      line(3, "st.shared.u32 [%r4], %r0;") + line(4, "ld.shared.u32 %r6, [%r5];") + "DONE:\n";
  const Launched launched(kernel);
  EXPECT_THAT(launched.texts(), Each(AllOf(HasSubstr("race: "), Not(HasSubstr("tried")))));
  EXPECT_THAT(launched.texts(), SizeIs(2));
  EXPECT_THAT(launched.texts_of_second(), IsEmpty());
}

TEST(BarrierTrial, IsNoneForAnAtomic) {
  EXPECT_THAT(Launched(line(3,
                            "ld.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, 1;"
                            "st.shared.u32 [%r3], %r6;"))
                  .texts(),
              Each(AllOf(HasSubstr("need an atomic"), Not(HasSubstr("tried")))));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::barrier_trial_test
