// Races, reads of memory that nothing wrote, and stores and shuffles whose result is not defined:
// each rule finds its defect by line, and the mended kernel passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::history_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Shape blocks(std::uint32_t count, std::uint32_t threads) {
  return {.grid = {count, 1, 1}, .block = {threads, 1, 1}};
}

std::vector<std::string> found(const std::string& body, const Shape& shape,
                               std::string_view checks = "races") {
  return findings_of(kernel_text(body) + ".file 1 \"f.cu\"\n", shape, checks);
}

/// 64 threads: %r4 is the shared address of the thread's word, %r5 that of its opposite's.
std::string with_tile(const std::string& body) {
  return R"(
    .shared .align 4 .b8 tile[256];
    mov.u32 %r3, tile;
    mad.lo.u32 %r4, %r0, 4, %r3;
    xor.b32 %r5, %r0, 63;
    mad.lo.u32 %r5, %r5, 4, %r3;
  )" + body;
}

TEST(Checks, HaveNames) {
  const Checks checks = checks_called("races,stores");
  EXPECT_TRUE(checks.races && checks.stores);
  EXPECT_FALSE(checks.uninitialised || checks.lanes || checks.shuffles);
  EXPECT_FALSE(checks.async || checks.barriers);
  EXPECT_TRUE(checks_called("proxies").async) << "which it adds to";
  EXPECT_FALSE(checks_called("none").history(true));
  EXPECT_THROW(checks_called("race"), std::invalid_argument);
  const Checks all = checks_called("all");
  EXPECT_TRUE(all.async && all.proxies && all.races && all.uninitialised && all.lanes);
  EXPECT_TRUE(all.stores && all.shuffles && all.allocations && all.unequal);
}

TEST(SharedRace, OfAReadBehindAWriteIsFound) {
  const auto kernel = [](const std::string& barrier) {
    return with_tile("st.shared.u32 [%r4], %r0;\n" + barrier + "\nld.shared.u32 %r6, [%r5];");
  };
  EXPECT_THAT(
      found(kernel(""), blocks(2, 64)),
      Contains(AllOf(
          HasSubstr("kernel k, block (0,0,0), thread (32,0,0) (warp 1, lane 0), k, PTX line "),
          HasSubstr("race: shared read of 4 bytes at tile[31] (byte 124), which thread "
                    "(31,0,0) (warp 0, lane 31) has written at k, PTX line "),
          EndsWith("; no __syncthreads() stands between"))));
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(2, 64)), IsEmpty());
}

TEST(SharedRace, OfAWriteBehindAReadIsFound) {
  const auto kernel = [](const std::string& barrier) {
    return with_tile("st.shared.u32 [%r4], %r0; bar.sync 0; ld.shared.u32 %r6, [%r3];" + barrier +
                     "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r3], 7;");
  };
  EXPECT_THAT(found(kernel(""), blocks(1, 64)),
              ElementsAre(AllOf(HasSubstr("thread (0,0,0)"),
                                HasSubstr("shared write of 4 bytes at tile[0] (byte 0), which "
                                          "thread (32,0,0) (warp 1, lane 0) has read at"))));
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(1, 64)), IsEmpty());
}

TEST(SharedRace, IsNoneBetweenBarriers) {
  EXPECT_THAT(found(with_tile(R"(
    mov.u32 %r7, 0;
    AGAIN:
    st.shared.u32 [%r4], %r7;
    bar.sync 0;
    ld.shared.u32 %r6, [%r5];
    bar.sync 0;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p0, %r7, 5;
    @%p0 bra AGAIN;
  )"),
                    blocks(3, 64)),
              IsEmpty());
}

TEST(SharedRace, DoesNotDependOnWhatIsLeftInSharedMemory) {
  // Other threads read a word that no thread has written, and thread 63 stores 7 to it. The race is
  // found in the second block, too, where the word holds the 7 of the first.
  const std::string kernel = with_tile(
      "setp.lt.u32 %p1, %r1, 64; @%p1 bra FIRST; setp.eq.u32 %p0, %r0, 63; ld.shared.u32 %r6, "
      "[%r3];"
      "@%p0 st.shared.u32 [%r3], 7; bra DONE; FIRST: setp.eq.u32 %p0, %r0, 63;"
      "@%p0 st.shared.u32 [%r3], 7; DONE:");
  EXPECT_THAT(found(kernel, blocks(2, 64)),
              ElementsAre(HasSubstr("block (1,0,0), thread (63,0,0)")));
}

TEST(SharedRace, OfTheNextRoundOfALoopSaysSo) {
  // Lines 20 to 22 are the round: write, barrier, read. The next write may come before the read.
  const auto kernel = [](const std::string& at_end) {
    return with_tile(R"(
      .loc 1 19 0
      mov.u32 %r7, 0;
      AGAIN:
      .loc 1 20 0
      st.shared.u32 [%r4], %r7;
      .loc 1 21 0
      bar.sync 0;
      .loc 1 22 0
      ld.shared.u32 %r6, [%r5];
    )" + at_end + R"(
      .loc 1 23 0
      add.u32 %r7, %r7, 1;
      setp.lt.u32 %p0, %r7, 5;
      @%p0 bra AGAIN;
    )");
  };
  const auto edge = MatchesRegex(
      ".*; no __syncthreads\\(\\) stands between .*22 and, in the next round of the loop, .*20");
  EXPECT_THAT(found(kernel(""), blocks(1, 64)), AllOf(Not(IsEmpty()), Each(edge)));
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(1, 64)), IsEmpty());
}

TEST(SharedRace, OfAChangeInPlaceWantsAnAtomic) {
  const auto kernel = [](const std::string& line_of_store) {
    return with_tile(".loc 1 30 0\nld.shared.u32 %r6, [%r3]; add.u32 %r6, %r6, 1;\n.loc 1 " +
                     line_of_store + " 0\nst.shared.u32 [%r3], %r6;");
  };
  const auto hint = EndsWith("; threads that change one value in place need an atomic");
  EXPECT_THAT(found(kernel("30"), blocks(1, 64)), Contains(hint));
  EXPECT_THAT(found(kernel("31"), blocks(1, 64)), AllOf(Not(IsEmpty()), Each(Not(hint))));
}

TEST(SharedRace, OfTwoAddressesInALineIsNoChangeInPlace) {
  const auto hint = HasSubstr("in place");
  for (const std::string load : {"ld.shared.u32 %r6, [%r5];", "@%p0 ld.shared.u32 %r6, [%r4+4];"}) {
    const std::string body =
        "setp.ne.u32 %p0, %r0, 63;\n.loc 1 30 0\n" + load + "st.shared.u32 [%r4], %r0;";
    EXPECT_THAT(found(with_tile(body), blocks(1, 64)), AllOf(Not(IsEmpty()), Each(Not(hint))));
  }
}

TEST(SharedRace, OfAnAtomicAndAStoreInALineIsNoChangeInPlace) {
  const std::string add = "atom.shared.add.u32 %r6, [%r3], 1;";
  const std::string store = "st.shared.u32 [%r3], %r6;";
  for (const std::string& line : {add + store, store + add}) {
    EXPECT_THAT(found(with_tile(".loc 1 30 0\n" + line), blocks(1, 64)),
                AllOf(Not(IsEmpty()), Each(Not(HasSubstr("in place")))));
  }
}

TEST(SharedRace, IsNoneWhereOneWarpWaitsForAnother) {
  const auto kernel = [](const std::string& of_reader, const std::string& of_writer) {
    return with_tile("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra WRITES;\n" + of_reader + R"(
      ld.shared.u32 %r6, [%r5];
      bra DONE;
      WRITES:
    )" + of_writer + "\nDONE:\nst.global.u32 [%rd1], %r6;");
  };
  const std::string store = "st.shared.u32 [%r4], %r0;";
  EXPECT_THAT(found(kernel("bar.sync 1, 64;", store + "bar.arrive 1, 64;"), blocks(1, 64)),
              IsEmpty());
  EXPECT_THAT(found(kernel("", store), blocks(1, 64)), SizeIs(1));
}

