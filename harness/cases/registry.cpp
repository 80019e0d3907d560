// Collects announced families, and checks names and selections.
#include "harness/cases/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <list>
#include <stdexcept>

#include "harness/cases/gpu_only.h"
#include "harness/process/fork_guard.h"
#include "harness/process/program_name.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/base/blank.h"
#include "metrics/base/nearest.h"
#include "warpgauge/problem.h"
#include "warpgauge/registration.h"

namespace warpgauge {

struct VariantSet {
  std::string family;       ///< the first part of the id, "transpose"
  std::string type;         ///< the third, "f32"
  std::vector<Size> sizes;  ///< each variant has a case for each size
  std::string yardstick;    ///< variant that their times are compared with; empty: none
  std::string gpu_only;     ///< why they need a GPU; empty: they do not
  std::string needs;        ///< the architecture that they need, "sm_90"; empty: none
  std::optional<SizeRange> other_sizes;  ///< sizes that their problem may have, beside its own
};

namespace {

const VariantSet& kept(VariantSet set) {
  static std::list<VariantSet> sets;
  return sets.emplace_back(std::move(set));
}

std::string str(Text text) { return {text.data(), text.size()}; }

constexpr std::string_view kNoKernels =
    "this program has no kernels: call the program of a gauge, build/NAME where "
    "warpgauge_add_kernels(NAME ...) in your CMakeLists.txt makes one (see docs/first-kernel.md)";

/// Letters, digits and '_' are safe for every consumer of an id (filters, files, XML).
void check_name(std::string_view what, std::string_view name, const Case& where) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, is_word)) return;
  throw std::invalid_argument(
      fmt::format("{}:{}: {} '{}' may only have letters, digits and '_'; rename it", where.file,
                  where.line, what, name));
}

/// Throws for a glob that matches no case of this program or of the one for GPUs: a misspelt glob
/// would select or exclude too little.
void need_matches(std::string_view option, const std::vector<std::string>& globs,
                  const std::vector<Case>& cases) {
  for (const std::string& glob : globs) {
    const Selection of_glob{.filter = {glob}, .large = true};
    const auto fits = [&](const Case& test_case) { return of_glob.takes(test_case.id.str()); };
    if (std::ranges::any_of(cases, fits) || !gpu_only_cases(of_glob).empty()) continue;
    std::vector<std::string> ids;
    for (const Case& test_case : cases) ids.push_back(test_case.id.str());
    throw std::invalid_argument(
        fmt::format("{} '{}' {} no case{}; `{} list --large` shows all", option, glob,
                    option == "--filter" ? "selects" : "matches", metrics::did_you_mean(glob, ids),
                    process::gauge_name()));
  }
}

}  // namespace

Case Case::at(const Size& other) const {
  Case same = *this;
  same.size = other;
  same.id.size = other.str();
  return same;
}

Announcement::Announcement(const char* family, void (*register_it)(const Family&))
    : family_(family), register_it_(register_it), next_(first_) {
  first_ = this;
}

void Announcement::register_all() {
  while (first_ != nullptr) {
    const Announcement& next = *first_;
    first_ = next.next_;  // off the list first: registering asks for the registry again
    process::with_fork_guard(fmt::format("the registration of the family {}", next.family_),
                             [&] { next.register_it_(Family(next.family_)); });
    const auto is_of_it = [&](const Case& test_case) {
      return test_case.id.family == next.family_;
    };
    if (std::ranges::none_of(Registry::instance().cases(), is_of_it)) {
      throw std::invalid_argument(fmt::format(
          "family '{}' has no case: give it a variant, or take WARPGAUGE_FAMILY({}) out",
          next.family_, next.family_));
    }
  }
}

Registry& Registry::instance() {
  static Registry registry;
  Announcement::register_all();
  return registry;
}

void Registry::add(Case new_case) {
  const auto& id = new_case.id;
  check_name("family", id.family, new_case);
  check_name("variant", id.variant, new_case);
  check_name("type", id.type, new_case);
  check_name("size", id.size, new_case);
  for (const Case& other : cases_) {
    if (other.id == id) {
      throw std::invalid_argument(fmt::format("{}:{}: {} is registered already, at {}:{}",
                                              new_case.file, new_case.line, id.str(), other.file,
                                              other.line));
    }
  }
  // Families stay together in any order of linking.
  const auto after_family = std::ranges::upper_bound(
      cases_, id.family, {}, [](const Case& other) { return other.id.family; });
  cases_.insert(after_family, std::move(new_case));
}

const Case& Registry::at(std::string_view id) const {
  if (cases_.empty()) throw std::invalid_argument(std::string(kNoKernels));
  std::vector<std::string> ids;
  for (const Case& test_case : cases_) {
    ids.push_back(test_case.id.str());
    if (ids.back() == id) return test_case;
  }
  if (!gpu_only_cases({.filter = {std::string(id)}, .large = true}).empty()) {
    throw std::invalid_argument(fmt::format("{} calls a library, which needs a GPU", id));
  }
  throw std::invalid_argument(fmt::format("no case is called '{}'{}; `{} list` shows all", id,
                                          metrics::did_you_mean(id, ids), process::gauge_name()));
}

