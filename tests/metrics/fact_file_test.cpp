// Files of facts: writing, reading back, and everything that can be wrong with them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge::metrics::fact_file_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

const fs::path kData = fs::path(WARPGAUGE_TEST_DATA) / "facts";

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const FactError& error) {
    return error.what();
  }
  return "no error";
}

Run run() { return {.id = "r1", .time = "2026-05-01T23:00:00Z"}; }

Fact registers(double value) {
  return {.id = {"transpose", "tiled", "f32", "64x64"}, .metric = "registers", .value = value};
}

/// The values of all runs of a file.
std::vector<Fact> values(const fs::path& path) {
  std::vector<Fact> facts;
  for (const StoredRun& run : read_facts(path)) {
    facts.insert(facts.end(), run.facts.begin(), run.facts.end());
  }
  return facts;
}

/// The text of a file with the members that values share in each record of values.
std::string with_shared_members(const std::string& text) {
  std::map<std::string, nlohmann::ordered_json> shared;
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    auto record = nlohmann::ordered_json::parse(line);
    if (record["record"] == "run") shared.clear();
    if (record["record"] == "shared") {
      const auto name = record["shared"].get<std::string>();
      record.erase("record");
      record.erase("shared");
      EXPECT_TRUE(shared.emplace(name, record).second) << "it is written once: " << name;
      continue;
    }
    if (record.contains("shared")) {
      nlohmann::ordered_json whole = {{"record", record["record"]}, {"case", record["case"]}};
      whole.update(shared.at(record["shared"].get<std::string>()));
      whole["values"] = record["values"];
      record = whole;
    }
    result += record.dump() + '\n';
  }
  return result;
}

/// A path that does not exist, removed again after the test.
class FactFile : public testing::Test {
 protected:
  FactFile()
      : path_(fs::path(testing::TempDir()) / ("warpgauge_facts_" + std::to_string(getpid()))) {
    fs::remove(path_);
  }
  ~FactFile() override { fs::remove(path_); }

  const fs::path path_;
};

TEST(ReadFacts, TakesGoodFilesAndRefusesBadOnes) {
  const json cases = json::parse(content(kData / "cases.json"));
  ASSERT_FALSE(cases.empty());
  for (const json& test_case : cases) {
    const fs::path path = kData / test_case["file"].get<std::string>();
    if (test_case.contains("facts")) {
      EXPECT_EQ(values(path).size(), test_case["facts"]) << path;
    } else {
      EXPECT_THAT(error_of([&] { read_facts(path); }),
                  HasSubstr(path.string() + test_case["error"].get<std::string>()));
    }
  }
}

TEST(ReadFacts, MissingFilesAndFoldersSayWhy) {
  EXPECT_THAT(error_of([] { read_facts("none.jsonl"); }),
              HasSubstr("none.jsonl: cannot be read: No such file"));
  EXPECT_THAT(error_of([] { read_facts(kData); }), HasSubstr("cannot be read: Is a directory"));
}

TEST(ReadFacts, PipesAndDevicesAreNotOpened) {
  const fs::path pipe = fs::path(testing::TempDir()) / "warpgauge_pipe.jsonl";
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_facts(pipe); }),
              HasSubstr("pipe.jsonl: cannot be read: it is a pipe; write it to a file first"));
  EXPECT_THAT(error_of([] { read_facts("/dev/zero"); }),
              HasSubstr("/dev/zero: cannot be read: it is a device; write it to a file first"));
  fs::remove(pipe);
}

TEST(ReadFacts, BuiltInLimitsHaveAnOriginThatIsTrue) {
  const fs::path path = fs::path(testing::TempDir()) / "warpgauge_no_built_in.jsonl";
  std::string text = content(kData / "good.jsonl");
  text.replace(text.find("kernels/transpose/budgets.toml:7"), 32, "built-in");
  std::ofstream(path) << text;
  EXPECT_THAT(error_of([&] { read_facts(path); }),
              HasSubstr(":4: key 'limit.origin' is built-in, but the metric has no such limit"));
  fs::remove(path);
}

TEST(ReadFacts, ATornLastLineTakesTheEndOfItsRun) {
  EXPECT_TRUE(read_facts(kData / "good.jsonl").at(0).end);
  EXPECT_FALSE(read_facts(kData / "good.jsonl").at(1).end) << "it was cut off";
  for (const char* name :
       {"good_torn.jsonl", "good_torn_end.jsonl", "good_torn_behind_end.jsonl"}) {
    const std::vector<StoredRun> runs = read_facts(kData / name);
    ASSERT_EQ(runs.size(), 1u) << name;
    EXPECT_FALSE(runs[0].end) << name;
  }
}

