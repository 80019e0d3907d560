// Kernels of compiled files that are found again in another version.
#include "harness/diff/same_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace warpgauge::diff::same_kernels_test {
namespace {

using metrics::CaseKind;
using testing::IsEmpty;
using testing::SizeIs;

using Facts = std::vector<metrics::Fact>;

Facts facts_of(const std::string& family, const std::vector<std::string>& kernels,
               CaseKind kind = CaseKind::inspected) {
  Facts facts;
  for (const std::string& name : kernels) {
    metrics::CaseContext context{.kind = kind, .kernels = {{.name = name}}};
    facts.push_back({.id = {family, "kernel", name, "code"},
                     .arch = "sm_90",
                     .context = std::make_shared<const metrics::CaseContext>(context),
                     .metric = "registers",
                     .kernel = name});
  }
  return facts;
}

/// The name in A of the only kernel of B; empty if there is none.
std::string found(const std::vector<std::string>& a, const std::string& b) {
  const SameKernels kernels(facts_of("lib_so_1", a), facts_of("lib_so_2", {b}));
  return kernels.names().empty() ? "" : kernels.names().begin()->second.a.str();
}

Facts renamed(const SameKernels& kernels, Facts facts) {
  std::vector<metrics::StoredRun> runs(1);
  runs[0].facts = std::move(facts);
  kernels.rename(runs);
  return runs[0].facts;
}

TEST(MatchKernels, FindsNamesInAFileOfAnotherVersion) {
  const Facts b = facts_of("lib_so_2", {"_Z1fv", "_Z1gv"});
  const SameKernels kernels(facts_of("lib_so_1", {"_Z1gv", "_Z1hv"}), b);
  ASSERT_THAT(kernels.names(), SizeIs(1));
  const Facts in_a = renamed(kernels, b);
  EXPECT_EQ(in_a[1].id.str(), "lib_so_1.kernel._Z1gv@code");
  EXPECT_EQ(in_a[0].id.str(), "lib_so_2.kernel._Z1fv@code") << "it is a new one";
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_EQ(kernels.case_in_a(case_of(b[i])), case_of(in_a[i]));
  }
}

TEST(MatchKernels, RenamesKernelsSoThatTheirLinesAreFound) {
  const Facts b = facts_of("b", {"_Z1fILi2EEvv"});
  const Facts in_a = renamed(SameKernels(facts_of("a", {"_Z1fILi1EEvv"}), b), b);
  EXPECT_EQ(in_a[0].kernel, "_Z1fILi1EEvv");
  EXPECT_EQ(in_a[0].context->kernels[0].name, "_Z1fILi1EEvv");
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
  const Facts b = facts_of("b", {"_Z1fv"}, CaseKind::attached);
  const SameKernels kernels(facts_of("a", {"_Z1fv"}, CaseKind::attached), b);
  EXPECT_THAT(kernels.names(), IsEmpty());
  EXPECT_EQ(renamed(kernels, b)[0].id.family, "b");
}

}  // namespace
}  // namespace warpgauge::diff::same_kernels_test
