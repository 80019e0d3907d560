// Mistakes with wgmma: accesses to its operands and results while it is under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/emulator/kernel_run.h"
#include "tests/emulator/wgmma_product.h"

namespace warpgauge::emulator::machine::wgmma_check_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Names for a block of 160 threads, a warpgroup and a warp more: `s` at %r11, two buffers of 256
/// bytes, each the 16 x 8 matrix B of a product; the buffers' mbarriers `full` from %r10 on, and
/// `empty` from %r13 on. %p1 holds in thread 0, %p2 in the last warp, %p3 in its first thread.
const std::string kNames = R"(
    .shared .align 128 .b32 s[128];
    .shared .align 8 .b64 full[2];
    .shared .align 8 .b64 empty[2];
    .reg .f32 %d<4>; .reg .b32 %a<4>;
    mov.u32 %r10, full;
    mov.u32 %r13, empty;
    mov.u32 %r11, s;
    mad.lo.u32 %r12, %r0, 4, %r11;
    setp.eq.u32 %p1, %r0, 0;
    setp.ge.u32 %p2, %r0, 128;
    setp.eq.u32 %p3, %r0, 128;
    setp.lt.u32 %p5, %r0, 64;
    @%p1 mbarrier.init.shared.b64 [%r10], 1;
    @%p1 mbarrier.init.shared.b64 [%r10+8], 1;
    @%p1 mbarrier.init.shared.b64 [%r13], 1;
    @%p1 mbarrier.init.shared.b64 [%r13+8], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
)";

std::string load(const std::string& guard, const std::string& to, const std::string& barrier) {
  return guard + " mbarrier.arrive.expect_tx.shared.b64 _, [" + barrier + "], 256;\n" + guard +
         " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to +
         "], [%rd2], 256, [" + barrier + "];";
}
std::string wait_for(const std::string& barrier, const std::string& parity,
                     const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p4, [" + barrier + "], " + parity +
         ";\n@!%p4 bra " + label + ";\n";
}
/// A of registers by the buffer at %r25, in a group of its own.
std::string product(const std::string& comment = "") {
  const std::string fields = std::to_string(tile_descriptor(0, 128, 256, 0));
  return "cvt.u64.u32 %rd5, %r25;\nshr.u64 %rd5, %rd5, 4;\nor.b64 %rd5, %rd5, " + fields +
         ";\nwgmma.fence.sync.aligned;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, "
         "{%a0, %a1, %a2, %a3}, %rd5, 1, 1, 1, 0;  // " +
         comment + "\nwgmma.commit_group.sync.aligned;\n";
}
const std::string kAwaitProducts = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kFirstBuffer = "mov.u32 %r25, %r11;\n";
const std::string kWrite = "@%p5 st.shared.u32 [%r12], %r0;";
const std::string kFence = "fence.proxy.async.shared::cta;\n";

std::vector<std::string> found(const std::string& body, std::string_view checks = "async") {
  return findings_of(kernel_text(kNames + body), {{1, 1, 1}, {160, 1, 1}}, checks, Words(1024));
}

/// The last warp loads 6 times into two buffers; of the warpgroup thread `free_by` says when one is
/// free. What stands between the two is in front of that.
const std::string kRing = R"(
    mov.u32 %r20, 0;
  round:
    and.b32 %r21, %r20, 1;
    shr.u32 %r22, %r20, 1;
    and.b32 %r22, %r22, 1;
    mad.lo.u32 %r23, %r21, 8, %r10;
    mad.lo.u32 %r24, %r21, 8, %r13;
    mad.lo.u32 %r25, %r21, 256, %r11;
    @%p2 bra produce;
)" + wait_for("%r23", "%r22", "consume") +
                          product("there");
std::string end_of_ring(const std::string& free_by) {
  return "setp.eq.u32 %p6, %r0, " + free_by + ";\n@%p6 mbarrier.arrive.shared.b64 _, [%r24];\n" +
         kAwaitProducts + R"(
    bra next;
  produce:
    @!%p3 bra next;
    xor.b32 %r22, %r22, 1;
)" + wait_for("%r24", "%r22", "wait_empty") +
         load("", "%r25", "%r23") + R"(  // here
  next:
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p4, %r20, 6;
    @%p4 bra round;
    ret;)";
}

