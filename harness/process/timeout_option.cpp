// Reads a time limit from the command line.
#include "harness/process/timeout_option.h"

namespace warpgauge::process {

void add_timeout_option(CLI::App& command, std::chrono::seconds& limit, const std::string& text) {
  constexpr int kDay = 86400;
  command
      .add_option_function<int>(
          "--timeout", [&limit](const int& seconds) { limit = std::chrono::seconds(seconds); },
          text)
      ->check(CLI::Range(1, kDay))
      ->default_str(std::to_string(limit.count()))
      ->type_name("SECONDS");
}

}  // namespace warpgauge::process
