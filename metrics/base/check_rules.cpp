// The table of the checks' rules.
#include "metrics/base/check_rules.h"

#include <algorithm>
#include <iterator>

namespace warpgauge::metrics {
namespace {

constexpr CheckRule of_copies(std::string_view name) {
  return {name, "mistake with asynchronous copies", "mistakes with asynchronous copies"};
}

constexpr CheckRule of_program(std::string_view name, std::string_view mistake,
                               std::string_view mistakes) {
  return {name, mistake, mistakes, true};
}

constexpr CheckRule kCheckRules[] = {
    {"race", "race", "races"},
    {"uninitialised", "read of uninitialised memory", "reads of uninitialised memory"},
    {"one word, several values", "conflict of stores to one word",
     "conflicts of stores to one word"},
    {"shuffle", "shuffle from an absent lane", "shuffles from absent lanes"},
    {"read-only load", "read-only load of memory that the grid writes",
     "read-only loads of memory that the grid writes"},
    {"mask", "lane outside of its own mask", "lanes outside of their own masks"},
    {"barrier", "misuse of a barrier", "misuses of barriers"},
    of_program("leak", "leak of device memory", "leaks of device memory"),
    of_program("double free", "double free", "double frees"),
    of_program("invalid free", "invalid free", "invalid frees"),
    of_program("use before allocation", "use of memory before its allocation",
               "uses of memory before its allocation"),
    of_program("use after free", "use of memory after its free", "uses of memory after its free"),
    of_program("unequal work", "kernel with unequal work", "kernels with unequal work"),
    {"order", "dependence on the order of blocks and warps",
     "dependences on the order of blocks and warps"},
    of_copies("unfenced source"),
    of_copies("unordered source"),
    of_copies("early access"),
    of_copies("early result"),
    of_copies("overwritten source"),
    of_copies("refilled buffer"),
    of_copies("unfenced refill"),
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

}  // namespace warpgauge::metrics
