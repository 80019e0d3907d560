// The main() of GoogleTest programs that measure kernels (warpgauge/gtest.h).

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/gtest_outcome.h"
#include "harness/help_text.h"
#include "harness/program.h"
#include "warpgauge/measure.h"

namespace {

int run(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int skip_code = 0;
  CLI::App app("Tests that measure kernels (--gtest_help shows the options of GoogleTest)");
  app.formatter(std::make_shared<warpgauge::HelpFormatter>());
  app.footer(
      "Exit codes: 0 all passed, 1 a test failed, 2 a fault (nothing selected).\n\n"
      "Examples:\n  my-tests --gtest_filter='Filter.*'\n  my-tests-emulated --gtest_list_tests");
  app.add_option("--skip-code", skip_code,
                 "Exit with this code when no test failed but some were skipped (for CTest)")
      ->type_name("CODE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : warpgauge::kFault;
  }
  if (!testing::GTEST_FLAG(list_tests)) warpgauge::prepare_to_measure();
  return warpgauge::run_all_tests(skip_code);
}

}  // namespace

int main(int argc, char** argv) { return warpgauge::run_program(run, argc, argv); }
