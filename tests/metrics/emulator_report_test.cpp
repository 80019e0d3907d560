// Counts and faults of an emulated program, from one process to another.
#include "metrics/counting/emulator_report.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace warpgauge::metrics::emulator_report_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Report : public testing::Test {
 protected:
  Report() { clear(); }
  ~Report() override { clear(); }

  void clear() const {
    std::filesystem::remove(path_);
    std::filesystem::remove(path_.string() + ".lost");
  }

  const std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) /
                                      ("counts_report." + std::to_string(getpid()) + ".jsonl");
};

LineCounts line(std::uint64_t requests, Confidence confidence, const char* reason) {
  LineCounts counts{.kernel = "k", .file = "own.h", .line = 20};
  counts.inlined = {{"own.h", 20}, {"a.cu", 7}};
  counts.counts.shared_requests = requests;
  if (confidence != Confidence::exact) counts.trust["shared"] = {confidence, reason};
  return counts;
}

TEST_F(Report, IsReadAsItWasWritten) {
  const DeviceFault fault = {.text = "kernel k, a.cu:7: trap",
                             .kernel = "k",
                             .source = {"a.cu", 7, {{"b.h", 1}, {"a.cu", 7}}},
                             .rule = "race",
                             .other = "a.cu:9",
                             .cure = "an atomic"};
  append_report(path_, {{line(3, Confidence::predicted, "no machine code")}, {fault}});
  const CountsReport report = read_report(path_);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].kernel, "k");
  EXPECT_EQ(report.lines[0].source(), line(3, Confidence::exact, "").source());
  EXPECT_EQ(report.lines[0].counts.shared_requests, 3u);
  EXPECT_EQ(trust_in(report.lines[0], "shared.requests").reason, "no machine code");
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].text, fault.text);
  EXPECT_EQ(report.faults[0].kernel, "k");
  EXPECT_EQ(report.faults[0].source, fault.source);
  EXPECT_EQ(report.faults[0].rule, "race");
  EXPECT_EQ(report.faults[0].other, "a.cu:9");
  EXPECT_EQ(report.faults[0].cure, "an atomic");
}

TEST_F(Report, SaysThatTheLaunchToBeReplayedHasCome) {
  append_report(path_, {.refused = {"a"}});
  EXPECT_FALSE(read_report(path_).replayed);
  append_report(path_, {.replayed = true});
  append_report(path_, {.refused = {"b"}});
  EXPECT_TRUE(read_report(path_).replayed);
}

TEST_F(Report, OneThatALimitOfFilesForbidsIsNotLostSilently) {
  append_report(path_, {.refused = {"a"}});
  EXPECT_FALSE(read_report(path_).is_partial);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{};
    setrlimit(RLIMIT_FSIZE, &none);
    try {
      append_report(path_, {.refused = {"b"}});
    } catch (const ReportError&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(read_report(path_).is_partial);
  EXPECT_THAT(read_report(path_).refused, ElementsAre("a"));
}

TEST_F(Report, WhatIsNoFileIsNotRead) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(read_report(path_), ReportError);
}

TEST_F(Report, KeepsWhatProcessesDidWithTheRuntime) {
  for (const char* call : {"cudaMalloc", "cudaFree"}) {
    append_report(path_, {.runtimes = {{"./program", call, "cudaFree: cudaErrorInvalidValue"}},
                          .refused = {"cudaIpcGetMemHandle is not emulated"}});
  }
  const CountsReport report = read_report(path_);
  ASSERT_EQ(report.runtimes.size(), 2u);
  EXPECT_EQ(report.runtimes[1].program, "./program");
  EXPECT_EQ(report.runtimes[1].call, "cudaFree");
  EXPECT_EQ(report.runtimes[1].failure, "cudaFree: cudaErrorInvalidValue");
  EXPECT_THAT(report.refused, ElementsAre("cudaIpcGetMemHandle is not emulated"));
}

TEST_F(Report, AddsUpTheEmptyLaunchesOfAKernel) {
  for (const std::uint64_t count : {2, 3}) {
    append_report(path_, {.empty_launches = {{"k", "f.cu:7", count}, {"other", "", 1}}});
  }
  const CountsReport report = read_report(path_);
  ASSERT_EQ(report.empty_launches.size(), 2u);
  EXPECT_EQ(report.empty_launches[0].kernel, "k");
  EXPECT_EQ(report.empty_launches[0].place, "f.cu:7");
  EXPECT_EQ(report.empty_launches[0].count, 5u);
}