TEST(SharedRace, IsOrderedByABarrierForThoseThatCameToItAlone) {
  // Warps 0 and 1 meet, and so do 2 and 3. Then each thread reads what its opposite has written.
  const auto kernel = [](const std::string& threads) {
    return std::string(R"(
      .shared .align 4 .b8 large[512];
      mov.u32 %r3, large;
      mad.lo.u32 %r4, %r0, 4, %r3;
      xor.b32 %r5, %r0, 127;
      mad.lo.u32 %r5, %r5, 4, %r3;
      st.shared.u32 [%r4], %r0;
      shr.u32 %r6, %r0, 6;
      add.u32 %r6, %r6, NUMBER;
      bar.sync %r6, )") +
           threads + R"(;
      ld.shared.u32 %r7, [%r5];
      st.global.u32 [%rd1], %r7;
    )";
  };
  const auto with = [&](const std::string& number, const std::string& threads) {
    std::string text = kernel(threads);
    return text.replace(text.find("NUMBER"), 6, number);
  };
  EXPECT_THAT(
      found(with("1", "64"), blocks(1, 128)),
      UnorderedElementsAre(HasSubstr("which thread (31,0,0) (warp 0, lane 31) has written at"),
                           HasSubstr("which thread (63,0,0) (warp 1, lane 31) has read at")));
  std::string of_all = with("1", "128");
  of_all.replace(of_all.find("add.u32 %r6"), 11, "mul.lo.u32 %r6");  // barriers 0 and 1
  of_all.replace(of_all.find("shr.u32 %r6, %r0, 6"), 19, "shr.u32 %r6, %r0, 9");  // barrier 0
  EXPECT_THAT(found(of_all, blocks(1, 128)), IsEmpty());
}

TEST(SharedRace, OrderPassesOnFromBarrierToBarrier) {
  // Warp 0 meets warp 1, which then meets warp 2: that one may read what warp 0 has written.
  const auto kernel = [](const std::string& first) {
    return R"(
      .shared .align 4 .b8 word[4];
      mov.u32 %r3, word;
      shr.u32 %r4, %r0, 5;
      setp.eq.u32 %p0, %r4, 0;
      setp.eq.u32 %p1, %r4, 2;
      @%p0 bra FIRST;
      @%p1 bra LAST;
    )" + first +
           R"(
      bar.sync 2, 64;
      ret;
      FIRST:
      st.shared.u32 [%r3], 7;
      bar.arrive 1, 64;
      ret;
      LAST:
      bar.sync 2, 64;
      ld.shared.u32 %r5, [%r3];
      st.global.u32 [%rd1], %r5;
    )";
  };
  EXPECT_THAT(found(kernel("bar.sync 1, 64;"), blocks(1, 96)), IsEmpty());
  EXPECT_THAT(found(kernel(""), blocks(1, 96)), SizeIs(1));
}

TEST(SharedRace, OfASecondReadBehindTheBarrierIsFound) {
  // Warp 1 reads, tells warp 0 so, and reads once more.
  const auto kernel = [](const std::string& first, const std::string& second) {
    return with_tile(
        "st.shared.u32 [%r4], 7; bar.sync 0; setp.lt.u32 %p0, %r0, 32;"
        "@%p0 bra WRITES;" +
        first + "bar.arrive 1, 64;" + second +
        "bra DONE; WRITES: bar.sync 1, 64; st.shared.u32 [%r5], %r0; DONE:");
  };
  const std::string read = "ld.shared.u32 %r6, [%r4];", lane = "ld.shared.u32 %r6, [%r3+252];";
  EXPECT_THAT(found(kernel(read, ""), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(kernel(read, read), blocks(1, 64)), SizeIs(1));
  EXPECT_THAT(found(kernel(lane, ""), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(kernel(lane, lane), blocks(1, 64)), SizeIs(1));
}

TEST(SharedRace, OfWhatAThreadDoesBehindItsArrivalAtTheBarrierOfTheClusterIsFound) {
  // Warp 1 goes on first behind bar.sync.
  const auto kernel = [](const std::string& before, const std::string& behind) {
    return with_tile("st.shared.u32 [%r4], 7; bar.sync 0; setp.ge.u32 %p0, %r0, 32;" + before +
                     "barrier.cluster.arrive;" + behind +
                     "barrier.cluster.wait; @!%p0 ld.shared.u32 %r6, [%r5];");
  };
  const std::string write = "@%p0 st.shared.u32 [%r4], %r0;", prefetch = "mov.u32 %r7, 1;";
  EXPECT_THAT(found(kernel(write, ""), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(kernel(write, prefetch), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(kernel("", write), blocks(1, 64)), SizeIs(1));
  EXPECT_THAT(found(kernel("", write), blocks(1, 64), "lanes"), IsEmpty());
  // Of warps that have exited.
  EXPECT_THAT(found(kernel(write + "@%p0 exit;", prefetch), blocks(1, 64)), IsEmpty());
}

TEST(SharedRace, IsNoneOfAtomicsButWithOthers) {
  const std::string add = "atom.shared.add.u32 %r6, [%r3], 1;";
  EXPECT_THAT(found(with_tile(add), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(with_tile(add + "ld.shared.u32 %r6, [%r3];"), blocks(1, 64)), SizeIs(1));
}

TEST(SharedRace, OfAStoreBeforeAnAtomicOfItsWarpIsFound) {
  const auto kernel = [](const std::string& barrier) {
    return with_tile("setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [%r3], 7;" + barrier +
                     "atom.shared.add.u32 %r6, [%r3], 1;");
  };
  EXPECT_THAT(found(kernel(""), blocks(1, 64)),
              ElementsAre(AllOf(HasSubstr("thread (32,0,0)"),
                                HasSubstr("race: shared atomic access of 4 bytes at tile[0]"),
                                HasSubstr("which thread (0,0,0) (warp 0, lane 0) has written"))));
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(1, 64)), IsEmpty());
}

TEST(SharedRace, IsNoneOfOtherBytesOfAWordOrOfTheSameValue) {
  EXPECT_THAT(found(with_tile("add.u32 %r6, %r3, %r0; st.shared.u8 [%r6], %r0;"), blocks(1, 64)),
              IsEmpty());
  EXPECT_THAT(found(with_tile("st.shared.u32 [%r3], 5;"), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(with_tile("st.shared.u32 [%r3], %r0;"), blocks(1, 64)), SizeIs(1));
}

TEST(SharedRace, IsOrderedByFencesAndAFlag) {
  const auto kernel = [](const std::string& fence, const std::string& of_reader) {
    return with_tile(R"(
      st.shared.u32 [%r4], 1000;
      bar.sync 0;
      setp.lt.u32 %p0, %r0, 32;
      @!%p0 bra WRITES;
      POLL:
      ld.volatile.shared.u32 %r6, [%r3+252];
      setp.ne.u32 %p1, %r6, 7;
      @%p1 bra POLL;
    )" + of_reader + R"(
      ld.shared.u32 %r7, [%r5];
      st.global.u32 [%rd1], %r7;
      bra DONE;
      WRITES:
      setp.eq.u32 %p2, %r0, 63;
      @!%p2 st.shared.u32 [%r4], %r0;
    )" + fence + R"(
      @%p2 st.volatile.shared.u32 [%r4], 7;
      DONE:
    )");
  };
  // The words hold something else before: what writes the same again is no race.
  // Thread 0 reads the flag's word itself, which is strong on the other side alone.
  EXPECT_THAT(found(kernel("membar.cta;", "membar.cta;"), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(kernel("", "membar.cta;"), blocks(1, 64)), testing::Not(IsEmpty()));
  EXPECT_THAT(
      found(kernel("membar.cta;", ""), blocks(1, 64)),
      ElementsAre(HasSubstr("; no __syncthreads() stands between, nor a "
                            "__threadfence_block() behind the volatile or relaxed read at")));
}

TEST(SharedRace, WithACopyThatNothingHasWaitedForIsFound) {
  const auto kernel = [](const std::string& wait) {
    return with_tile(R"(
      cp.async.ca.shared.global [%r4], [%rd1], 4;
      cp.async.commit_group;
    )" + wait + R"(
      ld.shared.u32 %r6, [%r4];
      xor.b32 %r7, %r4, 128;
      ld.shared.u32 %r8, [%r7];
    )");
  };
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(2, 64)),
              Contains(AllOf(HasSubstr("race: shared read of 4 bytes at tile[0] (byte 0), which "
                                       "thread (0,0,0) (warp 0, lane 0) "
                                       "has written at"),
                             EndsWith("; the copy may not have arrived: no cp.async.wait_group of "
                                      "that thread stands between"))));
  EXPECT_THAT(found(kernel("cp.async.wait_group 0;"), blocks(2, 64)),
              AllOf(testing::Not(IsEmpty()),
                    testing::Each(EndsWith("; no __syncthreads() stands between"))));
  EXPECT_THAT(found(kernel("bar.sync 0; cp.async.wait_group 0;"), blocks(2, 64)),
              testing::Not(IsEmpty()));
  EXPECT_THAT(found(kernel("cp.async.wait_all; bar.sync 0;"), blocks(2, 64)), IsEmpty());
}

TEST(SharedRace, IsOrderedByAnMbarrierThatCopiesArriveAt) {
  const auto kernel = [](const std::string& wait) {
    return with_tile(R"(
      .shared .align 8 .b64 bar[1];
      mov.u32 %r10, bar;
      setp.eq.u32 %p1, %r0, 0;
      @%p1 mbarrier.init.shared.b64 [%r10], 64;
      bar.sync 0;
      cp.async.ca.shared.global [%r4], [%rd1], 4;
      cp.async.mbarrier.arrive.noinc.shared.b64 [%r10];
    )" + wait + "ld.shared.u32 %r6, [%r5];");
  };
  const std::string wait = R"(
    WAIT:
      mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;
      @!%p2 bra WAIT;
  )";
  EXPECT_THAT(found(kernel(wait), blocks(2, 64)), IsEmpty());
  EXPECT_THAT(found(kernel(""), blocks(2, 64)), testing::Not(IsEmpty()));
}

TEST(SharedRace, OfACopyInFlightEndsWithItsBlock) {
  // Block 1 stores where block 0 copies to.
  EXPECT_THAT(found(with_tile(R"(
    mov.u32 %r6, %ctaid.x;
    setp.eq.u32 %p0, %r6, 0;
    @%p0 cp.async.ca.shared.global [%r4], [%rd1], 4;
    @!%p0 st.shared.u32 [%r5], %r0;
  )"),
                    blocks(2, 64)),
              IsEmpty());
}

/// Lane by lane a warp accesses words that lie one behind the other: 1, 2 or 4 each.
class SharedRun : public testing::TestWithParam<int> {
 protected:
  int bytes() const { return 4 * GetParam(); }
  /// Thread t of 64 has in %r4 the address of its lane's words. In `body` LOAD and STORE access
  /// them, and LAST is the last word of lane 13.
  std::vector<std::string> found(std::string body, std::string_view checks = "races") const {
    const std::string type = bytes() == 4 ? "u32" : bytes() == 8 ? "v2.u32" : "v4.u32";
    const std::string value = bytes() == 4   ? "%r0"
                              : bytes() == 8 ? "{%r0, %r0}"
                                             : "{%r0, %r0, %r0, %r0}";
    const auto replace = [&](std::string_view name, const std::string& text) {
      for (std::size_t at; (at = body.find(name)) != body.npos;)
        body.replace(at, name.size(), text);
    };
    replace("LOAD", "ld.shared." + type + " " +
                        (bytes() == 4   ? "%r6"
                         : bytes() == 8 ? "{%r6, %r7}"
                                        : "{%r6, %r7, %r8, %r9}") +
                        ", [%r4]");
    replace("STORE", "st.shared." + type + " [%r4], " + value);
    replace("LAST", "[%r3+" + std::to_string(14 * bytes() - 4) + "]");
    return history_test::found(R"(
      .shared .align 16 .b8 run[512];
      mov.u32 %r3, run;
      and.b32 %r4, %r0, 31;
      mad.lo.u32 %r4, %r4, )" + std::to_string(bytes()) +
                                   R"(, %r3;
      setp.lt.u32 %p0, %r0, 32;
      setp.eq.u32 %p1, %r0, 63;
    )" + body,
                               blocks(2, 64), checks);
  }
};

