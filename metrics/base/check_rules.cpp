// The table of the checks' rules.
#include "metrics/base/check_rules.h"

#include <algorithm>
#include <iterator>

namespace warpgauge::metrics {
namespace {

constexpr CheckRule of_copies(std::string_view name, std::string_view check = "async") {
  return {name, check, "mistake with asynchronous copies", "mistakes with asynchronous copies"};
}

constexpr CheckRule of_program(std::string_view name, std::string_view check,
                               std::string_view mistake, std::string_view mistakes) {
  return {name, check, mistake, mistakes, true};
}

constexpr CheckRule kCheckRules[] = {
    {"race", "races", "race", "races"},
    {"lane race", "lanes", "race of lanes of one warp", "races of lanes of one warp"},
    {"uninitialised", "uninitialised", "read of uninitialised memory",
     "reads of uninitialised memory"},
    {"one word, several values", "stores", "conflict of stores to one word",
     "conflicts of stores to one word"},
    {"shuffle", "shuffles", "shuffle from an absent lane", "shuffles from absent lanes"},
    {"read-only load", "races", "read-only load of memory that the grid writes",
     "read-only loads of memory that the grid writes"},
    {"mask", "shuffles", "lane outside of its own mask", "lanes outside of their own masks"},
    {"barrier", "barriers", "misuse of a barrier", "misuses of barriers"},
    of_program("leak", "allocations", "leak of device memory", "leaks of device memory"),
    of_program("double free", "allocations", "double free", "double frees"),
    of_program("invalid free", "allocations", "invalid free", "invalid frees"),
    of_program("use before allocation", "allocations", "use of memory before its allocation",
               "uses of memory before its allocation"),
    of_program("use after free", "allocations", "use of memory after its free",
               "uses of memory after its free"),
    of_program("unequal work", "unequal", "kernel with unequal work", "kernels with unequal work"),
    {"order", "", "dependence on the order of blocks and warps",
     "dependences on the order of blocks and warps"},
    of_copies("unfenced source"),
    of_copies("unordered source"),
    of_copies("early access"),
    of_copies("early result"),
    of_copies("overwritten source"),
    of_copies("refilled buffer"),
    of_copies("unfenced refill", "proxies"),
    of_copies("unawaited copy"),
    of_copies("wrong bytes"),
    of_copies("ended block"),
    of_copies("unordered mbarrier"),
    of_copies("unfenced mbarrier"),
    of_copies("unavailable registers"),
};

}  // namespace

std::span<const CheckRule> check_rules() { return kCheckRules; }

const CheckRule* find_check_rule(std::string_view name) {
  const auto* const found = std::ranges::find(kCheckRules, name, &CheckRule::name);
  return found == std::end(kCheckRules) ? nullptr : found;
}

bool is_looked_for(const CheckRule& rule, std::string_view checks) {
  while (!checks.empty()) {
    const std::string_view check = checks.substr(0, checks.find(','));
    checks.remove_prefix(std::min(checks.size(), check.size() + 1));
    const bool is_part = check == "proxies" && rule.check == "async";  // which it adds to
    if (!rule.check.empty() && (check == rule.check || check == "all" || is_part)) return true;
  }
  return false;
}

}  // namespace warpgauge::metrics
