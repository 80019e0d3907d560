// Adds to a GoogleTest program with any main() what warpgauge::gtest promises: its registered cases
// are tests, its tests can measure, and without a GPU it continues in the emulated program beside
// it, or skips.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/cases/registry.h"
#include "harness/check/registered_tests.h"
#include "harness/process/program.h"
#include "harness/runtime.h"
#include "warpgauge/gtest.h"  // names what is measured

/// The linker looks for it (harness/CMakeLists.txt), or it would leave this file out.
extern "C" const int warpgauge_gtest_cases;  // NOLINT(readability-identifier-naming)
const int warpgauge_gtest_cases = 1;

namespace warpgauge::check {
namespace {

/// Why no test is run; empty if they are.
std::string& why_skipped() {
  static std::string why;
  return why;
}

/// The arguments of this process: GoogleTest has taken its own out of main()'s.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

void continue_without_gpu() {
  if (is_emulated() || process::has_gpu()) return;
  const std::filesystem::path emulated = process::program_path(true);
  if (!std::filesystem::exists(emulated)) {
    why_skipped() = fmt::format("no GPU here, and {} was not built", emulated.string());
    return;
  }
  std::vector<std::string> words = own_arguments();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  process::continue_on(process::DeviceChoice::emulated, arguments.data());
}

class Failing : public testing::Test {
 public:
  explicit Failing(std::string why) : why_(std::move(why)) {}
  void TestBody() override { FAIL() << why_; }

 private:
  std::string why_;
};

/// Called by GoogleTest when it has read its options, before it selects tests.
std::vector<int> add_cases() {
  try {
    if (!testing::GTEST_FLAG(list_tests)) continue_without_gpu();
    if (!Registry::instance().cases().empty()) {
      static Tests tests({}, process::program_path(is_emulated()).filename());
    }
  } catch (const std::exception& error) {
    testing::RegisterTest(
        "warpgauge", "registered_cases", nullptr, nullptr, __FILE__, __LINE__,
        [why = std::string(error.what())]() -> testing::Test* { return new Failing(why); });
  }
  return {};
}

class RegisteredCases : public testing::TestWithParam<int> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RegisteredCases);
TEST_P(RegisteredCases, AreTests) {}
INSTANTIATE_TEST_SUITE_P(Warpgauge, RegisteredCases, testing::ValuesIn(add_cases()));

class Preparation : public testing::Environment {
 public:
  void SetUp() override {
    if (!why_skipped().empty()) GTEST_SKIP() << why_skipped();
    prepare_to_measure();
  }
};
testing::Environment* const kPreparation = testing::AddGlobalTestEnvironment(new Preparation);

}  // namespace
}  // namespace warpgauge::check