// Behind the barrier warp 1 goes on first.
TEST_P(SharedRun, ReadsFindTheWriteOfOneWord) {
  const std::string write = "@%p0 STORE; bar.sync 0; @%p1 st.shared.u32 LAST, 7;";
  EXPECT_THAT(found(write + "@%p0 LOAD;"), ElementsAre(HasSubstr("thread (13,0,0)")));
  EXPECT_THAT(found(write + "bar.sync 0; @%p0 LOAD;"), IsEmpty());
}

TEST_P(SharedRun, ItsTracesNameTheLane) {
  EXPECT_THAT(found("@%p0 STORE; @%p1 ld.shared.u32 %r6, LAST;"),
              ElementsAre(HasSubstr("which thread (13,0,0) (warp 0, lane 13) has written")));
  EXPECT_THAT(found("@%p0 STORE; bar.sync 0; @!%p0 LOAD; setp.eq.u32 %p1, %r0, 0;"
                    "@%p1 st.shared.u32 LAST, 7;"),
              ElementsAre(HasSubstr("which thread (45,0,0) (warp 1, lane 13) has read")));
}

TEST_P(SharedRun, WritesFindReadsAndWrites) {
  const std::string all = "@%p0 STORE; bar.sync 0;";
  EXPECT_THAT(found(all + "@%p1 ld.shared.u32 %r6, LAST; add.u32 %r0, %r0, 1; @%p0 STORE;"),
              ElementsAre(HasSubstr("thread (13,0,0)")));
  EXPECT_THAT(found(all + "@%p1 st.shared.u32 LAST, 7; @%p0 STORE;"),
              ElementsAre(HasSubstr("thread (13,0,0)")));
  EXPECT_THAT(found(all + "@!%p0 LOAD; bar.sync 0; @%p0 STORE;"), IsEmpty());
}

TEST_P(SharedRun, ReadsFindWordsThatNothingWrote) {
  const auto kernel = [](const std::string& but) {
    return but + "@%p0 STORE; bar.sync 0; @%p2 LOAD;";
  };
  EXPECT_THAT(found(kernel("not.pred %p2, %p0;"), "uninitialised"), IsEmpty());
  EXPECT_THAT(
      found(kernel("not.pred %p2, %p0; setp.ne.and.u32 %p0, %r0, 13, %p0;"), "uninitialised"),
      Contains(HasSubstr("thread (45,0,0)")));
}

INSTANTIATE_TEST_SUITE_P(Words, SharedRun, testing::Values(1, 2, 4));

TEST(LanesRace, IsAskedForByItsOwnName) {
  const auto kernel = [](const std::string& sync) {
    return with_tile("st.shared.u32 [%r4], %r0;" + sync +
                     "xor.b32 %r6, %r4, 4; ld.shared.u32 %r6, [%r6];");
  };
  EXPECT_THAT(found(kernel(""), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(kernel(""), blocks(1, 64), "lanes"),
              ElementsAre(AllOf(HasSubstr("thread (0,0,0)"),
                                HasSubstr("which thread (1,0,0) (warp 0, lane 1) has"),
                                EndsWith("; no __syncwarp() stands between"))));
  EXPECT_THAT(found(kernel("bar.warp.sync -1;"), blocks(1, 64), "lanes"), IsEmpty());
}

TEST(LanesRace, IsToldBesideOneOfWarpsAtTheSameLinesWhichIsWorse) {
  const auto kernel = [](const std::string& sync) {  // each thread reads what the one before wrote
    return with_tile(R"(
      add.u32 %r6, %r0, 1;
      and.b32 %r6, %r6, 63;
      mad.lo.u32 %r6, %r6, 4, %r3;
      st.shared.u32 [%r6], %r0;
    )" + sync + "ld.shared.u32 %r7, [%r4];");
  };
  EXPECT_THAT(
      found(kernel(""), blocks(1, 64), "races,lanes"),
      ElementsAre(AllOf(HasSubstr(": race: "), HasSubstr("write of 4 bytes")),
                  AllOf(HasSubstr(": race: "), EndsWith("; no __syncthreads() stands between")),
                  AllOf(HasSubstr(": lane race: "), EndsWith("; no __syncwarp() stands between"))));
  EXPECT_THAT(found(kernel("bar.warp.sync -1;"), blocks(1, 64), "races,lanes"),
              AllOf(Not(IsEmpty()), Each(HasSubstr(": race: "))));
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(1, 64), "races,lanes"), IsEmpty());
}

