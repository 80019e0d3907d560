// Reads what to fuzz from the command line.
#include "harness/fuzz/fuzz_options.h"

#include <fmt/format.h>

#include <string>

#include "harness/files/printable.h"

namespace warpgauge::fuzz {

void add_fuzz_options(CLI::App& command, Asked& asked) {
  constexpr std::size_t kMost = 100'000;
  CLI::Option* const trials =
      command
          .add_option("--fuzz", asked.trials,
                      "Run each case so many times more, at other sizes (where sizes_between() "
                      "allows them) and with other random values")
          ->check(CLI::Range(std::size_t{1}, kMost))
          ->type_name("N");
  command
      .add_option_function<std::string>(
          "--fuzz-at",
          [&asked](const std::string& text) {
            asked.only = parse_trial(text);
            if (asked.only) return;
            throw CLI::ValidationError(
                "--fuzz-at",
                fmt::format("'{}' is no size and seed, as in 33x65,7", files::printable(text)));
          },
          "Repeat what --fuzz found at this size and seed")
      ->type_name("SIZE,SEED")
      ->excludes(trials);
}

}  // namespace warpgauge::fuzz
