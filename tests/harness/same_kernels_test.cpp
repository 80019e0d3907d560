// Kernels of compiled files that are found again in another version.
#include "harness/diff/same_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace warpgauge::diff {
namespace {

using metrics::CaseKind;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<metrics::StoredRun> run_of(const std::string& family,
                                       const std::vector<std::string>& kernels,
                                       CaseKind kind = CaseKind::inspected) {
  metrics::StoredRun run;
  for (const std::string& name : kernels) {
    metrics::CaseContext context{.kind = kind, .kernels = {{.name = name}}};
    run.facts.push_back({.id = {family, "kernel", name, "code"},
                         .arch = "sm_90",
                         .context = std::make_shared<const metrics::CaseContext>(context),
                         .metric = "registers",
                         .kernel = name});
  }
  return {run};
}

/// The name in A of the only kernel of B; empty if there is none.
std::string found(const std::vector<std::string>& a, const std::string& b) {
  std::vector<metrics::StoredRun> other = run_of("lib_so_2", {b});
  const auto kernels = match_kernels(run_of("lib_so_1", a), other);
  return kernels.empty() ? "" : kernels.begin()->second.a;
}

TEST(MatchKernels, FindsNamesInAFileOfAnotherVersion) {
  std::vector<metrics::StoredRun> b = run_of("lib_so_2", {"_Z1fv", "_Z1gv"});
  const auto kernels = match_kernels(run_of("lib_so_1", {"_Z1gv", "_Z1hv"}), b);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(b[0].facts[1].id.str(), "lib_so_1.kernel._Z1gv@code");
  EXPECT_EQ(b[0].facts[0].id.str(), "lib_so_2.kernel._Z1fv@code") << "it is a new one";
}

TEST(MatchKernels, RenamesKernelsSoThatTheirLinesAreFound) {
  std::vector<metrics::StoredRun> b = run_of("b", {"_Z1fILi2EEvv"});
  match_kernels(run_of("a", {"_Z1fILi1EEvv"}), b);
  EXPECT_EQ(b[0].facts[0].kernel, "_Z1fILi1EEvv");
  EXPECT_EQ(b[0].facts[0].context->kernels[0].name, "_Z1fILi1EEvv");
}

TEST(MatchKernels, ToleratesHashesAndArguments) {
  EXPECT_EQ(found({"k_0123abcd_x", "other"}, "k_89abcdef_x"), "k_0123abcd_x");
  EXPECT_EQ(found({"_Z1fILi1EEvPf", "_Z1gILi1EEvPf"}, "_Z1fILi2EEvPf"), "_Z1fILi1EEvPf");
  EXPECT_EQ(found({"_Z1fILi1EEvPf", "_Z1fILi1EEvPd"}, "_Z1fILi2EEvPd"), "_Z1fILi1EEvPd");
  EXPECT_EQ(found({"_Z1fPf"}, "_Z1fPfi"), "_Z1fPf");
}

TEST(MatchKernels, MatchesNoneOfEquals) {
  EXPECT_EQ(found({"_Z1fILi1EEvv", "_Z1fILi2EEvv"}, "_Z1fILi3EEvv"), "");
  EXPECT_EQ(found({"_Z1fv"}, "_Z1gv"), "");
}

TEST(MatchKernels, LeavesOtherCasesAlone) {
  std::vector<metrics::StoredRun> b = run_of("b", {"_Z1fv"}, CaseKind::attached);
  EXPECT_THAT(match_kernels(run_of("a", {"_Z1fv"}, CaseKind::attached), b), IsEmpty());
  EXPECT_EQ(b[0].facts[0].id.family, "b");
}

}  // namespace
}  // namespace warpgauge::diff
