// The commands that give a verdict again, as a shell takes them.
#include "harness/outcome/repeat_command.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::repeat_command_test {
namespace {

using metrics::Fact;

const metrics::Device kGpu = {.name = "H100", .driver = "580"};
const metrics::Device kEmulated = {.name = "emulated", .driver = "emulator"};

std::string repeat(const Fact& fact, const std::vector<metrics::Device>& devices) {
  const metrics::Run run = {.devices = devices};
  return repeat_command({&fact, &run});
}

Fact from(std::string source, std::string metric) {
  Fact value = on(fact(metrics::Verdict::fail, std::move(metric)), "sm_90");
  value.source = std::move(source);
  return value;
}

TEST(RepeatCommand, OfWhatTheHarnessFoundIsForTheDeviceThatItFoundItOn) {
  const std::string emulated =
      "ci/gate --device=emulated --arch sm_90 --filter 'transpose.tiled.f32@64x64'";
  const std::string on_gpu = "ci/gate --filter 'transpose.tiled.f32@64x64'";
  Fact result = from("harness", "result.correct");
  EXPECT_EQ(repeat(result, {kEmulated}), emulated);
  EXPECT_EQ(repeat(result, {kGpu}), on_gpu);
  metrics::CaseContext context = *result.context;
  context.device = kGpu.name;
  result.context = std::make_shared<const metrics::CaseContext>(context);
  EXPECT_EQ(repeat(result, {kEmulated, kGpu}), on_gpu);
}

TEST(RepeatCommand, OfAFuzzedRunIsForItsSizeAndSeed) {
  Fact failed = from("harness", "result.fails_at");
  failed.verdict = metrics::Verdict::error;
  failed.value = "33x65,7";
  EXPECT_EQ(repeat(failed, {kGpu}),
            "ci/gate --filter 'transpose.tiled.f32@64x64' --fuzz-at 33x65,7");
  failed.value = "1,2; rm x";
  EXPECT_EQ(repeat(failed, {kGpu}),
            "ci/gate --filter 'transpose.tiled.f32@64x64' --fuzz-at '1,2; rm x'");
}

TEST(RepeatCommand, OfACountIsForTheDeviceOfItsSource) {
  EXPECT_EQ(repeat(from("emulator", "shared.wavefronts"), {kGpu}),
            "ci/gate --device=emulated --arch sm_90 --filter 'transpose.tiled.f32@64x64'");
  EXPECT_EQ(repeat(from("cupti", "shared.wavefronts"), {kEmulated}),
            "ci/gate --filter 'transpose.tiled.f32@64x64'");
}

TEST(RepeatCommand, OfWhatATestMeasuredIsTheTest) {
  Fact measured = from("cupti", "shared.wavefronts");
  measured.id = {.family = "Sizes/Filter", .variant = "IsCheap/0", .type = "launch", .size = "2"};
  metrics::CaseContext context = *measured.context;
  context.kind = metrics::CaseKind::measured;
  measured.context = std::make_shared<const metrics::CaseContext>(context);
  const metrics::Run run = {.program = "build/my tests"};
  EXPECT_EQ(repeat_command({&measured, &run}),
            "'build/my tests' --gtest_filter=Sizes/Filter.IsCheap/0");
  EXPECT_EQ(repeat(measured, {kGpu}), "... --gtest_filter=Sizes/Filter.IsCheap/0");
  measured.id = {.family = "filter", .variant = "rows", .type = "f32", .size = "64x64"};
  EXPECT_EQ(repeat_command({&measured, &run}), "'build/my tests'") << "the case's id, not a test's";
}

TEST(RepeatCommand, OfATimeIsThatOfTheProgramThatTakesTimes) {
  EXPECT_EQ(repeat(from("timer", "time.median_us"), {kGpu}),
            "build/ci/bin/warpgauge-bench --filter 'transpose.tiled.f32@64x64'");
}

}  // namespace
}  // namespace warpgauge::outcome::repeat_command_test