struct Mistake {
  const char* name;
  const char* rule;
  std::string before, missing,
      behind;  ///< parts of the kernel; "// here" and "// there" mark the lines
};

const Mistake kMistakes[] = {
    {"WithoutFence", "unfenced source", kFirstBuffer + kWrite + "  // there\n", kFence,
     "bar.sync 0;\n@%p2 bra end;\n" + product("here") + kAwaitProducts + "end: ret;"},
    {"WithoutBarrier", "unordered source",
     kFirstBuffer + "@%p3 st.shared.u32 [%r11], %r0;  // there\n" + kFence, "bar.sync 0;\n",
     "@%p2 bra end;\n" + product("here") + kAwaitProducts + "end: ret;"},
    {"BeforeItsTileIsLoaded", "early access",
     kFirstBuffer + load("@%p1", "%r11", "%r10") + "  // there\n", wait_for("%r10", "0", "w"),
     "@%p2 bra end;\n" + product("here") + kAwaitProducts + wait_for("%r10", "0", "x") +
         "end: ret;"},
    {"WriteIntoItsTile", "overwritten source", kFirstBuffer + "@%p2 bra end;\n" + product("there"),
     kAwaitProducts, kWrite + "  // here\n" + kAwaitProducts + "end: ret;"},
    {"LoadIntoItsTile", "overwritten source", kFirstBuffer + "@%p2 bra end;\n" + product("there"),
     kAwaitProducts,
     "bar.sync 1, 128;\n" + load("@%p1", "%r11", "%r10") + "  // here\n" + kAwaitProducts +
         wait_for("%r10", "0", "x") + "end: ret;"},
    {"TileOfARingFreedTooEarly", "overwritten source", kRing, kAwaitProducts, end_of_ring("0")},
    {"ReadOfItsSums", "early result", kFirstBuffer + "@%p2 bra end;\n" + product("there"),
     kAwaitProducts, "add.f32 %f1, %d2, %d2;  // here\n" + kAwaitProducts + "end: ret;"},
    {"ReadOfItsMovedSums", "early result",
     kFirstBuffer + "@%p2 bra end;\n" + product("there") + "mov.f32 %f1, %d2;\n", kAwaitProducts,
     "st.global.f32 [%rd1], %f1;  // here\n" + kAwaitProducts + "end: ret;"},
    {"ReadOfItsSumsInALoop", "early result",
     kFirstBuffer +
         "mov.u32 %r20, 0;\n@%p2 bra end;\nround:\nsetp.eq.u32 %p6, %r20, 0;\n"
         "@!%p6 add.f32 %f1, %d2, %d2;  // here\n" +
         product("there"),
     kAwaitProducts,
     "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p4, %r20, 2;\n@%p4 bra round;\n" + kAwaitProducts +
         "end: ret;"},
    {"NothingWaitsForIt", "unawaited copy",
     kFirstBuffer + "@%p2 bra end;\n" + product("here there"), kAwaitProducts, "end: ret;"},
};

std::string place(const std::string& text, const std::string& comment) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(comment));
  return "k, PTX line " + std::to_string(1 + std::count(text.begin(), end, '\n'));
}

class ProductCheck : public testing::TestWithParam<Mistake> {};

TEST_P(ProductCheck, FindsTheMistake) {
  const std::string body = GetParam().before + GetParam().behind;
  const std::string text = kernel_text(kNames + body);
  EXPECT_THAT(found(body), ElementsAre(AllOf(HasSubstr(place(text, "// here") + ": "),
                                             HasSubstr(std::string(GetParam().rule) + ": "),
                                             HasSubstr(place(text, "there\n")))));
}

