#include "harness/programs/program_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "harness/case_facts.h"
#include "harness/counted_facts.h"
#include "harness/files/demangled.h"
#include "metrics/catalog.h"
#include "metrics/hash.h"

namespace warpgauge::programs {
namespace {

using metrics::Fact;

metrics::CaseId id_of(const std::string& program, const std::string& kernel) {
  constexpr std::size_t kDigits = 8;
  const std::string hash = metrics::hash_text(std::as_bytes(std::span(kernel)));
  return {.family = family_of(program),
          .variant = variant_of(kernel),
          .type = hash.substr(0, kDigits),
          .size = "run"};
}

/// What budgets ask for and no fact answers.
std::vector<Fact> missing(const Counter& counter, const std::vector<Fact>& facts, const Fact& blank,
                          const std::string& why_not_counted, const metrics::Budgets& budgets) {
  std::vector<Fact> result;
  for (const metrics::Source source :
       {metrics::Source::sass, metrics::Source::run, metrics::Source::ptxas,
        metrics::Source::occupancy, metrics::Source::range, metrics::Source::timer,
        metrics::Source::emulator}) {
    const bool counted = source == metrics::Source::sass ||
                         (source == metrics::Source::emulator && counter.source == "emulator");
    const std::string reason =
        counted ? why_not_counted
                : fmt::format("warpgauge {} does not measure it", counter.command);
    for (Fact& fact : missing_facts(facts, source, blank, reason, budgets)) {
      const metrics::Limit* limit = budgets.find(blank.id, blank.arch, fact.metric);
      // Spills are seen by what they do, which is counted: the local memory they go to.
      const metrics::Limit* built_in = metrics::built_in_limit(fact.metric);
      if (!counted && built_in != nullptr && limit->origin == metrics::kBuiltInOrigin) continue;
      result.push_back(std::move(fact));
    }
  }
  return result;
}

std::vector<Fact> facts_of(const Counter& counter, const CountedKernel& kernel, Fact blank,
                           const metrics::Budgets& budgets) {
  metrics::CaseContext context{.kind = counter.kind,
                               .device = kernel.device.name,
                               .kernels = {{.name = kernel.name,
                                            .sass_hash = kernel.sass_hash,
                                            .source_hash = "",
                                            .launches = kernel.counted}}};
  context.code_hash = code_hash(context.kernels);
  blank.kernel = kernel.name;
  std::vector<Fact> facts;
  std::string why_not_counted =
      kernel.why_no_lines.empty() ? "nothing was counted of this kernel" : kernel.why_no_lines;
  if (!kernel.lines.empty()) {
    const auto first = std::ranges::min_element(kernel.lines, {}, [](const auto& one) {
      return std::tuple(one.file.empty(), one.file, one.line);
    });
    blank.file = context.file = first->file;
    blank.line = context.line = first->line;
    blank.context = std::make_shared<const metrics::CaseContext>(context);
    for (Fact& fact : counted_facts(kernel.lines, blank, counter.source)) {
      if (fact.scope == metrics::Scope::line && fact.file.empty()) continue;
      facts.push_back(std::move(fact));
    }
    why_not_counted = kNoSuchAccess;
  }
  blank.context = std::make_shared<const metrics::CaseContext>(std::move(context));
  for (const auto& [metric, value] : kernel.compile_time) {
    Fact fact = with_value(blank, metric, value);
    fact.source = counter.compile;
    const bool is_doubtful = metrics::metric(metric).source == metrics::Source::occupancy &&
                             !kernel.occupancy_doubt.empty();
    fact.confidence = is_doubtful ? "estimate" : "exact";
    if (is_doubtful) fact.confidence_reason = kernel.occupancy_doubt;
    facts.push_back(std::move(fact));
  }
  std::ranges::move(missing(counter, facts, blank, why_not_counted, budgets),
                    std::back_inserter(facts));
  return facts;
}

}  // namespace

std::vector<std::string> ProgramCase::names() const {
  std::vector<std::string> names = files::names_of(kernel);
  names.push_back(id.variant);
  names.push_back(id.variant_type());
  return names;
}

bool ProgramCase::is_called(const std::regex& expression) const {
  return std::regex_search(kernel, expression) ||
         std::regex_search(files::without_void(kernel), expression);
}

std::string family_of(const std::string& program) {
  return id_word(std::filesystem::path(program).filename().string());
}

std::string variant_of(const std::string& kernel) {
  return id_word(files::plain_name(files::demangled(kernel)));
}

Fact program_failure(const Counter& counter, const std::string& program, std::string how) {
  Case one;
  one.kind = counter.kind;
  one.id = {.family = family_of(program), .variant = "program", .type = "end", .size = "run"};
  return error_fact(one, std::move(how));
}

std::vector<ProgramCase> cases_of(const Counter& counter, const std::string& program,
                                  const std::vector<CountedKernel>& kernels,
                                  const metrics::Budgets& budgets) {
  std::vector<ProgramCase> cases;
  for (const CountedKernel& kernel : kernels) {
    ProgramCase one{.id = id_of(program, kernel.name),
                    .kernel = files::demangled(kernel.name),
                    .device = kernel.device,
                    .budgets = {},
                    .launches = kernel.launches,
                    .counted_warps = kernel.counted_warps,
                    .facts = {}};
    for (const metrics::Launch& shape : kernel.counted) {
      one.counted += shape.count;
      one.warps += shape.warps();
    }
    one.budgets = budgets.of_kernel(one.id, one.names());
    const Fact blank{.id = one.id, .arch = kernel.arch, .file = "", .line = 0};
    one.facts = facts_of(counter, kernel, blank, one.budgets);
    cases.push_back(std::move(one));
  }
  std::ranges::stable_sort(cases, std::ranges::greater(), &ProgramCase::launches);
  return cases;
}

}  // namespace warpgauge::programs
