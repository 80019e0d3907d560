// Children of sh that end, are killed, and write.
#include "harness/process/child_program.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/files/temporary_path.h"

namespace warpgauge::child_program_test {
namespace {

using testing::HasSubstr;

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

TEST(ChildProgram, ThatIsNotThere) {
  EXPECT_THROW(process::run_to_its_end({"no-such-program"}, {}), std::runtime_error);
}

}  // namespace
}  // namespace warpgauge::child_program_test
