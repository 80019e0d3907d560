// Runs the canaries, and checks verdict, value and line of the planted defects.
#include "harness/measuring/self_test.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>

#include "harness/files/error_text.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/self_test_kernels.h"
#include "harness/process/isolated_text.h"
#include "metrics/budgets/judge.h"
#include "warpgauge/buffers.h"
#include "warpgauge/comparison.h"
#include "warpgauge/problem.h"

namespace warpgauge {
namespace {

using metrics::Fact;
using metrics::Verdict;

constexpr std::size_t kExtent = 32;
constexpr std::string_view kBankConflict = "planted bank conflict", kSpill = "planted spill";
constexpr std::string_view kBankConflicts = "shared.bank_conflicts";

/// A square of 32 x 32 values, to be copied or transposed.
struct Square : Problem {
  Input<float> a;
  Output<float> b;
  bool turned;
  explicit Square(bool turned)
      : a(*this, kExtent * kExtent), b(*this, kExtent * kExtent), turned(turned) {}
  /// What is tested is the counting, from which nothing is concluded.
  double bytes() const override { return 0; }
  void check(Comparison& comparison) const override {
    std::vector<float> expected = a.host();
    for (std::size_t i = 0; turned && i < expected.size(); ++i) {
      expected[i] = a.host()[i % kExtent * kExtent + i / kExtent];
    }
    comparison.equal(b, expected);
  }
};

Case canary(const char* variant, bool turned, void (*launch)(float*, const float*), int line) {
  return {.id = {"self_test", variant, "f32", "32x32"},
          .file = __FILE__,
          .line = line,
          .make_problem = [=](const Size&) { return std::make_unique<Square>(turned); },
          .launch =
              [=](Problem& problem) {
                Square& square = static_cast<Square&>(problem);
                launch(square.b, square.a);
              }};
}

std::vector<Fact> judged(std::vector<Fact> facts) {
  const auto today = metrics::today();
  for (Fact& fact : facts) metrics::judge(fact, metrics::Budgets(), today);
  return facts;
}

[[noreturn]] void missed(std::string_view defect, const std::string& what) {
  throw SelfTestError(fmt::format("a {} was missed: {}", defect, what));
}

/// The fact of the whole canary on `metric`. Throws SelfTestError if there is not exactly one, or
/// if the canary itself failed.
const Fact& only_fact(const std::vector<Fact>& facts, std::string_view metric,
                      std::string_view defect) {
  const Fact* found = nullptr;
  for (const Fact& fact : facts) {
    if (fact.verdict == Verdict::error) missed(defect, fact.reason);
    if (fact.metric != metric || fact.scope != metrics::Scope::whole_case) continue;
    if (found != nullptr) missed(defect, fmt::format("there are two facts {}", metric));
    found = &fact;
  }
  if (found == nullptr) missed(defect, fmt::format("there is no fact {}", metric));
  return *found;
}

bool has_value(const Fact& fact) { return !std::holds_alternative<std::monostate>(fact.value); }

void need_fail(const Fact& fact, std::string_view defect) {
  if (fact.verdict == Verdict::fail) return;
  missed(defect, fmt::format("the verdict on {} is {}", fact.metric, to_string(fact.verdict)));
}

/// On the GPU, where `arch` is empty, or on the emulator. What check_planted_bank_conflict() says.
std::string run_planted_bank_conflict(const std::string& arch, const SelfTestOptions& options) {
  return process::isolated_text(
      [&] {
        if (!arch.empty()) emulate_arch(arch, options.time_limit);
        CaseRunner meter(options.use_counters);
        const std::vector<Fact> facts = planted_bank_conflict_facts(meter);
        const std::string not_sure = check_planted_bank_conflict(facts);
        // A counter that works without error and finds no access in this kernel is blind.
        const Fact& fact = only_fact(facts, kBankConflicts, kBankConflict);
        if (meter.no_counters().empty() && !has_value(fact)) missed(kBankConflict, fact.reason);
        return not_sure;
      },
      options.time_limit);
}

SelfTestResult try_self_test(const SelfTestOptions& options) {
  if (options.archs.empty()) throw SelfTestError("there is no architecture to look for a spill in");
  for (const std::string& arch : options.archs) {
    check_planted_spill(planted_spill_facts(arch), arch);
  }
  std::string not_counted;
  const std::vector<std::string> on_the_gpu = {""};
  const std::vector<std::string>& runs =
      options.emulated_archs.empty() ? on_the_gpu : options.emulated_archs;
  for (const std::string& arch : runs) {
    const std::string reason = run_planted_bank_conflict(arch, options);
    if (!reason.empty()) not_counted = reason;
  }
  const std::string archs = fmt::format("{}", fmt::join(options.archs, ", "));
  if (not_counted.empty()) {
    return {fmt::format("self test: a {} and a {} ({}) were caught", kBankConflict, kSpill, archs),
            ""};
  }
  return {fmt::format("self test: a {} was caught ({}); a {} cannot be counted here: {}", kSpill,
                      archs, kBankConflict, not_counted),
          not_counted};
}

}  // namespace

const Case& planted_bank_conflict() {
  static const Case kCase =
      canary("planted_bank_conflict", true, self_test::launch_bank_conflict, __LINE__);
  return kCase;
}

const Case& planted_spill() {
  static const Case kCase = canary("planted_spill", false, self_test::launch_spill, __LINE__);
  return kCase;
}

std::vector<Fact> planted_bank_conflict_facts(CaseRunner& meter) {
  return judged(meter.run(planted_bank_conflict(), metrics::Budgets()));
}

std::vector<Fact> planted_spill_facts(const std::string& arch) {
  const Case& test_case = planted_spill();
  return judged(static_facts(test_case, dry_launches(test_case), arch));
}

bool is_of_self_test(std::string_view file) {
  return file.ends_with("harness/measuring/self_test.cu");
}

std::string check_planted_bank_conflict(const std::vector<Fact>& facts) {
  const Fact& fact = only_fact(facts, kBankConflicts, kBankConflict);
  if (has_value(fact) && fact.value != metrics::Value(kPlantedBankConflicts)) {
    missed(kBankConflict, fmt::format("{} is {} instead of {:g}", fact.metric,
                                      metrics::to_text(fact.value), kPlantedBankConflicts));
  }
  if (fact.verdict == Verdict::unmeasured) return fact.reason;
  need_fail(fact, kBankConflict);
  if (!is_of_self_test(fact.file) || fact.line != self_test::kBankConflictLine) {
    missed(kBankConflict, fmt::format("{}:{} is blamed instead of self_test.cu:{}", fact.file,
                                      fact.line, self_test::kBankConflictLine));
  }
  return "";
}

void check_planted_spill(const std::vector<Fact>& facts, const std::string& arch) {
  const Fact& fact = only_fact(facts, "spill.store_bytes", kSpill);
  if (fact.arch != arch) missed(kSpill, fmt::format("it is of {}, not of {}", fact.arch, arch));
  need_fail(fact, kSpill);
}

SelfTestResult run_self_test(const SelfTestOptions& options) {
  try {
    return try_self_test(options);
  } catch (const std::exception& error) {
    throw SelfTestError(
        fmt::format("self test: {}; nothing was measured", files::error_text(error)));
  }
}

}  // namespace warpgauge
