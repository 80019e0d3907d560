#include "harness/process/child_program.h"

#include <gmock/gmock.h>

#include <csignal>

namespace warpgauge {
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

TEST(ChildProgram, ThatIsNotThere) {
  EXPECT_THROW(process::run_to_its_end({"no-such-program"}, {}), std::runtime_error);
}

}  // namespace
}  // namespace warpgauge
