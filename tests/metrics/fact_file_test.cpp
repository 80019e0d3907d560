// Files of facts: writing, reading back, and everything that can be wrong with them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metrics/fact.h"

namespace warpgauge::metrics {
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
  for (const json& one : cases) {
    const fs::path path = kData / one["file"].get<std::string>();
    if (one.contains("facts")) {
      EXPECT_EQ(read_facts(path).size(), one["facts"]) << path;
    } else {
      EXPECT_THAT(error_of([&] { read_facts(path); }),
                  HasSubstr(path.string() + one["error"].get<std::string>()));
    }
  }
}

TEST(ReadFacts, MissingFilesAndFoldersSayWhy) {
  EXPECT_THAT(error_of([] { read_facts("none.jsonl"); }),
              HasSubstr("none.jsonl: cannot be read: No such file"));
  EXPECT_THAT(error_of([] { read_facts(kData); }), HasSubstr("cannot be read: Is a directory"));
}

TEST_F(FactFile, RoundTripIsExact) {
  for (const char* name : {"good.jsonl", "good_time.jsonl"}) {
    const fs::path golden = kData / name;
    fs::remove(path_);
    for (const StoredFact& stored : read_facts(golden)) {
      FactWriter(path_, stored.run).write(stored.fact);
    }
    EXPECT_EQ(content(path_), content(golden)) << name;
  }
}

TEST_F(FactFile, InvalidUtf8IsReplaced) {
  Fact fact = registers(32);
  fact.reason = "gr\xFC\xDF\n";
  FactWriter(path_, run()).write(fact);
  const std::vector<StoredFact> facts = read_facts(path_);
  ASSERT_EQ(facts.size(), 1);
  EXPECT_EQ(facts.front().fact.reason, "gr\uFFFD\uFFFD\n");
}

TEST_F(FactFile, LaterFactsHaveTheDevice) {
  FactWriter writer(path_, run());
  writer.write(registers(32));
  writer.set_device({.name = "GPU"});
  writer.write(registers(32));
  const std::vector<StoredFact> facts = read_facts(path_);
  ASSERT_EQ(facts.size(), 2);
  EXPECT_FALSE(facts[0].run.device);
  EXPECT_EQ(facts[1].run.device->name, "GPU");
}

TEST_F(FactFile, OpeningCutsATornLineOff) {
  FactWriter(path_, run()).write(registers(32));
  std::ofstream(path_, std::ios::app) << R"({"schema":"warpg)" << std::string(10000, 'x');
  EXPECT_EQ(read_facts(path_).size(), 1);
  FactWriter(path_, run()).write(registers(33));
  ASSERT_EQ(read_facts(path_).size(), 2);
  EXPECT_EQ(read_facts(path_)[1].fact.value, Value(33.0));
}

TEST_F(FactFile, OpeningCutsAFileThatIsOnlyATornLine) {
  std::ofstream(path_) << "{";
  FactWriter(path_, run()).write(registers(32));
  EXPECT_EQ(read_facts(path_).size(), 1);
}

TEST_F(FactFile, ProcessesDoNotMixTheirLines) {
  constexpr int kProcesses = 4, kFacts = 100;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0; i < kFacts; ++i) FactWriter(path_, run()).write(registers(process));
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_facts(path_).size(), kProcesses * kFacts);
}

TEST_F(FactFile, AFileThatCannotBeOpenedSaysWhy) {
  EXPECT_THAT(error_of([&] { FactWriter(path_ / "facts.jsonl", run()); }),
              HasSubstr("facts.jsonl: cannot be opened for facts: No such file"));
}

TEST(FactWriter, AFullDiskSaysSo) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  FactWriter writer("/dev/full", run());
  EXPECT_THAT(error_of([&] { writer.write(registers(32)); }),
              HasSubstr("/dev/full: a fact could not be written: No space left on device"));
}

TEST_F(FactFile, AFactWrittenInPartIsTakenBack) {
  // In a child, so that the limit on the size of files ends with it.
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    FactWriter writer(path_, run());
    writer.write(registers(32));
    const rlimit limit{fs::file_size(path_) + 100, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error = error_of([&] { writer.write(registers(33)); });
    _exit(error.find("only a part of a fact could be written") == std::string::npos);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(read_facts(path_).size(), 1);
  EXPECT_TRUE(content(path_).ends_with("}\n"));
}

}  // namespace
}  // namespace warpgauge::metrics