TEST(LanesRace, OfAWriteIsFoundBehindTheReadOfItsOwnLane) {
  // A stencil in place: each lane adds the word of the next one to its own. `before` and `behind`
  // are the reads of the two words, in either order.
  const auto kernel = [](const std::string& before, const std::string& behind,
                         const std::string& sync) {
    return with_tile("st.shared.u32 [%r4], %r0; bar.warp.sync -1; xor.b32 %r6, %r4, 4;" + before +
                     behind + "add.u32 %r7, %r7, %r8;" + sync + "st.shared.u32 [%r4], %r7;");
  };
  const std::string own = "ld.shared.u32 %r7, [%r4];", other = "ld.shared.u32 %r8, [%r6];";
  const std::string sync = "bar.warp.sync -1;";
  const auto is_race =
      ElementsAre(HasSubstr("race: shared write of 4 bytes at tile[0] (byte 0), "
                            "which thread (1,0,0) (warp 0, lane 1) has read"));
  EXPECT_THAT(found(kernel(own, other, ""), blocks(1, 32), "lanes"), is_race);
  EXPECT_THAT(found(kernel(other, own, ""), blocks(1, 32), "lanes"), is_race);
  EXPECT_THAT(found(kernel(own, other, sync), blocks(1, 32), "lanes"), IsEmpty());
  EXPECT_THAT(found(kernel(other, own, sync), blocks(1, 32), "lanes"), IsEmpty());
}

TEST(LanesRace, OfReadsOfWhatTheFirstLaneWroteIsFound) {
  const auto kernel = [](const std::string& address, const std::string& sync) {
    return with_tile("setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.v4.u32 [%r3], {7, 8, 9, 10};" + sync +
                     "ld.shared.u32 %r6, [" + address + "];");
  };
  const std::string sync = "bar.warp.sync -1;";
  for (const std::string address : {"%r3", "%r4"}) {  // one word for all lanes, or one each
    EXPECT_THAT(found(kernel(address, ""), blocks(1, 32), "lanes"),
                ElementsAre(HasSubstr("thread (1,0,0)")));
    EXPECT_THAT(found(kernel(address, sync), blocks(1, 32), "lanes"), IsEmpty());
  }
}

TEST(LanesRace, OfAWriteIsFoundWithTheReadOfALaneThatHasNotWritten) {
  // Lane 0 has written the word. Lanes 1 and 2 read it, and lane 2 writes it again.
  EXPECT_THAT(found(with_tile(R"(
    setp.eq.u32 %p0, %r0, 0;
    setp.eq.u32 %p1, %r0, 1;
    setp.eq.u32 %p2, %r0, 2;
    @%p0 st.shared.u32 [%r3], 7;
    bar.warp.sync -1;
    @%p1 ld.shared.u32 %r6, [%r3];
    @%p2 ld.shared.u32 %r6, [%r3];
    @%p2 st.shared.u32 [%r3], 8;
  )"),
                    blocks(1, 32), "lanes"),
              ElementsAre(HasSubstr("which thread (1,0,0) (warp 0, lane 1) has read")));
}

TEST(LanesRace, IsFoundInGlobalMemory) {
  // Each lane reads its neighbour's word.
  const auto kernel = [](const std::string& sync) {
    return "st.global.u32 [%rd1], %r0;" + sync +
           "xor.b64 %rd3, %rd1, 4; ld.global.u32 %r6, [%rd3];";
  };
  EXPECT_THAT(found(kernel(""), blocks(2, 64)), IsEmpty());
  EXPECT_THAT(found(kernel(""), blocks(2, 64), "lanes"),
              ElementsAre(AllOf(HasSubstr("block (0,0,0), thread (0,0,0)"),
                                HasSubstr("race: global read of 4 bytes at byte 4 of"),
                                HasSubstr("which thread (1,0,0) (warp 0, lane 1) of block (0,0,0)"),
                                EndsWith("; no __syncwarp() stands between"))));
  EXPECT_THAT(found(kernel("bar.warp.sync -1;"), blocks(2, 64), "lanes"), IsEmpty());
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(2, 64), "lanes"), IsEmpty());
}

TEST(LanesRace, IsFoundInWholeSectorsThatLanesOfOtherWidthsUse) {
  // The lanes of warp 0 store 8 bytes each. Then each of them reads its own 8, 4 that lane / 2 has
  // written, or lane 0 alone a word of lane 1.
  const auto kernel = [](const std::string& read) {
    return "mad.lo.u32 %r3, %r0, 8, 0; cvt.u64.u32 %rd3, %r3; add.u64 %rd3, %rd3, %rd0;"
           "setp.ge.u32 %p1, %r0, 32; @%p1 bra DONE;"
           "setp.eq.u32 %p0, %r0, 0; st.global.v2.u32 [%rd3], {%r0, %r0};" +
           read + "DONE:";
  };
  EXPECT_THAT(found(kernel("ld.global.v2.u32 {%r4, %r5}, [%rd3];"), blocks(1, 64), "lanes"),
              IsEmpty());
  EXPECT_THAT(found(kernel("ld.global.u32 %r4, [%rd1];"), blocks(1, 64), "lanes"),
              ElementsAre(AllOf(HasSubstr("thread (1,0,0) (warp 0, lane 1), k"),
                                HasSubstr("which thread (0,0,0) (warp 0, lane 0)"))));
  EXPECT_THAT(found(kernel("@%p0 ld.global.u32 %r4, [%rd0 + 12];"), blocks(1, 64), "lanes"),
              ElementsAre(AllOf(HasSubstr("thread (0,0,0) (warp 0, lane 0), k"),
                                HasSubstr("which thread (1,0,0) (warp 0, lane 1)"))));
  EXPECT_THAT(found(kernel("@%p0 ld.global.u32 %r4, [%rd0 + 4];"), blocks(1, 64), "lanes"),
              IsEmpty());
}

TEST(LanesRace, HidesNoRaceOfWarpsInTheSameDirection) {
  // Each thread but the last stores to its neighbour's word, and loads its own.
  const std::string kernel = with_tile(
      "setp.lt.u32 %p0, %r0, 63; @%p0 st.shared.u32 [%r4 + 4], %r0; ld.shared.u32 %r6, [%r4];");
  EXPECT_THAT(found(kernel, blocks(1, 64), "races"), SizeIs(1));
  EXPECT_THAT(found(kernel, blocks(1, 64), "races,lanes"),
              UnorderedElementsAre(HasSubstr(": race: "), HasSubstr(": lane race: ")));
}

TEST(LanesRace, IsNoneBetweenAtomicsInGlobalMemory) {
  EXPECT_THAT(found("atom.global.add.u32 %r6, [%rd0], 1; atom.global.add.u32 %r6, [%rd0], 1;",
                    blocks(1, 32), "lanes"),
              IsEmpty());
  EXPECT_THAT(found("st.volatile.global.u32 [%rd1], %r0; ld.volatile.global.u32 %r6, [%rd0];",
                    blocks(1, 32), "lanes"),
              SizeIs(1));
}

TEST(SharedRace, OfAWeakReadIsFoundBehindAVolatileOne) {
  // Warp 0 reads, warp 1 reads, and warp 2 stores: volatile accesses do not race.
  const auto kernel = [](const std::string& read) {
    return with_tile(R"(
      setp.eq.u32 %p0, %r0, 0;
      setp.eq.u32 %p1, %r0, 32;
      setp.eq.u32 %p2, %r0, 64;
      @%p0 ld.volatile.shared.u32 %r6, [%r3];
      @%p1 )" + read +
                     R"(.shared.u32 %r6, [%r3];
      @%p2 st.volatile.shared.u32 [%r3], 8;
    )");
  };
  EXPECT_THAT(found(kernel("ld"), blocks(1, 96)),
              ElementsAre(HasSubstr("which thread (32,0,0) (warp 1, lane 0) has read")));
  EXPECT_THAT(found(kernel("ld.volatile"), blocks(1, 96)), IsEmpty());
}

TEST(LanesRace, LeavesRacesOfWarpsBehindABarrierToBeFound) {
  // Warp 0 reads before the barrier, warp 1 behind it, and warp 0 then writes.
  const std::string kernel = with_tile(R"(
    setp.lt.u32 %p0, %r0, 32;
    setp.eq.u32 %p1, %r0, 0;
    @%p0 ld.shared.u32 %r6, [%r3];
    bar.sync 0;
    @!%p0 ld.shared.u32 %r6, [%r3];
    @%p1 st.shared.u32 [%r3], 7;
  )");
  for (const char* const checks : {"races", "races,lanes"}) {
    EXPECT_THAT(found(kernel, blocks(1, 64), checks),
                ElementsAre(HasSubstr("thread (32,0,0) (warp 1, lane 0) has read")))
        << checks;
  }
}

