// The result that an attached process leaves behind: written, and read back.
#include "harness/attach/attached_process.h"

#include <gmock/gmock.h>

#include "tests/attach/attached_processes.h"

namespace warpgauge::attached_process_test {
namespace {

using testing::HasSubstr;

TEST(AttachedProcess, ComesBackAsItWasWritten) {
  attach::AttachedProcess process = process_of(5);
  process.warnings = {"one", "two \xff"};
  process.waiting = 2;
  const attach::AttachedProcess back = attach::parse_attached(attach::to_text(process), "x");
  EXPECT_EQ(back.command, process.command);
  EXPECT_EQ(back.pid, 7);
  EXPECT_EQ(back.devices.at(0).device.name, "NVIDIA H100");
  EXPECT_EQ(back.kernels.at(0).name, kKernel);
  EXPECT_EQ(back.kernels.at(0).launches, 5u);
  EXPECT_EQ(back.kernels.at(0).counted.at(0).count, 5u);
  EXPECT_EQ(back.kernels.at(0).resources, process.kernels.at(0).resources);
  EXPECT_EQ(back.warnings.size(), 2u);
  EXPECT_EQ(back.waiting, 2u);
  ASSERT_EQ(back.records.at(0).size(), 2u);
  const metrics::Instruction first{kCubin, kKernel, 0x40};
  EXPECT_EQ(back.records.at(0).at(first).values, process.records.at(0).at(first).values);
}

TEST(AttachedProcess, ADamagedResultIsReportedWithItsFile) {
  for (const char* text : {"", "{", "[]", "{}", R"({"schema": "warpgauge.attached/5"})"}) {
    try {
      attach::parse_attached(text, "out/7.json");
      ADD_FAILURE() << text;
    } catch (const attach::AttachedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("out/7.json: not a result of the attached library"));
    }
  }
}

}  // namespace
}  // namespace warpgauge::attached_process_test