TEST_F(FactFile, RoundTripIsExact) {
  for (const char* name : {"good.jsonl", "good_time.jsonl"}) {
    const fs::path golden = kData / name;
    fs::remove(path_);
    for (const StoredRun& stored : read_facts(golden)) {
      FactWriter writer(path_, stored.run);
      writer.write(stored.facts);
      if (stored.end) writer.write_end(*stored.end);
    }
    EXPECT_EQ(with_shared_members(content(path_)), content(golden)) << name;
  }
}

TEST_F(FactFile, WhatValuesShareIsWrittenOnce) {
  FactWriter writer(path_, run());
  for (const double number : {32, 33, 34}) {
    Fact fact = registers(number);
    fact.reason = "a reason that is as long as reasons of values are";
    writer.write({fact});
  }
  const std::string text = content(path_);
  const std::size_t first = text.find("a reason that");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("a reason that", first + 1), std::string::npos) << text;
  const std::vector<Fact> facts = values(path_);
  ASSERT_EQ(facts.size(), 3u);
  for (const Fact& fact : facts) EXPECT_EQ(fact.reason, facts.front().reason);
}

TEST_F(FactFile, InvalidUtf8IsReplaced) {
  Fact fact = registers(32);
  fact.reason = "gr\xFC\xDF\n";
  FactWriter(path_, run()).write({fact});
  const std::vector<Fact> facts = values(path_);
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts.front().reason, "gr\uFFFD\uFFFD\n");
}

TEST_F(FactFile, ARunIsWrittenAgainWithItsDevice) {
  FactWriter writer(path_, run());
  writer.write({registers(32)});
  writer.add_device({.name = "GPU"});
  writer.write({registers(33)});
  writer.add_device({.name = "GPU", .chip = "GH100"});  // known
  writer.write({registers(34)});
  const std::vector<StoredRun> runs = read_facts(path_);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].facts.size(), 3u);
  ASSERT_EQ(runs[0].run.devices.size(), 1u);
  EXPECT_EQ(runs[0].run.devices[0].name, "GPU");
  EXPECT_EQ(std::ranges::count(content(path_), '\n'), 6) << "run, case, value, run, value, value";
}

TEST_F(FactFile, AnotherWriterInBetweenDoesNotTakeTheValues) {
  metrics::Run other = run();
  other.id = "r2";
  FactWriter mine(path_, run()), theirs(path_, other);
  mine.write({registers(1)});
  theirs.write({registers(2)});
  mine.write({registers(3)});
  const std::vector<StoredRun> runs = read_facts(path_);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].facts.size(), 2u);
  ASSERT_EQ(runs[1].facts.size(), 1u);
  EXPECT_EQ(runs[1].facts[0].value, Value(2.0));
}

TEST_F(FactFile, ForkedWritersWriteTheirRunOnce) {
  FactWriter writer(path_, run());
  writer.write({registers(32)});
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      writer.reopen();
      writer.write({registers(33 + i)});
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  writer.write({registers(36)});
  const std::string text = content(path_);
  const std::size_t first = text.find(R"("record":"run")");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(text.find(R"("record":"run")", first + 1), std::string::npos) << text;
  const std::vector<StoredRun> runs = read_facts(path_);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].facts.size(), 5u);
}

TEST_F(FactFile, WhatAForkLeftTornIsCutOff) {
  FactWriter writer(path_, run());
  writer.write({registers(32)});
  std::ofstream(path_, std::ios::app) << R"({"record":"val)";
  writer.write({registers(33)});
  const std::vector<StoredRun> runs = read_facts(path_);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].facts.size(), 2u);
}

TEST_F(FactFile, ReadsOnAsItGrows) {
  FactWriter writer(path_, run());
  writer.write({registers(32)});
  FactReader reader(path_);
  EXPECT_EQ(reader.update().at(0).facts.size(), 1u);
  std::ofstream(path_, std::ios::app) << R"({"record":"end","run":"r1",)" << std::flush;
  EXPECT_FALSE(reader.update().at(0).end) << "it is still being written";
  std::ofstream(path_, std::ios::app) << R"("counts":{"pass":1},"exit_code":0})"
                                      << "\n";
  EXPECT_TRUE(reader.update().at(0).end);
  EXPECT_TRUE(std::move(reader).runs().at(0).end);
}

