// Files that are mapped into memory, and change while they are read.
#include "harness/files/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include "harness/files/temporary_path.h"
#include "harness/files/write_file.h"

namespace warpgauge::mapped_file_test {
namespace {

/// How a child ends that runs this.
int status_of(const auto& run) {
  const pid_t child = fork();
  if (child == 0) {
    run();
    _exit(7);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(MappedFile, HasTheBytesOfTheFile) {
  const auto path = files::TemporaryPath::file();
  files::write_file(path.path(), "abc");
  EXPECT_EQ(files::MappedFile(path.path()).bytes().size(), 3);
  EXPECT_THROW(files::MappedFile(path.path().string() + ".none"), std::system_error);
}

TEST(MappedFile, OneThatBecomesShorterIsAFaultAndNoSignal) {
  const auto path = files::TemporaryPath::file();
  files::write_file(path.path(), std::string(1 << 20, 'x'));
  const int status = status_of([&] {
    const files::MappedFile file(path.path());
    std::filesystem::resize_file(path.path(), 0);
    const volatile std::byte* const bytes = file.bytes().data();
    static_cast<void>(bytes[1 << 19]);
  });
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(MappedFile, OtherSignalsOfTheKindEndTheProcess) {
  const auto path = files::TemporaryPath::file();
  files::write_file(path.path(), "abc");
  const int status = status_of([&] {
    const files::MappedFile file(path.path());
    std::raise(SIGBUS);
    std::raise(SIGBUS);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

}  // namespace
}  // namespace warpgauge::mapped_file_test
