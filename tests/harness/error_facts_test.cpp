// The error of a case: what it says, and which line it is blamed on.
#include "harness/measuring/error_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <source_location>
#include <string>

#include "harness/build_info.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge::error_facts_test {
namespace {

using metrics::Fact;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Case registered() {
  Case test_case;
  test_case.id = {"family", "plain", "f32", "64"};
  test_case.file = "kernels/family.cu";
  test_case.line = 90;
  return test_case;
}

metrics::CudaError illegal_address() {
  return metrics::CudaError(cudaErrorIllegalAddress, "cudaDeviceSynchronize()",
                            std::source_location::current());
}

TEST(ErrorFact, OfAFaultIsBlamedOnItsLine) {
  const std::string root(kBuildInfo.source_root);
  const metrics::DeviceFault fault = {
      "kernel k, block (0,0,0): trap",
      "_Z1kv",
      {root + "/kernels/own.h", 20, {{root + "/kernels/own.h", 20}, {"/elsewhere/a.cu", 7}}}};
  const Fact fact = error_fact(registered(), fault, "sm_90");
  EXPECT_EQ(fact.verdict, metrics::Verdict::error);
  EXPECT_EQ(fact.metric, "result.correct");
  EXPECT_EQ(fact.arch, "sm_90");
  EXPECT_EQ(fact.reason, fault.text);
  EXPECT_EQ(fact.kernel, "_Z1kv");
  EXPECT_EQ(fact.file, "kernels/own.h");
  EXPECT_EQ(fact.line, 20);
  EXPECT_THAT(fact.inlined, ElementsAre(metrics::CallSite{"kernels/own.h", 20},
                                        metrics::CallSite{"/elsewhere/a.cu", 7}));
  EXPECT_EQ(fact.context->line, 90) << "the registration stays with the case";
}

TEST(ErrorFact, WithoutALineIsBlamedOnTheRegistration) {
  const metrics::DeviceFault fault = {"kernel k, PTX line 3: trap", "k", {}};
  for (const Fact& fact : {error_fact(registered(), fault),
                           error_fact(registered(), illegal_address(), {}, "sm_90")}) {
    EXPECT_EQ(fact.file, "kernels/family.cu");
    EXPECT_EQ(fact.line, 90);
    EXPECT_THAT(fact.inlined, IsEmpty());
  }
}

TEST(ErrorFact, OfAnErrorOfCudaSaysTheFaultInsteadOfTheGeneralRemedy) {
  const metrics::DeviceFault fault = {"kernel k, a.cu:7: a null pointer", "k", {"a.cu", 7}};
  const std::string remedy(metrics::cuda_remedy(cudaErrorIllegalAddress));
  ASSERT_THAT(remedy, Not(IsEmpty()));
  EXPECT_THAT(error_fact(registered(), illegal_address(), {}, "").reason, HasSubstr(remedy));
  const Fact fact = error_fact(registered(), illegal_address(), {fault}, "");
  EXPECT_THAT(fact.reason, HasSubstr("cudaDeviceSynchronize()"));
  EXPECT_THAT(fact.reason, StartsWith("kernel k, a.cu:7: a null pointer; "));
  EXPECT_THAT(fact.reason, Not(HasSubstr(remedy)));
  EXPECT_EQ(fact.line, 7);
}

}  // namespace
}  // namespace warpgauge::error_facts_test