Cases Registry::select(const Selection& selection) const {
  if (cases_.empty()) throw std::invalid_argument(std::string(kNoKernels));
  need_matches("--filter", selection.filter, cases_);
  need_matches("--exclude", selection.exclude, cases_);
  Cases selected;
  std::size_t large = 0;
  for (const Case& test_case : cases_) {
    if (!selection.takes(test_case.id.str())) continue;
    if (test_case.large && !selection.large) {
      ++large;
    } else {
      selected.push_back(&test_case);
    }
  }
  if (!selected.empty()) return selected;
  const std::string filter = fmt::format("--filter '{}'", fmt::join(selection.filter, ","));
  if (large > 0) {
    throw std::invalid_argument(
        fmt::format("{} selects no case; it selects {} large ones with --large", filter, large));
  }
  if (const std::size_t excluded = count_excluded(selection); excluded > 0) {
    throw std::invalid_argument(
        fmt::format("--exclude '{}' leaves none of {} cases; take out a glob",
                    fmt::join(selection.exclude, ","), excluded));
  }
  throw std::invalid_argument(fmt::format(
      "{} selects only cases that need a GPU ({}); `{}-emulated list --large` shows what "
      "the emulator has",
      filter, gpu_only_cases(selection).size(), process::gauge_name()));
}

std::size_t Registry::count_excluded(const Selection& selection) const {
  return static_cast<std::size_t>(std::ranges::count_if(cases_, [&](const Case& test_case) {
    const std::string id = test_case.id.str();
    return (selection.large || !test_case.large) && selection.is_filtered_in(id) &&
           selection.is_excluded(id);
  }));
}

std::vector<std::string> Registry::left_out(const Selection& selection) const {
  const std::size_t excluded = count_excluded(selection);
  if (excluded == 0) return {};
  return {fmt::format("cases left out by --exclude: {}", excluded)};
}

const Case* Registry::yardstick_of(const Case& test_case) const {
  metrics::CaseId id = test_case.id;
  id.variant = test_case.yardstick;
  const auto found = std::ranges::find(cases_, id, &Case::id);
  return found == cases_.end() ? nullptr : &*found;
}

Text::Text(const char* text) : Text(std::string_view(text)) {}

const VariantSet& variant_set(Text family, Text type, std::vector<Size> sizes) {
  return kept({.family = str(family),
               .type = str(type),
               .sizes = std::move(sizes),
               .yardstick = {},
               .gpu_only = {},
               .needs = {},
               .other_sizes = {}});
}

const VariantSet& relative_to(Text yardstick, const VariantSet& set) {
  VariantSet same = set;
  same.yardstick = str(yardstick);
  return kept(std::move(same));
}

const VariantSet& gpu_only(Text reason, const VariantSet& set, const std::source_location& where) {
  VariantSet same = set;
  same.gpu_only = str(reason);
  if (!metrics::is_blank(same.gpu_only)) return kept(std::move(same));
  throw std::invalid_argument(
      fmt::format("{}:{}: gpu_only() has no reason; say why the emulator "
                  "cannot run the variants, as in gpu_only(\"uses tcgen05\")",
                  where.file_name(), where.line()));
}

const VariantSet& needs(Text arch, const VariantSet& set, const std::source_location& where) {
  VariantSet same = set;
  same.needs = str(arch);
  if (metrics::ArchName::parse(same.needs)) return kept(std::move(same));
  throw std::invalid_argument(fmt::format(
      "{}:{}: needs(\"{}\") names no architecture; say which is the first that has the variants, "
      "as in needs(\"sm_90\")",
      where.file_name(), where.line(), same.needs));
}

const VariantSet& sizes_between(const Size& lowest, const Size& highest, const Size& multiples_of,
                                const VariantSet& set, const std::source_location& where) {
  const bool is_each = multiples_of.extents().empty();
  const Size each(std::vector<std::int64_t>(lowest.extents().size(), 1));
  SizeRange range{lowest, highest, is_each ? each : multiples_of};
  std::string wrong = why_no_range(range);
  if (wrong.empty()) {
    const auto is_outside = [&](const Size& size) { return !range.has(size); };
    const auto outside = std::ranges::find_if(set.sizes, is_outside);
    if (outside != set.sizes.end()) wrong = fmt::format("leaves out the size {}", outside->str());
  }
  if (!wrong.empty()) {
    throw std::invalid_argument(
        fmt::format("{}:{}: sizes_between() {}; give it the lowest and the highest extents, as in "
                    "sizes_between({{1, 1}}, {{4096, 4096}}), with all registered sizes among them",
                    where.file_name(), where.line(), wrong));
  }
  VariantSet same = set;
  same.other_sizes = std::move(range);
  return kept(std::move(same));
}

void register_variant(const VariantSet& set, Text variant, const Recipe* recipe, bool counted,
                      const std::source_location& where) {
  const std::string name = str(variant);
  const std::shared_ptr<const Recipe> shared(recipe);
  if (set.sizes.empty()) {
    throw std::invalid_argument(
        fmt::format("{}:{}: {}.{}.{} has no size, so no case of it would run; give its problem one",
                    where.file_name(), where.line(), set.family, name, set.type));
  }
  for (const Size& size : set.sizes) {
    Registry::instance().add(
        {.id = {set.family, name, set.type, size.str()},
         .file = where.file_name(),
         .line = static_cast<int>(where.line()),
         .make_problem =
             [shared](const Size& made) { return std::unique_ptr<Problem>(shared->make(made)); },
         .launch = [shared](Problem& problem) { shared->launch(problem); },
         .size = size,
         .other_sizes = set.other_sizes,
         .large = size.is_large(),
         .counted = counted,
         .gpu_only = set.gpu_only,
         .needs = set.needs,
         .yardstick = set.yardstick == name ? "" : set.yardstick});
  }
}

}  // namespace warpgauge