TEST(LanesRace, SaysNothingOfOtherWarpsAndOfCopies) {
  const std::string of_warps = with_tile("st.shared.u32 [%r4], %r0; ld.shared.u32 %r6, [%r5];");
  const std::string of_copy =
      with_tile("cp.async.ca.shared.global [%r4], [%rd1], 4; ld.shared.u32 %r6, [%r4];");
  const std::string of_global =
      "st.global.u32 [%rd1], %r0; xor.b64 %rd3, %rd1, 128; ld.global.u32 %r6, [%rd3];";
  for (const std::string& kernel : {of_warps, of_copy, of_global}) {
    EXPECT_THAT(found(kernel, blocks(1, 64), "lanes"), IsEmpty());
    EXPECT_THAT(found(kernel, blocks(1, 64), "races"), testing::Not(IsEmpty()));
  }
}

// A store has left its trace before it is made: another worker must not take the old word for the
// new one.
TEST(GlobalRace, IsNoneOfEqualStoresThatWorkersMakeAtOnce) {
  Options options = limited();
  options.threads = 8;
  options.checks = checks_called("races");
  const std::string body = R"(
    mov.u32 %r3, 0;
    mul.wide.u32 %rd3, %r0, 4;
    add.u64 %rd3, %rd2, %rd3;
  L:
    st.global.u32 [%rd3], 7;
    add.u64 %rd3, %rd3, 128;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 1000;
    @%p1 bra L;
  )";
  for (int run = 0; run < 20; ++run) {
    EXPECT_THAT(run_body(body, blocks(64, 32), Words(32'000), options).findings, IsEmpty());
  }
}

TEST(GlobalRace, BetweenBlocksIsFoundWithBothThreads) {
  EXPECT_THAT(
      found("st.global.u32 [%rd0], %r1;", blocks(2, 1)),
      ElementsAre(
          AllOf(HasSubstr("block (1,0,0), thread (0,0,0)"),
                HasSubstr("race: global write of 4 bytes at byte 0 of output (8 bytes), "
                          "which thread (0,0,0) (warp 0, lane 0) of block (0,0,0) has written at"),
                HasSubstr("the blocks are not ordered"))));
  EXPECT_THAT(found("st.global.u32 [%rd1], %r1;", blocks(2, 32)), IsEmpty());
  EXPECT_THAT(found("red.global.add.u32 [%rd0], 1;", blocks(2, 32)), IsEmpty());
}

TEST(GlobalRace, OfAStoreBeforeAnAtomicOfItsWarpIsFound) {
  const std::string add = "atom.global.add.u32 %r5, [%rd0], 1;";
  EXPECT_THAT(found("setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd0], 7;" + add, blocks(2, 32)),
              ElementsAre(AllOf(HasSubstr("block (1,0,0)"), HasSubstr("global atomic access"),
                                HasSubstr("of block (0,0,0) has written"))));
  EXPECT_THAT(found(add + add, blocks(2, 32)), IsEmpty());
}

TEST(GlobalRace, BetweenWarpsOfABlockIsFound) {
  const auto kernel = [](const std::string& barrier) {
    return "st.global.u32 [%rd1], %r1;" + barrier + R"(
      xor.b32 %r3, %r1, 63;
      mul.wide.u32 %rd3, %r3, 4;
      add.u64 %rd3, %rd0, %rd3;
      ld.global.u32 %r4, [%rd3];
    )";
  };
  EXPECT_THAT(found(kernel(""), blocks(1, 64)),
              Contains(AllOf(
                  HasSubstr("thread (32,0,0)"),
                  HasSubstr("race: global read of 4 bytes at byte 124 of output (256 "
                            "bytes), which thread (31,0,0) (warp 0, lane 31) of block (0,0,0) has "
                            "written at"),
                  EndsWith("; no __syncthreads() stands between"))));
  EXPECT_THAT(found(kernel("bar.sync 0;"), blocks(1, 64)), IsEmpty());
}

/// Thread 0 of block 1 overwrites, and reads, what 32 threads of block 0 access as whole sectors,
/// or the other way round.
TEST(GlobalRace, BetweenSectorsAndWordsIsFound) {
  const auto kernel = [](const std::string& first, const std::string& second) {
    return R"(
      mov.u32 %r4, %tid.x;
      mul.wide.u32 %rd3, %r4, 4;
      add.u64 %rd3, %rd0, %rd3;
      setp.ge.u32 %p0, %r1, 32;
      setp.eq.and.u32 %p1, %r4, 3, %p0;
      @%p0 bra SECOND;
    )" + first +
           "bra DONE;\nSECOND:\n" + second + "DONE:\n";
  };
  const std::string sectors_read = "ld.global.u32 %r5, [%rd3];";
  const std::string sectors_written = "st.global.u32 [%rd3], %r1;";
  const std::string word_read = "@%p1 ld.global.u32 %r6, [%rd3];";
  const std::string word_written = "@%p1 st.global.u32 [%rd3], 77;";
  const auto races = [&](const std::string& first, const std::string& second) {
    return found(kernel(first, second), blocks(2, 32));
  };
  const auto names = [](const std::string& access, const std::string& verb) {
    return ElementsAre(HasSubstr("global " + access +
                                 " of 4 bytes at byte 12 of output (256 bytes), which thread "
                                 "(3,0,0) (warp 0, lane 3) of block (0,0,0) has " +
                                 verb));
  };
  EXPECT_THAT(races(sectors_written, word_read), names("read", "written"));
  EXPECT_THAT(races(sectors_written, word_written), names("write", "written"));
  EXPECT_THAT(races(sectors_read, word_written), names("write", "read"));
  EXPECT_THAT(races(sectors_read, word_read), IsEmpty());
  const std::string first_word_written = "setp.eq.u32 %p1, %r4, 3;" + word_written;
  const std::string first_word_read = "setp.eq.u32 %p1, %r4, 3;" + word_read;
  EXPECT_THAT(races(first_word_written, sectors_read), names("read", "written"));
  EXPECT_THAT(races(first_word_written, sectors_written), names("write", "written"));
  EXPECT_THAT(races(first_word_read, sectors_written), names("write", "read"));
}

TEST(GlobalRace, WithReadsOfAWordAndOfItsSectorIsFoundWithBoth) {
  // Block 0 reads words 1 to 32, backwards and forwards: the latter are sectors but for the ends.
  const std::string kernel = R"(
    setp.ge.u32 %p0, %r1, 32;
    @%p0 bra WRITES;
    mul.wide.u32 %rd3, %r0, 4;
    add.u64 %rd4, %rd0, %rd3;
    sub.u64 %rd3, %rd0, %rd3;
    .loc 1 40 0
    ld.global.u32 %r4, [%rd3+128];
    .loc 1 41 0
    ld.global.u32 %r4, [%rd4+4];
    bra DONE;
  WRITES:
    .loc 1 42 0
    st.global.u32 [%rd0+40], 5;
  DONE:
  )";
  EXPECT_THAT(
      found(kernel, blocks(2, 32)),
      UnorderedElementsAre(HasSubstr("has read at f.cu:40;"), HasSubstr("has read at f.cu:41;")));
}

TEST(GlobalRace, IsNoneForTheLastBlockBehindAFence) {
  const auto kernel = [](const std::string& fence, const std::string& scope = "") {
    return "st.global.u32 [%rd1], %r1;" + fence + "atom" + scope +
           R"(.global.add.u32 %r3, [%rd2], 1;
      setp.ne.u32 %p0, %r3, 3;
      @%p0 bra DONE;
    )" + fence +
           R"(
      ld.global.u32 %r4, [%rd0];
      ld.global.u32 %r5, [%rd0+4];
      ld.global.u32 %r6, [%rd0+8];
      DONE:
    )";
  };
  EXPECT_THAT(found(kernel("membar.gl;"), blocks(4, 1)), IsEmpty());
  EXPECT_THAT(found(kernel("membar.cta;"), blocks(4, 1)), Not(IsEmpty()));
  EXPECT_THAT(found(kernel("", ".acq_rel.gpu"), blocks(4, 1)), IsEmpty());
  EXPECT_THAT(found(kernel("", ".acq_rel.cta"), blocks(4, 1)), Not(IsEmpty()));
  EXPECT_THAT(found(kernel("membar.gl;", ".cta"), blocks(4, 1)), Not(IsEmpty()))
      << "atomicAdd_block() tells other blocks nothing";
}

