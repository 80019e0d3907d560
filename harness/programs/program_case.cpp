// Makes cases with facts of what was counted of a program's kernels.
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

#include "harness/measuring/blank_facts.h"
#include "harness/measuring/error_facts.h"
#include "harness/measuring/exact_count_facts.h"
#include "harness/measuring/missing_facts.h"
#include "metrics/base/demangled.h"
#include "metrics/base/hash.h"
#include "metrics/facts/built_in_limits.h"
#include "metrics/facts/catalog.h"

namespace warpgauge::programs {
namespace {

using metrics::Fact;

metrics::CaseId id_of(const Counter& counter, const std::string& program,
                      const std::string& kernel) {
  constexpr std::size_t kDigits = 8;
  const std::string hash = metrics::hash_text(kernel);
  return {.family = family_of(program),
          .variant = variant_of(kernel),
          .type = hash.substr(0, kDigits),
          .size = std::string(counter.size)};
}

/// Facts without values for budgets that no fact answers.
std::vector<Fact> missing(const Counter& counter, const CountedKernel& kernel,
                          const std::vector<Fact>& facts, const Fact& blank,
                          const std::string& why_not_counted, const metrics::Budgets& budgets) {
  std::vector<Fact> result;
  for (const metrics::Source source :
       {metrics::Source::sass, metrics::Source::run, metrics::Source::cubin,
        metrics::Source::occupancy, metrics::Source::range, metrics::Source::timer,
        metrics::Source::emulator}) {
    const bool counted = (source == metrics::Source::sass && !counter.source.empty()) ||
                         (source == metrics::Source::emulator && counter.source == "emulator");
    const std::string reason =
        counted ? why_not_counted
                : fmt::format("warpgauge {} does not measure it", counter.command);
    for (Fact& fact : missing_facts(facts, source, reason, {blank, budgets})) {
      const metrics::Limit* limit = budgets.find(blank.id, blank.arch, fact.metric);
      // Spills are seen by what they do, which is counted: the local memory they go to.
      const metrics::Limit* built_in = metrics::built_in_limit(fact.metric);
      const auto unknown = kernel.compiled.unknown.find(fact.metric);
      if (unknown != kernel.compiled.unknown.end()) {
        fact.reason = *unknown->second;
      } else if (!counted && built_in != nullptr && limit->origin == metrics::kBuiltInOrigin) {
        continue;
      }
      result.push_back(std::move(fact));
    }
  }
  return result;
}

/// The compile-time values of the case, each blamed on the line that has most of it, and the values
/// of lines.
std::vector<Fact> compiled_facts(const Counter& counter, const CountedKernel& kernel, Fact blank) {
  blank.source = counter.compile;
  const auto with_trust = [&](std::string_view metric, double value) {
    Fact fact = with_value(blank, metric, value);
    const auto doubt = kernel.compiled.doubts.find(metric);
    const metrics::Trust trust =
        doubt == kernel.compiled.doubts.end() ? metrics::Trust{} : doubt->second;
    fact.confidence = to_string(trust.confidence);
    fact.confidence_reason = trust.reason;
    const auto cure = kernel.compiled.cures.find(metric);
    if (cure != kernel.compiled.cures.end()) fact.cure = cure->second;
    return fact;
  };
  std::vector<Fact> facts;
  for (const auto& [metric, value] : kernel.compiled.values) {
    facts.push_back(with_trust(metric, value));
    double most = 0;
    for (const metrics::CompiledLine& line : kernel.compiled.lines) {
      if (line.metric != metric || line.value <= most) continue;
      most = line.value;
      facts.back() = blamed_on(std::move(facts.back()), kernel.name, line.source);
    }
  }
  for (const metrics::CompiledLine& line : kernel.compiled.lines) {
    facts.push_back(blamed_on(with_trust(line.metric, line.value), kernel.name, line.source));
    facts.back().scope = metrics::Scope::line;
  }
  return facts;
}

std::vector<Fact> facts_of(const Counter& counter, const CountedKernel& kernel, Fact blank,
                           const metrics::Budgets& budgets) {
  metrics::CaseContext context{.kind = counter.kind,
                               .device = kernel.device.name,
                               .kernels = {{.name = kernel.name,
                                            .sass_hash = kernel.sass_hash,
                                            .source_hash = kernel.source_hash,
                                            .launches = kernel.counted}}};
  context.code_hash = code_hash(context.kernels);
  blank.kernel = kernel.name;
  std::vector<Fact> facts;
  std::string why_not_counted =
      kernel.why_no_lines.empty() ? "nothing was counted of this kernel" : kernel.why_no_lines;
  if (!kernel.lines.empty()) {
    const auto first = std::ranges::min_element(kernel.lines, {}, [](const auto& line) {
      return std::tuple(line.file.empty(), line.file, line.line);
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
  std::ranges::move(compiled_facts(counter, kernel, blank), std::back_inserter(facts));
  std::ranges::move(missing(counter, kernel, facts, blank, why_not_counted, budgets),
                    std::back_inserter(facts));
  return facts;
}

}  // namespace

std::vector<std::string> ProgramCase::names() const {
  std::vector<std::string> names = metrics::names_of(kernel);
  names.push_back(id.variant);
  names.push_back(id.variant_type());
  return names;
}

bool is_called(const std::string& kernel, const std::regex& expression) {
  constexpr std::size_t kSearched = 4096;  // the library takes some of the stack for each character
  const std::string name = kernel.substr(0, kSearched), without_void = metrics::without_void(name);
  return std::regex_search(name, expression) ||
         (without_void != name && std::regex_search(without_void, expression));
}

std::string family_of(const std::string& program) {
  return metrics::id_word(std::filesystem::path(program).filename().string());
}

std::string variant_of(const std::string& kernel) {
  return metrics::id_word(metrics::plain_name(metrics::demangled(kernel)));
}

Fact program_failure(const Counter& counter, const std::string& program, std::string how) {
  Case program_case;
  program_case.kind = counter.kind;
  program_case.id = {
      .family = family_of(program), .variant = "program", .type = "end", .size = "run"};
  return error_fact(program_case, std::move(how));
}

ProgramCase case_of(const Counter& counter, const std::string& program, const CountedKernel& kernel,
                    const metrics::Budgets& budgets) {
  ProgramCase program_case{.id = id_of(counter, program, kernel.name),
                           .kernel = metrics::demangled(kernel.name),
                           .device = kernel.device,
                           .budgets = {},
                           .launches = kernel.launches,
                           .counted_warps = kernel.counted_warps,
                           .facts = {}};
  metrics::Launch unequal;
  for (const metrics::Launch& shape : kernel.counted) {
    program_case.counted += shape.count;
    program_case.warps += shape.warps();
    add_unequal(unequal, shape);
  }
  program_case.unequal_sectors = unequal.unequal_sectors;
  program_case.budgets = budgets.of_kernel(program_case.id, program_case.names());
  const Fact blank{.id = program_case.id, .arch = kernel.arch, .file = "", .line = 0};
  program_case.facts = facts_of(counter, kernel, blank, program_case.budgets);
  return program_case;
}

std::vector<ProgramCase> cases_of(const Counter& counter, const std::string& program,
                                  const std::vector<CountedKernel>& kernels,
                                  const metrics::Budgets& budgets) {
  std::vector<ProgramCase> cases;
  for (const CountedKernel& kernel : kernels) {
    cases.push_back(case_of(counter, program, kernel, budgets));
  }
  std::ranges::stable_sort(cases, std::ranges::greater(), &ProgramCase::launches);
  return cases;
}

}  // namespace warpgauge::programs