TEST_P(ProductCheck, FindsNothingInTheMendedKernel) {
  EXPECT_THAT(found(GetParam().before + GetParam().missing + GetParam().behind), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, ProductCheck, testing::ValuesIn(kMistakes),
                         [](const auto& info) { return std::string(info.param.name); });

/// What a product still reads stays in view behind a barrier, also where lanes are looked at.
TEST(ProductChecks, AWriteBehindABarrierIsFoundWithLanes) {
  const std::string before = kFirstBuffer + "@%p2 bra end;\n" + product("there");
  const std::string write = "bar.sync 1, 128;\n" + kWrite + "  // here\n";
  for (const char* checks : {"async", "async,lanes", "async,races,lanes"}) {
    EXPECT_THAT(found(before + write + kAwaitProducts + "end: ret;", checks),
                ElementsAre(HasSubstr("overwritten source: ")))
        << checks;
    EXPECT_THAT(found(before + kAwaitProducts + write + "end: ret;", checks), IsEmpty()) << checks;
  }
}

/// The older of two groups is done; earlier copies belong to the round before. The writes of all
/// four warps before a product are visible to it.
TEST(ProductChecks, WarpsMeetAtAProduct) {
  EXPECT_THAT(found(kFirstBuffer + "@%p2 bra end;\n" + kWrite + kFence + product() +
                    kAwaitProducts + "end: ret;"),
              IsEmpty());
  EXPECT_THAT(
      found(kFirstBuffer + "@%p2 bra end;\n" + kWrite + product() + kAwaitProducts + "end: ret;"),
      ElementsAre(HasSubstr("unfenced source")));
}

TEST(ProductChecks, SumsOfOlderGroupsMayBeRead) {
  const std::string other = R"(
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%e0, %e1, %e2, %e3},
      {%a0, %a1, %a2, %a3}, %rd5, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
)";
  const std::string wait_for_older = "wgmma.wait_group.sync.aligned 1;\n";
  const std::string use = "add.f32 %f1, %f2, %d2;\nmov.f32 %f2, %d2;\n";
  const auto body = [&](const std::string& wait) {
    return ".reg .f32 %e<4>;\n" + kFirstBuffer +
           "mov.f32 %f2, 0f00000000;\nmov.u32 %r20, 0;\n@%p2 bra end;\nround:\n" + product() +
           other + wait + use +
           "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p4, %r20, 3;\n@%p4 bra round;\n" + kAwaitProducts +
           "end: ret;";
  };
  EXPECT_THAT(found(body(wait_for_older)), IsEmpty());
  EXPECT_THAT(found(body("")), testing::SizeIs(1));
}

TEST(ProductChecks, WhatCpAsyncWroteIsMultipliedWithoutFence) {
  const auto body = [](const std::string& fence) {
    return kFirstBuffer + R"(
    setp.lt.u32 %p6, %r0, 16;
    mul.wide.u32 %rd3, %r0, 16;
    add.u64 %rd3, %rd2, %rd3;
    mad.lo.u32 %r20, %r0, 16, %r11;
    @%p6 cp.async.cg.shared.global [%r20], [%rd3], 16;
    cp.async.wait_all;
)" + fence +
           "bar.sync 0;\n@%p2 bra end;\n" + product() + kAwaitProducts + "end: ret;";
  };
  EXPECT_THAT(found(body("")), IsEmpty());
  EXPECT_THAT(found(body(""), "proxies"), ElementsAre(HasSubstr("unfenced source: multiplies")));
  EXPECT_THAT(found(body(kFence), "proxies"), IsEmpty());
}

/// They are no instructions of the kernel.
TEST(ProductChecks, DoNotCount) {
  const std::string body = kFirstBuffer + "@%p2 bra end;\n" + product() +
                           "@%p1 add.f32 %f1, %d2, %d2;\n" + kAwaitProducts + "end: ret;";
  const auto instructions = [&](std::string_view checks) {
    Options options = limited();
    options.checks = checks_called(checks);
    return run_kernel(kernel_text(kNames + body), {{1, 1, 1}, {160, 1, 1}}, {}, options)
        .outcome.warp_instructions;
  };
  EXPECT_EQ(instructions("async"), instructions("none"));
}

TEST(ProductChecks, AWaitTellsOfLoadsOfAllFourWarps) {
  const std::string product_of_loaded =
      "@%p2 bra end;\nld.shared.u32 %a0, [%r11];\n" + product() + kAwaitProducts;
  EXPECT_THAT(found(kFirstBuffer + product_of_loaded + load("@%p1", "%r11", "%r10") + "\n" +
                    wait_for("%r10", "0", "x") + "end: ret;"),
              IsEmpty());
}

TEST(ProductChecks, AnyThreadOfTheWarpgroupMayFreeATile) {
  for (const char* const thread : {"0", "40", "64", "127"}) {
    EXPECT_THAT(found(kRing + kAwaitProducts + end_of_ring(thread)), IsEmpty()) << thread;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::wgmma_check_test