TEST(GlobalRace, OfASecondReadBehindTheFenceIsFound) {
  // Block 0 reads, says so, and reads once more; its lanes access whole sectors, or in no order.
  const auto races = [](const std::string& second, const std::string& step) {
    return found(
               "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p0, %r3, 0; mul.lo.u32 %r4, %r0, " + step +
                   "; and.b32 %r4, %r4, 31; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd3, %rd0;"
                   "@!%p0 bra WRITE;"
                   "ld.global.u32 %r6, [%rd3]; membar.gl; atom.global.add.u32 %r5, [%rd0+128], 1;" +
                   second +
                   "bra DONE; WRITE: atom.global.add.u32 %r5, [%rd0+128], 0; membar.gl;"
                   "st.global.u32 [%rd3], 7; DONE:",
               blocks(2, 32))
        .size();
  };
  for (const std::string step : {"1", "5"}) {
    EXPECT_EQ(races("", step), 0U);
    EXPECT_EQ(races("ld.global.u32 %r6, [%rd3];", step), 1U);
  }
}

TEST(GlobalRace, OfAWarpThatHasNotMetTheOneThatFencesIsFound) {
  // All threads of two blocks write, the last warp counts its block, and the last block reads what
  // warp 0 of the first has written.
  const auto races = [](const std::string& before, const std::string& fence) {
    return found("st.global.u32 [%rd1], %r1;" + before +
                     "setp.ne.u32 %p0, %r0, 64; @%p0 bra DONE;" + fence +
                     "atom.global.add.u32 %r3, [%rd2], 1; setp.ne.u32 %p0, %r3, 1;"
                     "@%p0 bra DONE; ld.global.u32 %r4, [%rd0]; DONE:",
                 blocks(2, 96))
        .size();
  };
  const std::string fence = "membar.gl;", meet = "@%p1 bar.sync 1, 64;";
  EXPECT_EQ(races("bar.sync 0;", fence), 0U);
  EXPECT_EQ(races("", fence), 1U);
  EXPECT_EQ(races("membar.gl; bar.sync 0;", ""), 0U) << "each warp has fenced";
  EXPECT_EQ(races("setp.ge.u32 %p1, %r0, 32;" + meet, fence), 1U) << "warps 1 and 2 have met";
  EXPECT_EQ(races("and.b32 %r5, %r0, 32; setp.eq.u32 %p1, %r5, 0;" + meet, fence), 0U)
      << "warps 0 and 2 have met";
}

TEST(GlobalRace, IsNotOrderedByAReadWithoutAFenceBehindIt) {
  // Thread 0 of block 1 sees the flag. Each thread of the block reads what block 0 has written.
  const auto kernel = [](const std::string& read, const std::string& behind) {
    return "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p0, %r3, 0; setp.eq.u32 %p1, %r0, 0;"
           "@!%p0 bra READ; @%p1 st.global.u32 [%rd0], 7; membar.gl;"
           "@%p1 st.relaxed.gpu.global.u32 [%rd0 + 4], 1; bra DONE; READ: @!%p1 bra MEET;\n"
           ".loc 1 17 0\n" +
           read + " [%rd0 + 4];\n.loc 1 18 0\n" + behind + "ld.global.u32 %r6, [%rd0]; DONE:";
  };
  const Shape shape = blocks(2, 64);
  const auto races = [&](const std::string& read, const std::string& behind) {
    return found(kernel(read, behind), shape).size();
  };
  const std::string meet = "MEET: bar.sync 0;";
  const std::string relaxed = "ld.relaxed.gpu.global.u32 %r5,";
  EXPECT_THAT(found(kernel(relaxed, meet), shape),
              ElementsAre(EndsWith("the blocks are not ordered: no __threadfence() stands between "
                                   "this and the volatile or relaxed read at f.cu:17")));
  for (const std::string read : {relaxed.c_str(), "ld.volatile.global.u32 %r5,"}) {
    EXPECT_EQ(races(read, meet), 1U) << read;
    EXPECT_EQ(races(read, "membar.gl;" + meet), 0U) << read;
    EXPECT_EQ(races(read, "fence.acq_rel.gpu;" + meet), 0U) << read;
    EXPECT_EQ(races(read, "membar.cta;" + meet), 1U) << read << ": the fence is of its block only";
    EXPECT_EQ(races(read, meet + "membar.gl;"), 0U) << read << ": all that meet it may fence";
  }
  EXPECT_EQ(races("ld.acquire.gpu.global.u32 %r5,", meet), 0U);
  EXPECT_EQ(races("ld.relaxed.cta.global.u32 %r5,", "membar.gl;" + meet), 2U)
      << "and of the flag, which the scope .cta does not share with block 0";
}

TEST(GlobalRace, OfAtomicsWhoseScopeIsTooSmallIsFound) {
  const auto add = [](const std::string& scope) {
    return "red" + scope + ".global.add.u32 [%rd0], 1;";
  };
  const auto cta = AllOf(HasSubstr("race: global atomic access of 4 bytes at byte 0 of output"),
                         HasSubstr("; one of the two has the scope .cta, and is atomic for threads "
                                   "of its block only: both need the scope .gpu (atomicAdd() for "
                                   "atomicAdd_block(), cuda::thread_scope_device)"));
  EXPECT_THAT(found(add(".relaxed.cta"), blocks(2, 64)), ElementsAre(cta));
  EXPECT_THAT(found(add(".relaxed.cta"), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found(add(".relaxed.gpu"), blocks(2, 64)), IsEmpty());
  // One of the two is enough, whichever comes first.
  for (const std::string first : {"eq", "ne"}) {
    const std::string body = "mov.u32 %r3, %ctaid.x; setp." + first + ".u32 %p0, %r3, 0; @%p0 " +
                             add(".relaxed.cta") + "@!%p0 " + add(".relaxed.gpu");
    EXPECT_THAT(found(body, blocks(2, 1)), ElementsAre(cta)) << first;
  }
  EXPECT_THAT(found("st.relaxed.cta.global.u32 [%rd0], %r1;", blocks(2, 1)), SizeIs(1));
  EXPECT_THAT(found("st.relaxed.gpu.global.u32 [%rd0], %r1;", blocks(2, 1)), IsEmpty());
  Shape shape = blocks(2, 1);
  shape.cluster = {2, 1, 1};
  EXPECT_THAT(found(add(".relaxed.cluster"), shape), IsEmpty());
  shape.grid = {4, 1, 1};
  EXPECT_THAT(found(add(".relaxed.cluster"), shape),
              ElementsAre(HasSubstr("one of the two has the scope .cluster")));
}

TEST(GlobalRace, IsOrderedByTheScopesOfAReleaseAndAnAcquire) {
  // Block 0 writes a word and sets a flag, the last block reads the flag and the word. Of four
  // blocks two and two are a cluster.
  const auto kernel = [](const std::string& release, const std::string& acquire) {
    return "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; sub.u32 %r4, %r4, 1;"
           "setp.eq.u32 %p0, %r3, 0; setp.eq.u32 %p1, %r3, %r4;"
           "@%p0 st.global.u32 [%rd0], 7; @%p0 st.release" +
           release + ".global.u32 [%rd0 + 4], 1; @%p1 ld.acquire" + acquire +
           ".global.u32 %r5, [%rd0 + 4]; @%p1 ld.global.u32 %r6, [%rd0];";
  };
  const auto in_clusters = [](std::uint32_t count) {
    Shape shape = blocks(count, 1);
    shape.cluster = {2, 1, 1};
    return shape;
  };
  const auto races = [&](const char* release, const char* acquire, const Shape& shape) {
    return found(kernel(release, acquire), shape).size();
  };
  EXPECT_EQ(races(".cluster", ".cluster", in_clusters(2)), 0U);
  EXPECT_EQ(races(".gpu", ".cluster", in_clusters(2)), 0U);
  EXPECT_EQ(races(".cluster", ".gpu", in_clusters(2)), 0U);
  EXPECT_EQ(races(".cta", ".cluster", in_clusters(2)), 1U);
  EXPECT_EQ(races(".cluster", ".cta", in_clusters(2)), 1U);
  EXPECT_EQ(races(".gpu", ".gpu", in_clusters(4)), 0U);
  EXPECT_EQ(races(".cluster", ".gpu", in_clusters(4)), 1U);
  EXPECT_EQ(races(".gpu", ".cluster", in_clusters(4)), 1U);
  EXPECT_EQ(races(".cluster", ".cluster", blocks(2, 1)), 1U) << "each block is a cluster";
}

TEST(GlobalRace, IsOrderedInAClusterByItsBarrier) {
  const auto kernel = [](const std::string& barrier) {
    return "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p0, %r3, 0; @%p0 st.global.u32 [%rd0], 7;" +
           barrier + "@!%p0 ld.global.u32 %r6, [%rd0];";
  };
  const auto races = [&](const std::string& barrier, std::uint32_t count) {
    Shape shape = blocks(count, 1);
    shape.cluster = {2, 1, 1};
    return found(kernel(barrier), shape).size();
  };
  const std::string wait = "barrier.cluster.wait;";
  EXPECT_EQ(races("", 2), 1U);
  EXPECT_EQ(races("barrier.cluster.arrive;" + wait, 2), 0U);
  EXPECT_EQ(races("barrier.cluster.arrive;" + wait, 4), 1U) << "blocks 2 and 3 are another one";
  EXPECT_EQ(races("barrier.cluster.arrive.relaxed;" + wait, 2), 1U);
  EXPECT_EQ(races("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;" + wait, 2), 0U);
}

TEST(GlobalRace, IsOrderedInAClusterByAnMbarrierOfItsScope) {
  // Block 0 writes a word and arrives at an mbarrier of block 1, which waits for that and reads it.
  const auto races = [](const std::string& scope) {
    Shape shape = blocks(2, 1);
    shape.cluster = {2, 1, 1};
    return found(R"(
      .shared .align 8 .b64 barrier;
      mov.u32 %r3, %ctaid.x; setp.eq.u32 %p0, %r3, 0; mov.u32 %r4, barrier;
      mbarrier.init.shared.b64 [%r4], 1;
      fence.mbarrier_init.release.cluster;
      barrier.cluster.arrive; barrier.cluster.wait;
      mapa.shared::cluster.u32 %r5, %r4, 1;
      @%p0 st.global.u32 [%rd0], 7;
      @%p0 mbarrier.arrive.release)" +
                     scope + R"(.shared::cluster.b64 _, [%r5];
      @%p0 bra DONE;
      WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r4], 0;
      @!%p1 bra WAIT;
      ld.global.u32 %r6, [%rd0];
      DONE: barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    )",
                 shape)
        .size();
  };
  EXPECT_EQ(races(".cluster"), 0U);
  EXPECT_EQ(races(".cta"), 1U);
}

