// Mistakes with mbarriers, bulk copies and clusters: each rule finds its mistake by both lines, and
// the mended kernel passes. Most were made in public programs, which `origin` names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::async_check_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Names for blocks of 64 threads: `s` at %r11, the thread's word in it at %r12, two mbarriers at
/// %r10; %p1 holds in thread 0, %p2 in thread 32.
constexpr const char* kNames = R"(
    .shared .align 128 .b32 s[256];
    .shared .align 8 .b64 bar[2];
    mov.u32 %r10, bar;
    mov.u32 %r11, s;
    mad.lo.u32 %r12, %r0, 4, %r11;
    setp.eq.u32 %p1, %r0, 0;
    setp.eq.u32 %p2, %r0, 32;
)";
const std::string kInit = R"(
    @%p1 mbarrier.init.shared.b64 [%r10], 1;
    @%p1 mbarrier.init.shared.b64 [%r10+8], 64;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
)";
const std::string kRankAndPeer = R"(
    mov.u32 %r20, %cluster_ctarank;
    xor.b32 %r21, %r20, 1;
    setp.eq.u32 %p5, %r20, 0;
    mapa.shared::cluster.u32 %r22, %r12, %r21;
    mapa.shared::cluster.u32 %r23, %r10, %r21;
)";
const std::string kMeet = "barrier.cluster.arrive; barrier.cluster.wait;\n";

std::string wait_for(const std::string& parity, const std::string& label,
                     const std::string& barrier = "%r10") {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p4, [" + barrier + "], " + parity +
         "; @!%p4 bra " + label + ";\n";
}
std::string load(const std::string& to, const std::string& guard = "@%p1 ") {
  return guard + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to +
         "], [%rd2], 64, [%r10];";
}
const std::string kExpect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n";
const std::string kStore = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 256;";
const std::string kCommit = "@%p1 cp.async.bulk.commit_group;\n";
const std::string kAwaitReads = "@%p1 cp.async.bulk.wait_group.read 0;\n";
const std::string kFence = "fence.proxy.async.shared::cta;\n";

Shape blocks(std::uint32_t count, bool in_cluster = true) {
  Shape shape{{count, 1, 1}, {64, 1, 1}};
  if (in_cluster) shape.cluster = {count, 1, 1};
  return shape;
}

std::vector<std::string> found(const std::string& text, const Shape& shape,
                               std::string_view checks = "async") {
  return findings_of(text, shape, checks, Words(1024));
}

/// A warpgroup goes to `less` registers, two go to `more`; the kernel was launched with 168 each.
std::vector<std::string> of_registers(const std::string& less, const std::string& more) {
  Shape shape{{1, 1, 1}, {384, 1, 1}};
  shape.registers = 168;
  const std::string decrease = less.empty() ? "" : "setmaxnreg.dec.sync.aligned.u32 " + less + ";";
  return found(kernel_text("setp.lt.u32 %p1, %r0, 128;\n@!%p1 bra more;\n" + decrease +
                           "\nret;\nmore: setmaxnreg.inc.sync.aligned.u32 " + more + ";\nret;"),
               shape);
}

TEST(RegisterChanges, MustNotAddUpToMoreThanTheBlockWasGiven) {
  EXPECT_THAT(of_registers("40", "232"), IsEmpty()) << "40 + 2 * 232 = 3 * 168";
  EXPECT_THAT(of_registers("24", "240"), IsEmpty());
  EXPECT_THAT(
      of_registers("40", "240"),
      ElementsAre(
          AllOf(HasSubstr("block needs 66560 registers, of 64512 that it was given (168 a thread)"),
                HasSubstr("decrease other warpgroups by as much"))));
  EXPECT_THAT(of_registers("", "176"), SizeIs(1)) << "no warpgroup gives any";
}

/// "k, PTX line 12": the place of the comment in the text.
std::string place(const std::string& text, const std::string& comment) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(comment));
  return "k, PTX line " + std::to_string(1 + std::count(text.begin(), end, '\n'));
}

struct Mistake {
  const char* name;
  const char* origin;
  const char* rule;
  std::string before, missing,
      behind;  ///< parts of the kernel; "// here" and "// there" mark the lines
  std::uint32_t blocks = 1;
  const char* checks = "async";
};