TEST_F(Report, KeepsTheCuresOfLines) {
  LineCounts cured = line(3, Confidence::exact, "");
  cured.cures = {{"shared.bank_conflicts", "pad by 1 word"}};
  append_report(path_, {{cured}, {}});
  append_report(path_, {{line(3, Confidence::exact, "")}, {}});
  const CountsReport report = read_report(path_);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].cures, cured.cures);
}

TEST_F(Report, AddsUpWhatSeveralProcessesCounted) {
  append_report(path_, {{line(3, Confidence::estimate, "a loop")}, {}});
  append_report(path_, {{line(4, Confidence::exact, "")}, {}});
  const CountsReport report = read_report(path_);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].counts.shared_requests, 7u);
  EXPECT_EQ(trust_in(report.lines[0], "shared.requests").confidence, Confidence::estimate);
}

TEST_F(Report, AddsUpTheLaunchesOfAKernelAndHasEachCodeOnce) {
  const ReportedCode code{{.registers = 12,
                           .stack_bytes = 0,
                           .barriers = 1,
                           .least_registers = 40,
                           .most_registers = 232},
                          4096,
                          "0123456789abcdef"};
  const Launch wide{
      .grid = {2, 1, 1}, .block = {32, 8, 1}, .dynamic_shared_bytes = 64, .cluster = {2, 1, 1}};
  append_report(path_, {.kernels = {{"k", 3, {wide}, {code}}}});
  append_report(path_,
                {.kernels = {{"k", 2, {wide, Launch{}}, {code, {}}}, {"other\xff", 1, {}, {}}}});
  const CountsReport report = read_report(path_);
  ASSERT_EQ(report.kernels.size(), 2u);
  const ReportedKernel& kernel = report.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.launches, 5u);
  ASSERT_EQ(kernel.counted.size(), 2u);
  EXPECT_TRUE(kernel.counted[0].like(wide));
  EXPECT_EQ(kernel.counted[0].count, 2u);
  EXPECT_THAT(kernel.codes, ElementsAre(code, ReportedCode{}));
  EXPECT_THAT(report.kernels[1].counted, IsEmpty());
}

TEST_F(Report, KeepsTheFewestAndTheMostSectorsOfEqualLaunches) {
  using Sectors = std::array<std::uint64_t, 2>;
  const Launch equal{.grid = {2, 1, 1}, .block = {32, 1, 1}};
  Launch unequal = equal, more = equal;
  unequal.unequal_sectors = {3, 8};
  more.unequal_sectors = {0, 5};
  append_report(path_, {.kernels = {{"k", 1, {equal}, {}}}});
  EXPECT_EQ(read_report(path_).kernels[0].counted[0].unequal_sectors, std::nullopt);
  append_report(path_, {.kernels = {{"k", 1, {unequal}, {}}}});
  EXPECT_EQ(read_report(path_).kernels[0].counted[0].unequal_sectors, (Sectors{3, 8}));
  append_report(path_, {.kernels = {{"k", 1, {more}, {}}}});
  EXPECT_EQ(read_report(path_).kernels[0].counted[0].unequal_sectors, (Sectors{0, 8}));
}

TEST_F(Report, HasEachProcessOnceAndKnowsThoseThatHaveNotEnded) {
  const ReportedProcess killed{"7-1", "./a", false}, ended{"7-2", "./b", true};
  append_report(path_, {.processes = {killed}});
  append_report(path_, {.processes = {{"7-2", "./b", false}}});
  append_report(path_, {.lines = {line(3, Confidence::exact, "")}, .processes = {ended}});
  append_report(path_, {.processes = {ended}});
  EXPECT_THAT(read_report(path_).processes, ElementsAre(killed, ended));
}

TEST_F(Report, IsEmptyWithoutAFile) {
  EXPECT_THAT(read_report(path_).lines, IsEmpty());
  EXPECT_THAT(read_report(path_).faults, IsEmpty());
}

TEST_F(Report, ADamagedLineIsAnErrorWithItsNumber) {
  append_report(path_, {{line(3, Confidence::exact, "")}, {}});
  std::ofstream(path_, std::ios::app) << "{\"fault\":\"a trap\"}\n";
  try {
    read_report(path_);
    FAIL() << "was read";
  } catch (const ReportError& error) {
    EXPECT_THAT(error.what(), HasSubstr(".jsonl:2: no line of a report: "));
  }
}

TEST_F(Report, IsClosedThoughItWasOpenedInPlaceOfStandardInput) {
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  append_report(path_, {{line(3, Confidence::exact, "")}, {}});
  const bool closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
  if (input >= 0) {
    dup2(input, STDIN_FILENO);
    close(input);
  }
  EXPECT_TRUE(closed);
}

}  // namespace
}  // namespace warpgauge::metrics::emulator_report_test
