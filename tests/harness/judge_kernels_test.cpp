// Kernels of programs against budgets and against what a run requires.
#include "harness/programs/judge_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "harness/files/temporary_path.h"

namespace warpgauge::programs::judge_kernels_test {
namespace {

using metrics::Fact;
using Words = std::vector<std::string>;

/// The exit code of a run with a kernel that has these facts.
outcome::ExitCode exit_code_of(metrics::RunRequest asked, std::vector<Fact> facts) {
  const auto folder = files::TemporaryPath::folder_in(testing::TempDir(), "judge-kernels-");
  const outcome::OutFolder out(folder.path() / "out");
  KernelJudge judge(
      {.id = "r", .time = "2026-05-01T23:00:00Z", .command = "inspect", .asked = std::move(asked)},
      out);
  ProgramCase kernel{.id = {"program", "kernel", "0", "run"}, .kernel = "kernel"};
  kernel.budgets = metrics::Budgets::parse("[default]\nregisters = { equal = 40 }\n", "b.toml",
                                           std::vector{kernel.id});
  for (Fact& fact : facts) {
    fact.id = kernel.id;
    fact.arch = "sm_90";
    kernel.facts.push_back(std::move(fact));
  }
  judge.add(std::move(kernel));
  EXPECT_EQ(judge.kernels(), 1u);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> text(std::tmpfile(), &std::fclose);
  return judge.end({.repeat = [](const Fact&) { return ""; }}, text.get());
}

TEST(KernelJudge, RequiresTheValuesThatTheRunWasAskedFor) {
  const auto without = [](const char* metric, const Words& required) {
    return exit_code_of({.require = required},
                        {{.metric = "registers", .value = 40.0}, {.metric = metric}});
  };
  for (const char* metric : {"spill.store_bytes", "shared.bank_conflicts"}) {
    const bool of_code = metric == std::string("spill.store_bytes");
    EXPECT_EQ(without(metric, {}), outcome::kWithinBudget);
    EXPECT_EQ(without(metric, {"cubin"}), of_code ? outcome::kNotMeasured : outcome::kWithinBudget);
    EXPECT_EQ(without(metric, {"cupti"}), of_code ? outcome::kWithinBudget : outcome::kNotMeasured);
    EXPECT_EQ(without(metric, {"cubin", "cupti"}), outcome::kNotMeasured);
  }
}

TEST(KernelJudge, IsAsStrictAsTheRunWasAskedToBe) {
  const auto with = [](bool strict, double registers) {
    return exit_code_of({.strict = strict}, {{.metric = "registers", .value = registers}});
  };
  EXPECT_EQ(with(false, 39), outcome::kWithinBudget);
  EXPECT_EQ(with(true, 39), outcome::kOverBudget);
  EXPECT_EQ(with(true, 40), outcome::kWithinBudget);
  EXPECT_EQ(with(false, 41), outcome::kOverBudget);
}

TEST(KernelJudge, WithoutKernelsNothingIsMeasured) {
  const auto folder = files::TemporaryPath::folder_in(testing::TempDir(), "judge-kernels-");
  const outcome::OutFolder out(folder.path());
  testing::internal::CaptureStderr();
  EXPECT_EQ(KernelJudge({}, out).end({.lost = {"no kernel"}, .left_out = {"all"}}, stdout),
            outcome::kNotMeasured);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "all\nno kernel\n");
}

TEST(KernelExpression, LeavesOutWhatFindsAnything) {
  EXPECT_TRUE(std::regex_search("my::add<float>", kernel_expression(".*add")));
  EXPECT_TRUE(std::regex_search("my::add<float>", kernel_expression(".*?add")));
  EXPECT_FALSE(std::regex_search("my::add<float>", kernel_expression(".*sub")));
}

}  // namespace
}  // namespace warpgauge::programs::judge_kernels_test