TEST(GlobalRace, IsNoneAcrossABarrierOfTheGrid) {
  const auto kernel = [](const std::string& barrier) {
    return "st.global.u32 [%rd1], %r1;" + barrier + R"(
      xor.b32 %r3, %r1, 1;
      mul.wide.u32 %rd3, %r3, 4;
      add.u64 %rd3, %rd0, %rd3;
      ld.global.u32 %r4, [%rd3];
    )";
  };
  Shape shape = blocks(2, 1);
  shape.cooperative = true;
  EXPECT_THAT(found(kernel(R"(
      membar.gl;
      atom.global.add.u32 %r5, [%rd2], 1;
      POLL:
      ld.volatile.global.u32 %r5, [%rd2];
      setp.lt.u32 %p0, %r5, 2;
      @%p0 bra POLL;
      membar.gl;
    )"),
                    shape),
              IsEmpty());
  EXPECT_THAT(found(kernel(""), shape), testing::Not(IsEmpty()));
}

TEST(LaunchRace, IsNoneWithALaunchThatHasNoNumber) {
  const auto found_behind = [](std::uint64_t number) {
    Options options = limited();
    options.threads = 1;
    options.checks = checks_called("races");
    LoadedKernel kernel(
        kernel_text("ld.global.u32 %r3, [%rd0]; add.u32 %r3, %r3, 1; st.global.u32 [%rd0], %r3;"),
        blocks(1, 1), {}, options);
    std::vector<Finding> findings;
    Launch first = kernel.launch();
    if (number != 0) first.number = number;
    Launch second = kernel.launch();
    second.number = 2;
    second.concurrent = {{.number = 1}};
    second.findings = &findings;
    kernel.run(first);
    kernel.run(second);
    return findings.size();
  };
  EXPECT_EQ(found_behind(0), 0U);
  EXPECT_EQ(found_behind(1), 1U);
}

TEST(LaneRace, IsNotOrderedByVolatileAccessesOrShuffles) {
  // The last step of a reduction: lane l adds what lane l + 16 has written.
  const auto kernel = [](const std::string& modifier, const std::string& between) {
    return with_tile("st" + modifier + ".shared.u32 [%r4], %r0;\n" + between + "\nld" + modifier +
                     ".shared.u32 %r6, [%r4 + 64]; st.global.u32 [%rd1], %r6;");
  };
  const std::string shuffle = "shfl.sync.down.b32 %r7, %r0, 0, 31, -1;";
  for (const std::string modifier : {"", ".volatile"}) {
    EXPECT_THAT(found(kernel(modifier, ""), blocks(1, 32), "lanes"), SizeIs(1)) << modifier;
    EXPECT_THAT(found(kernel(modifier, shuffle), blocks(1, 32), "lanes"), SizeIs(1)) << modifier;
    EXPECT_THAT(found(kernel(modifier, "bar.warp.sync -1;"), blocks(1, 32), "lanes"), IsEmpty());
    EXPECT_THAT(found(kernel(modifier, ""), blocks(1, 32), "races"), IsEmpty());
  }
  EXPECT_THAT(found(with_tile("atom.shared.add.u32 %r6, [%r3], 1;"), blocks(1, 32), "lanes"),
              IsEmpty());
}

TEST(ReadOnlyLoad, OfWhatTheGridWritesIsFound) {
  const auto kernel = [](const std::string& load) {
    return "st.global.u32 [%rd1], %r0; bar.sync 0; " + load + " %r3, [%rd1];";
  };
  EXPECT_THAT(found(kernel("ld.global.nc.u32"), blocks(1, 64)),
              ElementsAre(AllOf(HasSubstr("read-only load: global read of 4 bytes at byte 128 of "
                                          "output (256 bytes), which this grid writes at"),
                                HasSubstr("ld.global.nc may only read what nothing writes"))));
  EXPECT_THAT(found(kernel("ld.global.u32"), blocks(1, 64)), IsEmpty());
  EXPECT_THAT(found("ld.global.nc.u32 %r3, [%rd1];", blocks(1, 64)), IsEmpty());
}

TEST(Uninitialised, SharedMemoryIsFoundInEachBlock) {
  const std::string kernel = with_tile(R"(
    setp.eq.u32 %p0, %r1, 67;
    @!%p0 st.shared.u32 [%r4], %r0;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%rd1], %r5;
  )");
  EXPECT_THAT(found(kernel, blocks(2, 64)), IsEmpty());
  EXPECT_THAT(found(kernel, blocks(2, 64), "uninitialised"),
              ElementsAre(AllOf(
                  HasSubstr("block (1,0,0), thread (3,0,0)"),
                  EndsWith("uninitialised: shared read of 4 bytes at tile[3] (byte 12): no thread "
                           "of the block has written it"))));
}

TEST(Uninitialised, AnMbarrierIsEightBytes) {
  const auto kernel = [](const std::string& offset) {
    return R"(
      .shared .align 8 .b8 both[16];
      mov.u32 %r3, both;
      setp.eq.u32 %p0, %r0, 0;
      @%p0 mbarrier.init.shared.b64 [%r3], 1;
      bar.sync 0;
      ld.shared.u32 %r4, [%r3+)" +
           offset + "]; st.global.u32 [%rd1], %r4;";
  };
  EXPECT_THAT(found(kernel("4"), blocks(1, 32), "uninitialised"), IsEmpty());
  EXPECT_THAT(found(kernel("8"), blocks(1, 32), "uninitialised"), SizeIs(1));
}

