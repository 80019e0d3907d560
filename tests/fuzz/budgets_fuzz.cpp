// libFuzzer target: no text may make the reader of budget files crash, hang or throw anything but
// its own error, which names the place; and each limit that it accepts can be judged.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/budgets/budget.h"
#include "metrics/budgets/judge.h"
#include "metrics/facts/catalog.h"
#include "metrics/facts/fact.h"
#include "tests/fuzz/require.h"

namespace {

using namespace warpgauge::metrics;

const std::vector<CaseId> kCases = {{"transpose", "naive", "f32", "1024x1024"},
                                    {"transpose", "padded", "f32", "1024x1024"},
                                    {"transpose", "padded", "f64", "33x65"}};

void judge_everything(const Budgets& budgets) {
  using namespace std::chrono_literals;
  for (const CaseId& id : kCases) {
    for (const std::string_view arch : {"sm_75", "sm_90", "sm_90a"}) {
      for (const Metric& metric : catalog()) {
        const Limit* limit = budgets.find(id, arch, metric.id);
        require(limit == nullptr || !limit->origin.empty(), "limits say where they are from");
        Fact fact;
        fact.id = id;
        fact.arch = arch;
        fact.metric = metric.id;
        fact.confidence = "exact";
        fact.value = is_word(metric) ? Value(std::string("blocks")) : Value(4.0);
        judge(fact, budgets, 2026y / 1 / 15);
        require(!fact.reason.empty() || fact.verdict != Verdict::fail, "failures have a reason");
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Budgets budgets = Budgets::parse(text, "fuzz.toml", kCases);
    judge_everything(budgets);
    budgets.of_kernel(kCases[0], std::vector<std::string>{"_Z5naivePf", "naive"});
    budgets.section_names();
  } catch (const BudgetError& error) {
    require(std::string_view(error.what()).starts_with("fuzz.toml:"), "errors name the place");
  }
  return 0;
}
