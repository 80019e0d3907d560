// Lives of registers, which decide which of them may share a place.
#include "harness/emulator/machine/decode/register_lives.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "tests/emulator/kernel_run.h"
#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::machine::decode::register_lives_test {
namespace {

using Lives = std::map<std::string, std::pair<std::uint32_t, std::uint32_t>>;

// The lives of registers in a body whose blocks keep their order.
Lives lives_of(const std::string& body) {
  const ptx::Function function = ptx::parse_body(".reg .u32 %a, %b, %c, %d; .reg .pred %p;" + body);
  std::vector<std::uint32_t> places(function.body.size() + 1);
  std::iota(places.begin(), places.end(), 0);
  Lives lives;
  for (const auto& [variable, first, last] :
       register_lives(function, block_graph(function), places)) {
    lives[variable->name] = {first, last};
  }
  return lives;
}

TEST(RegisterLives, FromTheResultToTheLastUse) {
  EXPECT_EQ(lives_of(R"(
    mov.u32 %a, 1;
    add.u32 %b, %a, 1;
    add.u32 %b, %b, %a;
    mov.u32 %c, 5;
    st.global.u32 [%b], %c;
  )"),
            (Lives{{"%a", {0, 2}}, {"%b", {1, 4}}, {"%c", {3, 4}}}));
}

TEST(RegisterLives, WhatALoopReadsFromItsLastRoundLivesAllThroughIt) {
  EXPECT_EQ(
      lives_of(R"(
    mov.u32 %a, 0;
    mov.u32 %d, 9;
  LOOP:
    add.u32 %b, %a, %d;
    add.u32 %a, %b, 1;
    mov.u32 %c, 3;
    setp.lt.u32 %p, %c, 5;
    @%p bra LOOP;
    ret;
  )"),
      (Lives{{"%a", {0, 6}}, {"%d", {1, 6}}, {"%b", {2, 3}}, {"%c", {4, 5}}, {"%p", {5, 6}}}));
}

TEST(RegisterLives, TheResultOfACallBeginsThere) {
  EXPECT_EQ(lives_of(R"(
    mov.u32 %a, 1;
    call (%b), f, (%a);
    st.global.u32 [%b], %b;
  )"),
            (Lives{{"%a", {0, 1}}, {"%b", {1, 2}}}));
}

TEST(RegisterLives, OneSideOfABranchMayLeaveAValueOfBefore) {
  EXPECT_EQ(lives_of(R"(
    mov.u32 %a, 1;
    setp.lt.u32 %p, %a, 5;
    @%p bra SKIP;
    mov.u32 %a, 2;
    mov.u32 %b, 3;
  SKIP:
    st.global.u32 [%a], %b;
  )"),
            // %b may come from before the kernel began: it lives from there on.
            (Lives{{"%a", {0, 5}}, {"%p", {1, 2}}, {"%b", {0, 5}}}));
}

TEST(RegisterLives, LanesWhoseGuardFailsKeepTheirValue) {
  EXPECT_EQ(lives_of(R"(
    mov.u32 %a, 1;
    mov.u32 %c, 1;
    setp.lt.u32 %p, %c, 5;
    @%p mov.u32 %a, 2;
    st.global.u32 [%c], %a;
  )"),
            (Lives{{"%a", {0, 4}}, {"%c", {1, 4}}, {"%p", {2, 3}}}));
}

// Many values that are alive together and many that are not: each thread adds up numbers in an
// order that keeps some for long.
TEST(RegisterLives, SharedPlacesKeepValuesApart) {
  constexpr int kValues = 400;
  std::string body = ".reg .u32 %v<500>; .reg .u64 %w<500>; mov.u32 %r20, 0;\n";
  const auto v = [](int n) { return "%v" + std::to_string(n); };
  const auto w = [](int n) { return "%w" + std::to_string(n); };
  std::uint32_t expected = 0, factor = 0;
  for (int n = 0; n < kValues; ++n) {
    body +=
        "mad.lo.u32 " + v(n) + ", %r0, " + std::to_string(n) + ", " + std::to_string(n * n) + ";";
    body += "cvt.u64.u32 " + w(n) + ", " + v(n) + ";";
    if (n % 7 != 0 && n > 20) {  // one that has waited for twenty others
      const int old = n - 20 + n % 3;
      body += "cvt.u32.u64 %r21, " + w(old) + "; add.u32 %r21, %r21, " + v(old) + ";";
      body += "add.u32 %r20, %r20, %r21;\n";
      expected += 2u * static_cast<std::uint32_t>(old * old);
      factor += 2u * static_cast<std::uint32_t>(old);
    }
  }
  const KernelRun run = run_body(body + "st.global.u32 [%rd1], %r20;");
  EXPECT_EQ(run.output, words(32, [&](auto n) { return expected + factor * n; }));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::decode::register_lives_test