const Mistake kMistakes[] = {
    {"StoreWithoutFence", "NVIDIA/Fuser 1967; MoonshotAI/FlashKDA 24; sgl-project/sglang 39124",
     "unfenced source", "st.shared.u32 [%r12], %r0;  // there\n", kFence,
     "bar.sync 0;\n" + kStore + "  // here\n" + kCommit + kAwaitReads + "ret;"},
    {"StoreWithoutBarrier", "pytorch/ao 4278", "unordered source",
     "st.shared.u32 [%r12], %r0;  // there\n" + kFence, "bar.sync 0;\n",
     "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 256;  // here\n"
     "@%p2 cp.async.bulk.commit_group;\n@%p2 cp.async.bulk.wait_group.read 0;\nret;"},
    {"MbarrierWithoutFence", "MoonshotAI/FlashKDA 24", "unfenced mbarrier",
     "@%p1 mbarrier.init.shared.b64 [%r10], 1;  // there\n",
     "@%p1 fence.mbarrier_init.release.cluster;\n",
     "bar.sync 0;\n" + kExpect + load("%r11") + "  // here\n" + wait_for("0", "w") + "ret;"},
    {"MbarrierWithoutBarrier", "NVIDIA/Fuser 1769", "unordered mbarrier",
     "@%p1 mbarrier.init.shared.b64 [%r10], 64;  // there\n", "bar.sync 0;\n",
     "mbarrier.arrive.shared.b64 %rd10, [%r10];  // here\n"
     "@!%p1 ret;\nw: mbarrier.test_wait.shared.b64 %p4, [%r10], %rd10;\n@!%p4 bra w;\nret;"},
    {"MbarrierOfAnotherBlock", "facebookexperimental/triton 652", "unordered mbarrier",
     kRankAndPeer + "@%p1 mbarrier.init.shared.b64 [%r10], 1;  // there\n"
                    "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n",
     kMeet,
     "@%p5 bra w;\n"
     "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];  // here\nret;\n" +
         wait_for("0", "w") + "ret;",
     2},
    {"LoadIntoAStoresSource", "deepseek-ai/DeepEP 657", "overwritten source",
     kInit + kExpect + load("%r11") + "\n" + wait_for("0", "w") + "bar.sync 0;\n" + kStore +
         "  // there\n" + kCommit + "@%p1 cp.async.bulk.wait_group.read 1;\n",
     kAwaitReads,
     kExpect + load("%r11") + "  // here\n" + wait_for("1", "x") + kAwaitReads + "ret;"},
    {"WriteIntoAStoresSource", "NVIDIA/Fuser 5448", "overwritten source",
     "st.shared.u32 [%r12], %r0;\n" + kFence + "bar.sync 0;\n" + kStore + "  // there\n" + kCommit,
     kAwaitReads + "bar.sync 0;\n",
     "@%p1 st.shared.u32 [%r12], 7;  // here\n" + kAwaitReads + "ret;"},
    {"WriteBehindAnothersWait", "NVIDIA/TransformerEngine 3417", "overwritten source",
     "st.shared.u32 [%r12], %r0;\n" + kFence +
         "bar.sync 0;\n"
         "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 256;  // there\n"
         "@%p2 cp.async.bulk.commit_group;\n@%p2 cp.async.bulk.wait_group.read 0;\n",
     "bar.sync 0;\n", "st.shared.u32 [%r12], 7;  // here\nret;"},
    {"ReadBeforeTheWait", "", "early access", kInit + kExpect + load("%r11") + "  // there\n",
     wait_for("0", "w"),
     "@%p1 ld.shared.u32 %r14, [%r11];  // here\n" + wait_for("0", "x") + "ret;"},
    {"ReadBehindAnothersWait", "", "early access",
     kInit + "@!%p2 bra other;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n" +
         load("%r11", "") + "  // there\n" + wait_for("0", "w") + "other:\n",
     "bar.sync 0;\n", "ld.shared.u32 %r14, [%r11];  // here\nret;"},
    {"RefilledWhileItIsRead", "", "refilled buffer",
     kInit + kExpect + load("%r11") + "\n" + wait_for("0", "w") +
         "ld.shared.u32 %r14, [%r11];  // there\n",
     "bar.sync 0;\n",
     "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n" + load("%r11", "@%p2 ") +
         "  // here\n" + wait_for("1", "x") + "ret;"},
    {"RefilledWithoutFence",
     "deepseek-ai/DeepEP 642; NVIDIA/TransformerEngine 2695; NVIDIA/nccl-extensions 8",
     "unfenced refill",
     kInit + kExpect + load("%r11") + "\n" + wait_for("0", "w") +
         "ld.shared.u32 %r14, [%r11];  // there\n",
     kFence,
     "bar.sync 0;\n@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;\n" +
         load("%r11", "@%p2 ") + "  // here\n" + wait_for("1", "x") + "ret;",
     1, "proxies"},
    {"MoreCopiesThanExpected", "facebookexperimental/triton 1538", "wrong bytes",
     kInit + "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 64;  // here\n"
             "bar.sync 0;\nand.b32 %r15, %r0, 31;\nsetp.eq.u32 %p3, %r15, 0;\n",
     "setp.eq.u32 %p3, %r0, 0;\n",
     load("%r12", "@%p3 ") + "  // there\nbar.sync 0;\n" + wait_for("0", "w") + "ret;"},
    {"ReadFromABlockThatMayHaveEnded", "triton-lang/triton 10656", "ended block",
     kRankAndPeer + "st.shared.u32 [%r12], %r0;\n" + kMeet +
         "ld.shared::cluster.u32 %r14, [%r22];  // here there\n",
     kMeet, "ret;", 2},
    {"ArrivalAtABlockThatMayHaveEnded", "rchardx/hopper-gemm 3", "ended block",
     kRankAndPeer + kInit + kMeet +
         "@%p5 bra producer;\n"
         "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];  // here there\n"
         "ret;\nproducer:\n",
     wait_for("0", "w"), "ret;", 2},
    {"StoreThatNothingWaitsFor", "", "unawaited copy",
     "st.shared.u32 [%r12], %r0;\n" + kFence + "bar.sync 0;\n" + kStore + "  // here there\n" +
         kCommit,
     kAwaitReads, "ret;"},
    {"LoadThatNothingWaitsFor", "", "unawaited copy",
     kInit + kExpect + load("%r11") + "  // here there\n", wait_for("0", "w"), "ret;"},
};

