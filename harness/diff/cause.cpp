// Finds why a value moved between two runs, by the rules of cause_rules.json.
#include "harness/diff/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "metrics/facts/catalog.h"

namespace warpgauge::diff {
namespace {

using metrics::Launch;

/// The kernel that a value is from; one without hashes where it is not known.
metrics::Kernel kernel_of(const ComparedValue& value) {
  const std::vector<metrics::Kernel>& kernels = value.fact->context->kernels;
  const auto found = std::ranges::find(kernels, value.fact->kernel, &metrics::Kernel::name);
  return found == kernels.end() ? metrics::Kernel{} : *found;
}

Sameness sameness(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return Sameness::unknown;
  return a == b ? Sameness::same : Sameness::other;
}

Sameness sameness(bool is_same) { return is_same ? Sameness::same : Sameness::other; }

Sameness sameness(const std::vector<Launch>& a, const std::vector<Launch>& b) {
  if (a.empty() && b.empty()) return Sameness::unknown;
  return sameness(std::ranges::equal(a, b, [](const Launch& left, const Launch& right) {
    return left.like(right) && left.count == right.count;
  }));
}

auto compiler(const ComparedValue& value) { return std::tie(value.run->toolkit, value.run->flags); }

/// A sentence if the two are not the same.
void add_change(std::vector<std::string>& details, std::string_view what, const std::string& a,
                const std::string& b) {
  if (a == b) return;
  details.push_back(fmt::format("{} {} -> {}", what, a.empty() ? "?" : a, b.empty() ? "?" : b));
}

}  // namespace

Cause cause_of(const ComparedValue& a, const ComparedValue& b) {
  const metrics::Kernel kernel_a = kernel_of(a), kernel_b = kernel_of(b);
  return cause_of(Origins{
      .noisy = metrics::metric(a.fact->metric).cls == metrics::Class::bounded,
      .whole_case = sameness(a.fact->context->code_hash, b.fact->context->code_hash),
      .source = sameness(kernel_a.source_hash, kernel_b.source_hash),
      .code = sameness(kernel_a.sass_hash, kernel_b.sass_hash),
      .launches = sameness(kernel_a.launches, kernel_b.launches),
      .compiler = sameness(compiler(a) == compiler(b)),
      .driver = sameness(a.device().driver == b.device().driver),
  });
}

bool have_other_code(const ComparedValue& a, const ComparedValue& b) {
  return sameness(kernel_of(a).sass_hash, kernel_of(b).sass_hash) == Sameness::other;
}

bool is_estimate(const ComparedValue& a, const ComparedValue& b) {
  const bool is_count = metrics::metric(a.fact->metric).cls == metrics::Class::exact;
  return is_count && (a.fact->confidence == "estimate" || b.fact->confidence == "estimate");
}

bool is_recount(Cause cause, const ComparedValue& a, const ComparedValue& b) {
  if (!is_estimate(a, b)) return false;
  // The two may be blamed on different kernels of one code.
  const bool same_code =
      sameness(a.fact->context->code_hash, b.fact->context->code_hash) == Sameness::same;
  return same_code || cause == Cause::input_or_counter;
}

std::vector<std::string> details_of(const ComparedValue& a, const ComparedValue& b) {
  std::vector<std::string> details;
  add_change(details, "toolkit", a.run->toolkit, b.run->toolkit);
  add_change(details, "flags", a.run->flags, b.run->flags);
  const metrics::Device on_a = a.device(), on_b = b.device();
  if (!on_a.name.empty() && !on_b.name.empty()) {
    add_change(details, "driver", on_a.driver, on_b.driver);
    add_change(details, "GPU", on_a.name, on_b.name);
    if (on_a.name == on_b.name) add_change(details, "GPU", a.gpu(), b.gpu());
  }
  add_change(details, "counted by", a.fact->source, b.fact->source);
  for (const auto& [side, value] : {std::pair("A", &a), std::pair("B", &b)}) {
    const metrics::Fact& fact = *value->fact;
    if (!fact.confidence.empty() && fact.confidence != "exact" && !fact.interval) {
      details.push_back(fmt::format("{} only {}", side, fact.confidence));
    }
    if (fact.machine && !fact.machine->disturbance.empty()) {
      details.push_back(fmt::format("{} disturbed: {}", side, fact.machine->disturbance));
    }
  }
  return details;
}

}  // namespace warpgauge::diff