TEST_F(FactFile, ReadsTheCasesThatAreWantedAtEachTime) {
  FactWriter writer(path_, run());
  for (const char* arch : {"sm_75", "sm_90"}) {
    Fact fact = registers(32);
    fact.arch = arch;
    writer.write({fact});
  }
  writer.write_end({});
  FactReader reader(path_);
  std::vector<std::string> asked;
  const auto values_on = [&](const std::string& arch) {
    asked.clear();
    const std::vector<StoredRun> runs = reader.read([&](const Fact& fact) {
      asked.push_back(fact.arch);
      return fact.arch == arch;
    });
    EXPECT_TRUE(runs.at(0).end);
    std::vector<std::string> archs;
    for (const Fact& fact : runs.at(0).facts) archs.push_back(fact.arch);
    return archs;
  };
  EXPECT_THAT(values_on("none"), testing::IsEmpty());
  EXPECT_THAT(asked, testing::ElementsAre("sm_75", "sm_90"));
  EXPECT_THAT(values_on("sm_90"), testing::ElementsAre("sm_90"));
  EXPECT_THAT(values_on("sm_75"), testing::ElementsAre("sm_75"));
  EXPECT_THAT(asked, testing::UnorderedElementsAre("sm_75", "sm_90"));
}

TEST_F(FactFile, OpeningCutsATornLineOff) {
  FactWriter(path_, run()).write({registers(32)});
  std::ofstream(path_, std::ios::app) << R"({"record":"val)" << std::string(10000, 'x');
  EXPECT_EQ(values(path_).size(), 1u);
  FactWriter(path_, run()).write({registers(33)});
  ASSERT_EQ(values(path_).size(), 2u);
  EXPECT_EQ(values(path_)[1].value, Value(33.0));
}

TEST_F(FactFile, OpeningCutsAFileThatIsOnlyATornLine) {
  std::ofstream(path_) << "{";
  FactWriter(path_, run()).write({registers(32)});
  EXPECT_EQ(values(path_).size(), 1u);
}

TEST_F(FactFile, ProcessesDoNotMixTheirLines) {
  constexpr int kProcesses = 4, kFacts = 100;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0; i < kFacts; ++i) FactWriter(path_, run()).write({registers(process)});
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(values(path_).size(), kProcesses * kFacts);
}

TEST_F(FactFile, AFileThatCannotBeOpenedSaysWhy) {
  EXPECT_THAT(error_of([&] { FactWriter(path_ / "facts.jsonl", run()); }),
              HasSubstr("facts.jsonl: cannot be opened for facts: No such file"));
}

TEST(FactWriter, AFullDiskSaysSo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  FactWriter writer("/dev/full", run());
  EXPECT_THAT(error_of([&] { writer.write({registers(32)}); }),
              HasSubstr("/dev/full: facts could not be written: No space left on device"));
}

TEST_F(FactFile, AFactWrittenInPartIsTakenBack) {
  // A child has the limit on the size of files, which ends with it.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    FactWriter writer(path_, run());
    writer.write({registers(32)});
    const rlimit limit{fs::file_size(path_) + 20, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = error_of([&] { writer.write({registers(33)}); });
    _exit(error.find("facts could not be written: File too large") == std::string::npos);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(values(path_).size(), 1u);
  EXPECT_TRUE(content(path_).ends_with("}\n"));
}

TEST_F(FactFile, LaunchesOfOneShapeAreCounted) {
  for (const std::uint64_t count : {1, 2, 3}) {
    CaseContext context;
    context.kernels = {
        {.name = "k", .launches = {{.grid = {2, 1, 1}, .block = {32, 1, 1}, .count = count}}}};
    Fact fact = registers(32);
    fact.context = std::make_shared<const CaseContext>(context);
    fs::remove(path_);
    FactWriter(path_, run()).write({fact});
    const std::vector<Fact> facts = values(path_);
    ASSERT_EQ(facts.size(), 1u);
    ASSERT_EQ(facts[0].context->kernels.size(), 1u);
    ASSERT_EQ(facts[0].context->kernels[0].launches.size(), 1u);
    EXPECT_EQ(facts[0].context->kernels[0].launches[0].count, count);
    EXPECT_EQ(facts[0].context->kernels[0].launches[0].unequal_sectors, std::nullopt);
  }
}

TEST_F(FactFile, LaunchesWithUnequalWorkKeepTheFewestAndTheMost) {
  const auto write = [&](std::uint64_t fewest, std::uint64_t most) {
    Launch launch{.grid = {2, 1, 1}, .block = {32, 1, 1}, .count = 4};
    launch.unequal_sectors = {fewest, most};
    CaseContext context;
    context.kernels = {{.name = "k", .launches = {launch}}};
    Fact fact = registers(32);
    fact.context = std::make_shared<const CaseContext>(context);
    fs::remove(path_);
    FactWriter(path_, run()).write({fact});
  };
  write(0, 128);
  EXPECT_EQ(values(path_).at(0).context->kernels[0].launches[0].unequal_sectors,
            (std::array<std::uint64_t, 2>{0, 128}));
  write(8, 8);
  EXPECT_THAT(error_of([&] { values(path_); }),
              testing::HasSubstr("unequal_sectors' must begin with the smaller number"));
}

}  // namespace
}  // namespace warpgauge::metrics::fact_file_test