class AsyncCheck : public testing::TestWithParam<Mistake> {
 protected:
  static std::string kernel(const std::string& missing) {
    return kernel_text(kNames + GetParam().before + missing + GetParam().behind);
  }
  static Shape shape() { return blocks(GetParam().blocks, GetParam().blocks > 1); }
};

TEST_P(AsyncCheck, FindsTheMistake) {
  const std::string text = kernel("");
  EXPECT_THAT(found(text, shape(), GetParam().checks),
              ElementsAre(AllOf(HasSubstr(place(text, "// here") + ": " + GetParam().rule + ": "),
                                HasSubstr(place(text, "there\n")))))
      << GetParam().origin;
}

TEST_P(AsyncCheck, IsOffByAnOption) { EXPECT_THAT(found(kernel(""), shape(), "none"), IsEmpty()); }

TEST_P(AsyncCheck, FindsNothingInTheMendedKernel) {
  EXPECT_THAT(found(kernel(GetParam().missing), shape(), GetParam().checks), IsEmpty());
  EXPECT_THAT(found(kernel(GetParam().missing), shape(), "async,races,uninitialised"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, AsyncCheck, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

struct Right {
  const char* name;
  std::string body;
  std::uint32_t blocks = 1;
};

// One warp fills two buffers with 8 loads, the other one reads them.
const std::string kRing = kInit + R"(
    .shared .align 8 .b64 empty[2];
    mov.u32 %r13, empty;
    @%p1 mbarrier.init.shared.b64 [%r10+8], 1;
    @%p1 mbarrier.init.shared.b64 [%r13], 32;
    @%p1 mbarrier.init.shared.b64 [%r13+8], 32;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    mov.u32 %r20, 0;
    setp.ge.u32 %p3, %r0, 32;
  round:
    and.b32 %r21, %r20, 1;
    shr.u32 %r22, %r20, 1;
    and.b32 %r22, %r22, 1;
    mad.lo.u32 %r23, %r21, 8, %r10;
    mad.lo.u32 %r24, %r21, 8, %r13;
    mad.lo.u32 %r25, %r21, 128, %r11;
    @%p3 bra consume;
    @!%p1 bra next;
    xor.b32 %r22, %r22, 1;
  wait_empty:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r24], %r22;
    @!%p4 bra wait_empty;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r23], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r25], [%rd2], 128, [%r23];
    bra next;
  consume:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r23], %r22;
    @!%p4 bra consume;
    and.b32 %r26, %r0, 31;
    mad.lo.u32 %r25, %r26, 4, %r25;
    ld.shared.u32 %r27, [%r25];
    mbarrier.arrive.shared.b64 _, [%r24];
  next:
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p4, %r20, 8;
    @%p4 bra round;
    ret;)";

// All threads write one of two buffers while the other one is stored.
const std::string kStores = R"(
    mov.u32 %r20, 0;
  round:
    and.b32 %r21, %r20, 1;
    mad.lo.u32 %r22, %r21, 256, %r12;
    mad.lo.u32 %r23, %r21, 256, %r11;
    @%p1 cp.async.bulk.wait_group.read 1;
    bar.sync 0;
    st.shared.u32 [%r22], %r20;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r23], 256;
    @%p1 cp.async.bulk.commit_group;
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p4, %r20, 6;
    @%p4 bra round;
    @%p1 cp.async.bulk.wait_group 0;
    ret;)";

