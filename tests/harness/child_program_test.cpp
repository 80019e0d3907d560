// Children of sh that end, are killed, and write.
#include "harness/process/child_program.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/files/temporary_path.h"
#include "harness/process/descendants.h"

namespace warpgauge::child_program_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

process::Ending run(const std::string& script) {
  return process::run_to_its_end({"sh", "-c", script}, {{"A", "b c"}});
}

TEST(ChildProgram, SaysHowItEnded) {
  EXPECT_EQ(run("exit 7").exit_code(), 7);
  EXPECT_EQ(run("exit 7").str(), "exited with 7");
  const process::Ending killed = run("kill -KILL $$");
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.exit_code(), 128 + SIGKILL);
  EXPECT_THAT(killed.str(), HasSubstr("was ended by SIGKILL"));
}

TEST(ChildProgram, ChangesItsEnvironment) {
  EXPECT_EQ(run("test \"$A\" = 'b c' && test -n \"$PATH\"").status, 0);
}

TEST(ChildProgram, IsHandedTheSignalsThatAreSentToOneProcess) {
  EXPECT_EQ(run("kill -TERM $PPID; sleep 5").signal, SIGTERM);
  EXPECT_EQ(run("kill -INT $PPID; exit 3").status, 3) << "a terminal has sent it to both";
}

TEST(ChildProgram, IsHandedASignalThatAnotherThreadTookBeforeItRan) {
  const auto folder = files::TemporaryPath::folder_in(testing::TempDir(), "child-");
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::vector<pid_t> others;  // of earlier tests
  for (const process::Descendant& other : process::descendants()) others.push_back(other.id);
  // The program starts only when the pipe that it writes to has a reader.
  std::thread reader([&] {
    while (process::descendants(others).empty()) std::this_thread::yield();
    kill(getpid(), SIGTERM);
    std::ifstream{pipe};
  });
  const process::Ending ending =
      process::run_to_its_end({"sh", "-c", "exec sleep 20"}, {}, {.output = pipe, .messages = {}});
  reader.join();
  EXPECT_EQ(ending.signal, SIGTERM) << ending.str();
}

TEST(ChildProgram, WritesToFilesWhatItSays) {
  const auto folder = files::TemporaryPath::folder_in(testing::TempDir(), "child-");
  const auto output = folder.path() / "output", messages = folder.path() / "messages";
  process::run_to_its_end({"sh", "-c", "echo out; echo error >&2"}, {},
                          {.output = output, .messages = messages});
  const auto line_of = [](const std::filesystem::path& file) {
    std::string line;
    std::getline(std::ifstream(file), line);
    return line;
  };
  EXPECT_EQ(line_of(output), "out");
  EXPECT_EQ(line_of(messages), "error");
}

TEST(ChildProgram, WritesBothToOneFileInOrder) {
  const auto folder = files::TemporaryPath::folder_in(testing::TempDir(), "child-");
  const auto file = folder.path() / "output";
  process::run_to_its_end({"sh", "-c", "echo one; echo two >&2; echo three"}, {},
                          {.output = file, .messages = file});
  std::string text;
  std::getline(std::ifstream(file), text, '\0');
  EXPECT_EQ(text, "one\ntwo\nthree\n");
}

class SupervisedProgram : public testing::Test {
 protected:
  process::Ending run(const std::string& script, const process::Supervision& supervision) {
    return process::run_supervised({"sh", "-c", script}, {}, {.output = output_, .messages = ""},
                                   supervision);
  }
  std::string said() const {
    std::string line;
    std::getline(std::ifstream(output_), line);
    return line;
  }

 private:
  const files::TemporaryPath folder_ =
      files::TemporaryPath::folder_in(testing::TempDir(), "supervised-");
  const std::filesystem::path output_ = folder_.path() / "output";
};

TEST_F(SupervisedProgram, SaysHowItEnded) {
  const process::Ending ending = run("echo out; exit 7", {});
  EXPECT_EQ(ending.exit_code(), 7);
  EXPECT_THAT(ending.left, IsEmpty());
  EXPECT_EQ(said(), "out");
  EXPECT_EQ(run("kill -KILL $$", {}).signal, SIGKILL);
  EXPECT_EQ(run("kill -TERM $PPID; sleep 5", {}).signal, SIGTERM);
}

TEST_F(SupervisedProgram, IsEndedAtItsLimitsWithAllThatItStarted) {
  const process::Ending slow = run("sleep 1000 & exec sleep 1001", {.time_limit = 1s});
  EXPECT_EQ(slow.str(), "took longer than 1 s, and was ended");
  EXPECT_NE(slow.exit_code(), 0);
  EXPECT_THAT(process::descendants(), IsEmpty());
  const process::Ending loud = run("yes", {.time_limit = 100s, .most_output_bytes = 10000});
  EXPECT_EQ(loud.str(), "wrote more than 10000 bytes, and was ended");
  EXPECT_THAT(process::descendants(), IsEmpty());
}

TEST_F(SupervisedProgram, IsWaitedForWithWhatItLeavesBehind) {
  EXPECT_THAT(run("(sleep 0.3; echo late) &", {.patience = 100s}).left, IsEmpty());
  EXPECT_EQ(said(), "late");
  const process::Ending ending = run("sleep 1000 & echo first", {.patience = 1s});
  EXPECT_EQ(ending.exit_code(), 0);
  EXPECT_THAT(ending.left, ElementsAre(StartsWith("sleep 1000 (process ")));
  EXPECT_THAT(process::descendants(), IsEmpty());
}

TEST_F(SupervisedProgram, ThatIgnoresTheSignalToEndIsKilled) {
  const process::Ending ending = run("(trap '' TERM; sleep 1000) & sleep 0.2", {.patience = 0s});
  EXPECT_THAT(ending.left, Not(IsEmpty()));
  EXPECT_THAT(process::descendants(), IsEmpty());
}

TEST_F(SupervisedProgram, IsLookedAtWithTheProgramsThatItStarts) {
  std::set<std::string> seen;
  run("sleep 0.21; exec sleep 0.22", {.look = [&](const auto& processes) {
        for (const process::Descendant& process : processes) seen.insert(process.str());
      }});
  EXPECT_THAT(seen, Contains(StartsWith("sleep 0.21 (process ")));
  EXPECT_THAT(seen, Contains(StartsWith("sleep 0.22 (process ")));
}

TEST_F(SupervisedProgram, EndsNoProcessThatWasThereBefore) {
  const pid_t before = fork();
  if (before == 0) {
    pause();
    _exit(0);
  }
  EXPECT_THAT(run("exit 3", {.patience = 100s}).left, IsEmpty());
  EXPECT_EQ(kill(before, SIGKILL), 0);
  EXPECT_EQ(waitpid(before, nullptr, 0), before);
}

TEST(ChildProgram, ThatIsNotThere) {
  EXPECT_THROW(process::run_to_its_end({"no-such-program"}, {}), std::runtime_error);
}

TEST(ChildProgram, IsEndedWhenAFileThatItMakesIsTooLarge) {
  const auto folder = files::TemporaryPath::folder_in(testing::TempDir(), "child-");
  const auto made = folder.path() / "made";
  const process::Ending ending =
      process::run_supervised({"sh", "-c", "echo twelve bytes >\"$0\"; exec sleep 300", made}, {},
                              {}, {.most_output_bytes = 10, .made = made});
  EXPECT_EQ(ending.str(), "wrote more than 10 bytes, and was ended");
}

}  // namespace
}  // namespace warpgauge::child_program_test
