// Writes the result of an attached process, and reads it back.
#include "harness/attach/attached_process.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/attach/attached_processes.h"

namespace warpgauge::attached_process_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(AttachedProcess, ComesBackAsItWasWritten) {
  attach::AttachedProcess process = process_of(5);
  process.warnings = {"one", "two \xff"};
  process.waiting = 2;
  process.kernels.at(0).counted.at(0).cluster = {8, 1, 1};
  process.kernels.at(0).resources.at(0).resident_warps = 12 * 128. / 132;
  const attach::AttachedProcess back = attach::parse_attached(attach::to_text(process), "x");
  EXPECT_EQ(back.command, process.command);
  EXPECT_EQ(back.pid, 7);
  EXPECT_EQ(back.devices.at(0).device.name, "NVIDIA H100");
  EXPECT_EQ(back.kernels.at(0).name, kKernel);
  EXPECT_EQ(back.kernels.at(0).launches, 5u);
  EXPECT_EQ(back.kernels.at(0).counted.at(0).count, 5u);
  EXPECT_EQ(back.kernels.at(0).counted.at(0).cluster, process.kernels.at(0).counted.at(0).cluster);
  EXPECT_EQ(back.kernels.at(0).resources, process.kernels.at(0).resources);
  EXPECT_EQ(back.warnings.size(), 2u);
  EXPECT_EQ(back.waiting, 2u);
  ASSERT_EQ(back.records.at(0).size(), 2u);
  const metrics::Instruction first{kCubin, kKernel, 0x40};
  EXPECT_EQ(back.records.at(0).at(first).values, process.records.at(0).at(first).values);
}

TEST(AttachedProcess, IsWrittenWithOneObjectForEachOwnerOfAKernel) {
  attach::AttachedProcess process;
  metrics::SassRecords& records = process.records[0];
  for (std::uint32_t pc = 0; pc < 0x60; pc += 0x10) {
    const char* owner = pc % 0x20 == 0 ? "" : "second";  // they alternate
    records[{kCubin, kKernel, pc, owner}].values[0] = pc;
  }
  const auto written = nlohmann::json::parse(attach::to_text(process)).at("records").at("0");
  ASSERT_EQ(written.size(), 2u);
  for (const auto& kernel : written) EXPECT_EQ(kernel.at("rows").size(), 3u);
  EXPECT_EQ(written.at(1).at("owner"), "second");
  const attach::AttachedProcess back = attach::parse_attached(attach::to_text(process), "x");
  ASSERT_EQ(back.records.at(0).size(), records.size());
  for (const auto& [instruction, values] : records) {
    EXPECT_EQ(back.records.at(0).at(instruction).values, values.values) << instruction.pc;
  }
}

TEST(AttachedProcess, ADamagedResultIsReportedWithItsFile) {
  for (const char* text : {"", "{", "[]", "{}", R"({"schema": "warpgauge.attached/5"})"}) {
    try {
      attach::parse_attached(text, "out/7.json");
      ADD_FAILURE() << text;
    } catch (const attach::AttachedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("out/7.json: not a result of the attached library"));
      EXPECT_THAT(error.what(), HasSubstr("run `warpgauge attach` again with the library of this"));
    }
  }
}

TEST(AttachedProcess, AResultOfAnotherVersionSaysWhichIsWanted) {
  EXPECT_THAT([] { attach::parse_attached(R"({"schema": "warpgauge.attached/4"})", "out/7.json"); },
              ThrowsMessage<attach::AttachedError>(HasSubstr(
                  "its schema is \"warpgauge.attached/4\", and 'warpgauge.attached/5' is wanted")));
}

TEST(CubinName, HasAllDigitsOfTheChecksum) {
  EXPECT_EQ(attach::cubin_name(0x89abcdef), "89abcdef.cubin");
  EXPECT_EQ(attach::cubin_name(0x12), "00000012.cubin");
}

}  // namespace
}  // namespace warpgauge::attached_process_test
