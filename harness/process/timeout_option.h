// The option --timeout of the commands that end what takes too long. Needs CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

namespace warpgauge::process {

/// Adds --timeout, a number of seconds, to fill `limit`, whose value is the default. `limit` must
/// outlive the parsing.
void add_timeout_option(CLI::App& command, std::chrono::seconds& limit, const std::string& text);

}  // namespace warpgauge::process
