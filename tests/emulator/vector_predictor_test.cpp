// Predictions of merged accesses: one small kernel for each rule.
#include "harness/emulator/counting/vector_predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::counting::vector_predictor_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Role = machine::AccessPlan::Role;

/// Role and width for each access that is not as written, in the order of the text. %r1 is the
/// address of a variable in shared memory plus 16 times, %r2 plus 4 times the lane.
std::vector<std::pair<Role, int>> plans_of(const std::string& body) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 p) {\n"
      ".reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.reg .pred %p<2>;\n"
      ".shared .align 4 .b8 s[4096];\n"
      "mov.u32 %r8, %tid.x;\nmov.u32 %r7, s;\n"
      "shl.b32 %r6, %r8, 4;\nadd.s32 %r1, %r7, %r6;\n"
      "mad.lo.s32 %r2, %r8, 4, %r7;\nld.param.u64 %rd1, [p];\n" +
      body + "\nret;\n}\n";
  const auto accesses = accesses_of(ptx::parse(text, "test.ptx"), "kernel");
  std::vector<std::pair<Role, int>> plans;
  for (const auto& entry : predict_vectors(accesses).entries) {
    plans.emplace_back(entry.plan.role, entry.plan.width);
  }
  return plans;
}

const auto kLeader16 = Pair(Role::leader, 16), kLeader8 = Pair(Role::leader, 8),
           kAbsorbed = Pair(Role::absorbed, 0);

TEST(VectorPredictor, FourNeighboursBecomeOne) {
  EXPECT_THAT(plans_of("ld.shared.f32 %f1, [%r1];\nld.shared.f32 %f2, [%r1+4];\n"
                       "ld.shared.f32 %f3, [%r1+8];\nld.shared.f32 %f4, [%r1+12];"),
              ElementsAre(kLeader16, kAbsorbed, kAbsorbed, kAbsorbed));
  EXPECT_THAT(plans_of("st.shared.f32 [%r1+12], %f1;\nst.shared.f32 [%r1+4], %f1;\n"
                       "st.shared.f32 [%r1+8], %f1;\nst.shared.f32 [%r1], %f1;"),
              ElementsAre(kAbsorbed, kAbsorbed, kAbsorbed, kLeader16));
}

TEST(VectorPredictor, TwoNeighboursBecomeOne) {
  EXPECT_THAT(plans_of("ld.shared.f32 %f1, [%r1+8];\nld.shared.f32 %f2, [%r1+12];\n"
                       "ld.shared.f32 %f3, [%r1+16];"),
              ElementsAre(kLeader8, kAbsorbed));
  EXPECT_THAT(plans_of("ld.shared.u64 %rd2, [%r1];\nld.shared.u64 %rd3, [%r1+8];"),
              ElementsAre(kLeader16, kAbsorbed));
}

TEST(VectorPredictor, WhatMayBeUnalignedStays) {
  EXPECT_THAT(plans_of("ld.shared.f32 %f1, [%r2];\nld.shared.f32 %f2, [%r2+4];"), IsEmpty());
  EXPECT_THAT(plans_of("ld.shared.f32 %f1, [%r1+4];\nld.shared.f32 %f2, [%r1+8];"), IsEmpty());
}

TEST(VectorPredictor, NothingIsMergedAcrossBarriersBranchesAndAssignments) {
  const std::string first = "ld.shared.f32 %f1, [%r1];\n", second = "ld.shared.f32 %f2, [%r1+4];";
  EXPECT_THAT(plans_of(first + second), ElementsAre(kLeader8, kAbsorbed));
  EXPECT_THAT(plans_of(first + "bar.sync 0;\n" + second), IsEmpty());
  EXPECT_THAT(plans_of(first + "LABEL:\n" + second), IsEmpty());
  EXPECT_THAT(plans_of(first + "add.s32 %r1, %r1, 16;\n" + second), IsEmpty());
}

TEST(VectorPredictor, OtherMemoryAndOtherFormsStay) {
  EXPECT_THAT(plans_of("ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd1+4];"), IsEmpty());
  EXPECT_THAT(plans_of("ld.volatile.shared.f32 %f1, [%r1];\n"
                       "ld.volatile.shared.f32 %f2, [%r1+4];"),
              IsEmpty());
  EXPECT_THAT(plans_of("ld.shared.u16 %r3, [%r1];\nld.shared.u16 %r4, [%r1+2];"), IsEmpty());
  EXPECT_THAT(plans_of("@%p1 ld.shared.f32 %f1, [%r1];\n@%p1 ld.shared.f32 %f2, [%r1+4];"),
              IsEmpty());
}

}  // namespace
}  // namespace warpgauge::emulator::counting::vector_predictor_test
