// Reads the rules for causes from cause_rules.json.
#include "harness/diff/cause_rules.h"

#include <algorithm>
#include <cstddef>

namespace warpgauge::diff {
namespace {

using enum Sameness;

constexpr CauseRule kRules[] = {
    {.cause = Cause::environment, .noisy = true, .whole_case = same, .driver = same},
    {.cause = Cause::driver, .noisy = true, .whole_case = same},
    {.cause = Cause::launch, .code = same, .launches = other},
    // The kernel is the same, so another one of the case or its launches changed.
    {.cause = Cause::launch, .noisy = true, .whole_case = other, .code = same},
    {.cause = Cause::code, .source = other},
    {.cause = Cause::compiler, .source = same, .code = other},
    {.cause = Cause::code_or_compiler, .code = other},
    {.cause = Cause::unknown, .source = Sameness::unknown, .code = Sameness::unknown},
    {.cause = Cause::compiler, .code = Sameness::unknown, .compiler = other},
    {.cause = Cause::unknown, .noisy = true},
    {.cause = Cause::input_or_counter, .source = same},
    {.cause = Cause::input_or_counter, .launches = same},
    {.cause = Cause::unknown},
};

template <typename T>
bool is_so(const std::optional<T>& wanted, T found) {
  return !wanted || *wanted == found;
}

}  // namespace

std::string_view to_string(Cause cause) {
  constexpr std::string_view kTexts[] = {"code",        "compiler",         "code or compiler",
                                         "launch",      "input or counter", "driver",
                                         "environment", "unknown"};
  return kTexts[static_cast<std::size_t>(cause)];
}

std::string_view to_string(Sameness sameness) {
  constexpr std::string_view kTexts[] = {"same", "other", "unknown"};
  return kTexts[static_cast<std::size_t>(sameness)];
}

std::span<const CauseRule> cause_rules() { return kRules; }

Cause cause_of(const Origins& origins) {
  return std::ranges::find_if(kRules,
                              [&](const CauseRule& rule) {
                                return is_so(rule.noisy, origins.noisy) &&
                                       is_so(rule.whole_case, origins.whole_case) &&
                                       is_so(rule.source, origins.source) &&
                                       is_so(rule.code, origins.code) &&
                                       is_so(rule.launches, origins.launches) &&
                                       is_so(rule.compiler, origins.compiler) &&
                                       is_so(rule.driver, origins.driver);
                              })
      ->cause;
}

}  // namespace warpgauge::diff
