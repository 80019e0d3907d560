// The rules whose breaches the checks of the emulator find, by their names in findings.
#pragma once

#include <span>
#include <string_view>

namespace warpgauge::metrics {

/// The checks that --check names, beside "all" and "none".
inline constexpr std::string_view kCheckNames[] = {
    "async", "barriers", "proxies",  "races",       "uninitialised",
    "lanes", "stores",   "shuffles", "allocations", "unequal"};

/// A rule, the check that looks for breaches of it (empty: --schedules does), and what a breach is
/// called: "2 races found".
struct CheckRule {
  std::string_view name, check, mistake, mistakes;
  bool is_of_program = false;  ///< calls of the program break it: its findings may name no line
};

/// All rules, the worse of two that lines may break in front. Those of one kind stand side by side:
/// they share what a breach is called.
std::span<const CheckRule> check_rules();

/// nullptr for a name that no rule has.
const CheckRule* find_check_rule(std::string_view name);

/// Whether one of these checks (names with commas between, or "all") looks for breaches of it.
bool is_looked_for(const CheckRule& rule, std::string_view checks);

}  // namespace warpgauge::metrics