const Right kRight[] = {
    {"Ring", kRing},
    {"StoresFromTwoBuffers", kStores},
    {"FenceOfTheThreadThatCopies", "st.shared.u32 [%r12], %r0;\nbar.sync 0;\n@!%p1 ret;\n" +
                                       kFence + kStore + kCommit + kAwaitReads + "ret;"},
    {"MbarrierAndProxyFence", "@%p1 mbarrier.init.shared.b64 [%r10], 1;\n@%p1 " + kFence +
                                  "bar.sync 0;\n" + kExpect + load("%r11") + wait_for("0", "w") +
                                  "ret;"},
    {"LoadThenStore", kInit + kExpect + load("%r11") + wait_for("0", "w") +
                          "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 64;\n" +
                          kCommit + kAwaitReads + "ret;"},
    {"Multicast",
     kRankAndPeer + kInit + kExpect + kMeet + R"(
    mov.b16 %h1, 3;
    and.pred %p6, %p5, %p1;
    @%p6 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
      [%r11], [%rd2], 64, [%r10], %h1;
)" + wait_for("0", "w") +
         "ld.shared.u32 %r14, [%r11];\n" + kMeet + "ret;",
     2},
    // The block waits for a flag that the other one sets when it has read.
    {"FlagInAnotherBlock", kRankAndPeer + R"(
    st.shared.u32 [%r12], %r0;
    @%p1 mbarrier.init.shared.b64 [%r10], 1;
    barrier.cluster.arrive; barrier.cluster.wait;
    @%p5 bra flag;
    ld.shared::cluster.u32 %r14, [%r22];
    bar.sync 0;
    mov.u32 %r15, 1000;
    @%p1 st.release.cluster.shared::cluster.u32 [%r22], %r15;
    ret;
  flag:
    ld.acquire.cluster.shared::cta.u32 %r14, [%r11];
    setp.ne.u32 %p6, %r14, 1000;
    @%p6 bra flag;
    ret;)",
     2},
    {"RemoteArrivals",
     kRankAndPeer + kInit + kMeet +
         "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];\n" +
         wait_for("0", "w") + kMeet + "ret;",
     2},
    {"RemoteValues",
     kRankAndPeer + kInit + "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 256;\n" + kMeet +
         "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r22], %r1, "
         "[%r23];\n" +
         wait_for("0", "w") + "ld.shared.u32 %r14, [%r12];\n" + kMeet + "ret;",
     2},
    {"ReductionOverACluster",
     kRankAndPeer + "st.shared.u32 [%r12], 0;\n" + kMeet +
         "red.shared::cluster.add.u32 [%r22], %r0;\n" + kMeet + "ld.shared.u32 %r14, [%r12];\nret;",
     2},
};

class AsyncCheckOfRight : public testing::TestWithParam<Right> {};

TEST_P(AsyncCheckOfRight, FindsNothing) {
  const std::string text = kernel_text(kNames + GetParam().body);
  const Shape shape = blocks(GetParam().blocks, GetParam().blocks > 1);
  for (const char* const checks : {"async", "async,races,uninitialised", "races,uninitialised"}) {
    EXPECT_THAT(found(text, shape, checks), IsEmpty()) << checks;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AsyncCheckOfRight, testing::ValuesIn(kRight),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AsyncChecks, KnowAFenceOfAWarpThatComesBetween) {
  // Warp 0 writes, warp 1 fences and warp 2 copies.
  const auto kernel = [](const std::string& fence) {
    return kernel_text(std::string(kNames) + R"(
      setp.lt.u32 %p3, %r0, 32;
      setp.lt.u32 %p4, %r0, 64;
      @%p3 st.shared.u32 [%r12], %r0;
      bar.sync 0;
      @%p3 bra fenced;
      @!%p4 bra fenced;
    )" + fence + R"(
    fenced:
      bar.sync 0;
      setp.eq.u32 %p2, %r0, 64;
      @!%p2 ret;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r11], 128;
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group.read 0;
      ret;)");
  };
  const Shape shape{{1, 1, 1}, {96, 1, 1}};
  EXPECT_THAT(found(kernel(kFence), shape), IsEmpty());
  EXPECT_THAT(found(kernel(""), shape), SizeIs(1));
}

TEST(AsyncChecks, ReportAnMbarrierOnceForAllItsCopies) {
  const std::string body = "@%p1 mbarrier.init.shared.b64 [%r10], 1;\nbar.sync 0;\n" +
                           ("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128;\n" +
                            load("%r11") + "\n" + load("%r11+64") + "\n" + wait_for("0", "w")) +
                           "ret;";
  EXPECT_THAT(found(kernel_text(kNames + body), blocks(1, false), "async"), testing::SizeIs(1));
}

TEST(AsyncChecks, AreOnUnlessOthersAreAskedFor) {
  EXPECT_TRUE(Checks{}.async);
  EXPECT_FALSE(checks_called("none").async);
  EXPECT_FALSE(checks_called("races").async);
  EXPECT_FALSE(Checks{}.history(false));
  EXPECT_TRUE(Checks{}.history(true));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::async_check_test