TEST(Uninitialised, GlobalMemoryIsFoundWhereNothingWroteIt) {
  Shape shape = blocks(1, 32);
  EXPECT_THAT(found("ld.global.u32 %r3, [%rd1];", shape, "uninitialised"), IsEmpty());
  shape.is_unwritten = true;
  EXPECT_THAT(found("ld.global.u32 %r3, [%rd1];", shape, "uninitialised"),
              ElementsAre(EndsWith("uninitialised: global read of 4 bytes at byte 0 of output (128 "
                                   "bytes): nothing has written it")));
  EXPECT_THAT(found("st.global.u32 [%rd1], 1; ld.global.u32 %r3, [%rd1];", shape, "uninitialised"),
              IsEmpty());
  // A copy of a structure takes its padding with it.
  EXPECT_THAT(found("and.b64 %rd3, %rd1, -8; st.global.u32 [%rd3], 1;"
                    "ld.global.v2.u32 {%r3, %r4}, [%rd3];",
                    shape, "uninitialised"),
              IsEmpty());
}

TEST(Uninitialised, GlobalMemoryAroundWhatWasWrittenIsFound) {
  Options options = limited();
  options.threads = 1;
  options.checks = checks_called("uninitialised");
  Machine machine(Architecture{}, options);
  constexpr std::string_view kBody = R"(
    ld.global.u32 %r3, [%rd1+128];
    ld.global.u32 %r3, [%rd1];
    ld.global.u32 %r3, [%rd1+256];
  )";
  Program& program = machine.load(ptx::parse(kernel_text(kBody), "test.ptx"));
  std::byte* const begin = machine.memory().allocate(384, memory::Memory::Kind::device, "array");
  machine.memory().note_written(begin + 128, 128);
  const std::array<const std::byte*, 2> parameters = {begin, nullptr};
  std::vector<Finding> findings;
  Launch launch;
  launch.block = {32, 1, 1};
  launch.parameters = std::as_bytes(std::span(parameters));
  launch.findings = &findings;
  machine.run(*machine.find_kernel(program, "k"), launch);
  EXPECT_THAT(findings, UnorderedElementsAre(
                            Field(&Finding::text, HasSubstr("at byte 0 of array (384 bytes)")),
                            Field(&Finding::text, HasSubstr("at byte 256 of array (384 bytes)"))));
}

TEST(Uninitialised, AnExchangeGivesMemoryItsFirstValue) {
  Shape shape = blocks(1, 32);
  shape.is_unwritten = true;
  EXPECT_THAT(found("atom.global.exch.b32 %r3, [%rd1], 1; ld.global.u32 %r3, [%rd1];", shape,
                    "uninitialised"),
              IsEmpty());
  EXPECT_THAT(found("atom.global.add.u32 %r3, [%rd1], 1;", shape, "uninitialised"),
              ElementsAre(HasSubstr("uninitialised: global atomic access of 4 bytes")));
  const std::string kernel =
      with_tile("atom.shared.exch.b32 %r5, [%r4], 0; atom.shared.add.u32 %r5, [%r4], 1;");
  EXPECT_THAT(found(kernel, blocks(1, 32), "uninitialised"), IsEmpty());
}

TEST(Stores, OfSeveralValuesToOneWordAreFound) {
  const std::string_view checks = "stores";
  EXPECT_THAT(
      found("shr.u32 %r3, %r0, 1; st.global.u32 [%rd0], %r3;", blocks(1, 32), checks),
      ElementsAre(AllOf(HasSubstr("thread (0,0,0)"),
                        HasSubstr("one word, several values: global write of 4 bytes at "
                                  "byte 0 of output (128 bytes), to which thread (2,0,0)"))));
  EXPECT_THAT(found("st.global.u32 [%rd0], 3;", blocks(1, 32), checks), IsEmpty());
  EXPECT_THAT(found(with_tile("st.shared.u32 [%r3], %r0;"), blocks(1, 32), checks), SizeIs(1));
}

TEST(Shuffles, FromAbsentLanesAreFound) {
  const std::string shuffle = "shfl.sync.down.b32 %r3, %r0, 8, 31, -1;";
  EXPECT_THAT(found(shuffle, blocks(1, 32), "shuffles"), IsEmpty());
  EXPECT_THAT(found(shuffle, blocks(1, 16), "shuffles"),
              ElementsAre(AllOf(HasSubstr("thread (8,0,0)"),
                                HasSubstr("shuffle: takes the value of lane 16, which does not"))));
}

TEST(Shuffles, OfLanesOutsideOfTheirMaskAreFound) {
  // Lanes 16 to 31 name the lanes 0 to 15, or themselves.
  const auto kernel = [](const std::string& mask, const std::string& operation) {
    return "shr.u32 %r4, %r0, 4;\n" + mask + operation;
  };
  const std::string wrong = "mov.u32 %r5, 65535;";
  const std::string right = "mul.lo.u32 %r6, %r4, 16; mov.u32 %r5, 65535; shl.b32 %r5, %r5, %r6;";
  for (const std::string operation :
       {"shfl.sync.bfly.b32 %r3, %r0, 8, 31, %r5;", "vote.sync.ballot.b32 %r3, %p0, %r5;",
        "match.any.sync.b32 %r3, %r0, %r5;", "redux.sync.add.u32 %r3, %r0, %r5;",
        "bar.warp.sync %r5;"}) {
    EXPECT_THAT(found(kernel(wrong, operation), blocks(1, 32), "shuffles"),
                ElementsAre(AllOf(HasSubstr("thread (16,0,0)"),
                                  HasSubstr("mask: its member mask 0x0000ffff does not name"))))
        << operation;
    EXPECT_THAT(found(kernel(right, operation), blocks(1, 32), "shuffles"), IsEmpty()) << operation;
  }
}

TEST(Barriers, OfAWarpThatHasPartedAreFound) {
  const auto kernel = [](const std::string& barrier, const std::string& way) {
    return "setp.lt.u32 %p0, %r0, " + way + ";\n@%p0 bra THEN;\n" + barrier +
           "\nbra.uni MEET;\nTHEN:\n" + barrier + "\nMEET:\nst.global.u32 [%rd1], %r0;";
  };
  EXPECT_THAT(found(kernel("bar.sync 0;", "16"), blocks(1, 64), "barriers"),
              ElementsAre(AllOf(HasSubstr("barrier: lanes 0-15 of the warp come to barrier 0 here"),
                                HasSubstr(", and lanes 16-31 at k, PTX line"))));
  EXPECT_THAT(found(kernel("bar.sync 0;", "16"), blocks(1, 64), "none"), IsEmpty());
  EXPECT_THAT(found(kernel("bar.sync 0;", "32"), blocks(1, 64), "barriers"), IsEmpty())
      << "whole warps";
  EXPECT_THAT(found(kernel("barrier.sync 0;", "16"), blocks(1, 64), "barriers"), IsEmpty())
      << "which may be so";
  EXPECT_THAT(found(kernel("barrier.sync.aligned 0;", "16"), blocks(1, 64), "barriers"), SizeIs(1));
}

TEST(Barriers, WithSeveralNumbersOfThreadsAreFound) {
  const auto kernel = [](const std::string& number) {
    return "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra THEN;\nbar.sync 1, 64;\nbra.uni MEET;\nTHEN:\n"
           "bar.arrive 1, " +
           number + ";\nMEET:\nst.global.u32 [%rd1], %r0;";
  };
  EXPECT_THAT(found(kernel("96"), blocks(1, 64), "barriers"),
              ElementsAre(HasSubstr("barrier: barrier 1 of 64 threads, for which others wait as "
                                    "for one of 96")));
  EXPECT_THAT(found(kernel("64"), blocks(1, 64), "barriers"), IsEmpty());
}

TEST(Findings, OfALaunchThatFaultsAreKept) {
  Options options = limited();
  options.threads = 1;
  options.checks = checks_called("races");
  Machine machine(Architecture{}, options);
  Program& program = machine.load(ptx::parse(
      kernel_text(
          with_tile("st.shared.u32 [%r4], %r0; ld.shared.u32 %r6, [%r5]; bar.sync 0; trap;")),
      "test.ptx"));
  const std::array<std::uint64_t, 2> parameters{};
  std::vector<Finding> findings;
  Launch launch;
  launch.block = {64, 1, 1};
  launch.parameters = std::as_bytes(std::span(parameters));
  launch.findings = &findings;
  EXPECT_THROW(machine.run(*machine.find_kernel(program, "k"), launch), Fault);
  EXPECT_THAT(findings, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::history_test
