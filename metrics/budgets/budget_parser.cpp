// Reads budget files: sections, tables of architectures, and the metrics in them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "metrics/architecture/arch_name.h"
#include "metrics/architecture/architectures.h"
#include "metrics/base/nearest.h"
#include "metrics/budgets/budget.h"
#include "metrics/budgets/budget_limit.h"
#include "metrics/budgets/budget_text.h"
#include "metrics/budgets/waiver_reader.h"
#include "metrics/cupti/cupti.h"
#include "metrics/facts/confidence.h"
#include "metrics/facts/counter_row.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kSectionForm =
    R"(Sections are [default], ["variant"], ["variant.type"] and ["variant.type@size"].)";
constexpr std::string_view kProjectForm =
    R"(Sections of a project's file are [default] and ["family"].)";
constexpr std::string_view kTomlForm =
    "The file must be UTF-8 and TOML; names with dots need quotes.";
constexpr std::string_view kCounterForm =
    R"(Write "counter.NAME.ROLLUP" as in "counter.sm__inst_executed.sum"; )"
    "`warpgauge metrics --chip CHIP --search WORD` lists them.";
constexpr std::string_view kGateOn = "gate_on";
constexpr std::string_view kGateOnForm =
    R"(The file may begin with gate_on = "exact" (the default), "predicted" or )"
    R"("estimate": the least sure values that are judged.)";
constexpr std::string_view kArchForm = "An architecture is written as sm_75, sm_90a or sm_100f.";

/// Refuses what would nest too deep: each dot can open a table in a table, and toml++ reads and
/// frees those recursively.
void refuse_depth(const BudgetText& text) {
  constexpr std::size_t kMostDots = 100;
  std::size_t line = 1, dots = 0;
  for (const char c : text.text()) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDots) {
      text.fail(line, 1, fmt::format("more than {} dots in a line", kMostDots), kSectionForm);
    }
  }
}

toml::table parsed(const BudgetText& text) {
  refuse_depth(text);
  try {
    return parse_toml(text.text());
  } catch (const TomlError& error) {
    text.fail(error.line(), error.column(), error.what(), kTomlForm);
  }
}

/// The names that sections for `cases` may have.
std::set<std::string> section_names(std::span<const CaseId> cases) {
  std::set<std::string> names = {"default"};
  for (const CaseId& id : cases) {
    names.insert({id.variant, id.variant_type(), id.variant_type() + "@" + id.size});
  }
  return names;
}

bool meant_as_arch(std::string_view name) {
  return name.starts_with("sm") || name.starts_with("SM") || name.starts_with("compute_");
}

Confidence read_gate_on(const BudgetText& text, const toml::node& node) {
  const toml::value<std::string>* word = node.as_string();
  if (!word) fail_at(text, node.source(), "'gate_on' must be a word", kGateOnForm);
  const std::optional<Confidence> confidence = confidence_from(word->get());
  if (confidence) return *confidence;
  const std::vector<std::string> words = {"exact", "predicted", "estimate"};
  fail_at(text, node.source(),
          fmt::format("'gate_on' has the unknown word '{}'{}", word->get(),
                      did_you_mean(word->get(), words)),
          kGateOnForm);
}

/// Reads the sections of one file.
class SectionReader {
 public:
  /// `cases` nullptr: a section may have any name, but in a file of a `project` only that of a
  /// family.
  SectionReader(const BudgetText& text, const std::span<const CaseId>* cases, bool project,
                Budgets::Sections& sections)
      : text_(text),
        any_(cases == nullptr),
        project_(project),
        cases_(any_ ? std::span<const CaseId>() : *cases),
        names_(any_ ? std::set<std::string>() : section_names(cases_)),
        sections_(sections) {}

  void read(const Entry& entry) {
    const auto& [key, node] = entry;
    const std::string name(key->str());
    if (!node->is_table()) {
      const std::vector<std::string> options = {std::string(kGateOn)};
      const std::string meant = did_you_mean(name, options);
      fail_at(text_, key->source(), fmt::format("'{}' is outside of a section{}", name, meant),
              !meant.empty() ? kGateOnForm
              : project_     ? kProjectForm
                             : kSectionForm);
    }
    if (project_ && name.find_first_of(".@*/") != std::string::npos) {
      fail_at(text_, key->source(), fmt::format("'{}' is not a family", name), kProjectForm);
    }
    if (!any_ && !names_.contains(name)) fail_unknown_section(*key);
    sections_[name];  // there, even if it sets no limit
    for (const Entry& part : in_file_order(*node->as_table())) {
      if (meant_as_arch(part.first->str())) {
        read_arch(name, part);
      } else {
        read_line(name, part, name);
      }
    }
  }

 private:
  void read_arch(const std::string& section, const Entry& entry) {
    const auto& [key, node] = entry;
    if (!ArchName::parse(key->str()) || !node->is_table()) {
      fail_at(text_, key->source(),
              fmt::format("'{}' is not a table of an architecture", key->str()), kArchForm);
    }
    if (find_architecture(key->str()) == nullptr) {
      fail_at(
          text_, key->source(),
          fmt::format("unknown architecture '{}'{}", key->str(), meant_architecture(key->str())),
          fmt::format("There is: {}.", known_architectures()));
    }
    for (const Entry& part : in_file_order(*node->as_table())) {
      read_line(section, part, fmt::format("{}/{}", section, key->str()));
    }
  }

  void read_line(const std::string& section, const Entry& entry, const std::string& target) {
    if (entry.first->str() == "waive") {
      sections_[target].waivers = read_waivers(text_, entry);
    } else {
      read_metric(section, entry, target);
    }
  }

  void read_metric(const std::string& section, const Entry& entry, const std::string& target) {
    const std::string_view name = entry.first->str();
    const Metric* metric = find_metric(name);
    if (!metric) fail_unknown_metric(section, entry);
    if (is_counter(*metric)) {
      if (const std::string why = unknown_counter(metric->cupti_names[0]); !why.empty()) {
        fail_at(text_, entry.first->source(), why, kCounterForm);
      }
    }
    Limit limit = read_limit(text_, *metric, entry);
    if (!limit.of.empty() && limit.of != kIdeal) check_ratio(section, entry, limit.of);
    sections_[target].limits.emplace(name, std::move(limit));
  }

  /// Checks that every case which the section is for has the other one at its size, and is run
  /// after it.
  void check_ratio(const std::string& section, const Entry& entry, const std::string& of) {
    const toml::source_region& at = entry.second->as_table()->get("of")->source();
    if (project_) {
      fail_at(text_, at, fmt::format("'{}' is a case of one family", of),
              "Write of = \"ideal\" here, or the line in the family's file.");
    }
    if (any_) return;
    std::set<std::string> types;
    for (const CaseId& id : cases_) types.insert(id.variant_type());
    if (!types.contains(of)) {
      types.emplace(kIdeal);
      const std::vector<std::string> names(types.begin(), types.end());
      fail_at(text_, at, fmt::format("there is no case '{}'{}", of, did_you_mean(of, names)),
              fmt::format("There is: {}.", fmt::join(names, ", ")));
    }
    bool holds = false;
    for (const CaseId& id : cases_) {
      const std::string type = id.variant_type();
      const std::string whole = type + "@" + id.size;
      const bool is_for =
          section == "default" || section == id.variant || section == type || section == whole;
      if (!is_for || type == of) continue;
      holds = true;
      if (!names_.contains(of + "@" + id.size)) {
        fail_at(text_, at, fmt::format("'{}' has no size {}, and '{}' has", of, id.size, type),
                "Register it at this size, or write the line in sections of single sizes.");
      }
      if (is_after(of, type)) {
        fail_at(text_, at, fmt::format("'{}' and '{}' are multiples of each other", of, type),
                "Give one of them a limit that is a number.");
      }
      ratios_[type].insert(of);
    }
    if (!holds) {
      fail_at(text_, at, fmt::format("'{}' would be a multiple of itself", of),
              "Name another case, or write the limit as a number.");
    }
  }

  /// Whether limits of `type` are multiples of `other`, or of cases whose limits are.
  bool is_after(const std::string& type, const std::string& other) const {
    const auto direct = ratios_.find(type);
    return direct != ratios_.end() &&
           std::ranges::any_of(direct->second, [&](const std::string& next) {
             return next == other || is_after(next, other);
           });
  }

  [[noreturn]] void fail_unknown_metric(const std::string& section, const Entry& entry) const {
    const std::string_view name = entry.first->str();
    if (name == kGateOn) {
      fail_at(text_, entry.first->source(), "'gate_on' is inside a section", kGateOnForm);
    }
    if (name.starts_with(kCounterPrefix)) {
      fail_at(text_, entry.first->source(), fmt::format("'{}' is not the name of a counter", name),
              kCounterForm);
    }
    if (entry.second->is_table()) fail_unquoted(section, entry);
    std::vector<std::string> ids;
    for (const Metric& row : catalog()) ids.emplace_back(row.id);
    fail_at(text_, entry.first->source(),
            fmt::format("unknown metric '{}'{}", name, did_you_mean(name, ids)),
            "`warpgauge metrics` lists them; names with dots need quotes.");
  }

  /// Returns if `entry` does not look like a name whose quotes were forgotten.
  void fail_unquoted(const std::string& section, const Entry& entry) const {
    const std::string_view name = entry.first->str();
    const std::string whole = fmt::format("{}.{}", section, name);
    if (names_.contains(whole)) {
      fail_at(text_, entry.first->source(), "the name of this section has a dot and no quotes",
              fmt::format("Write [\"{}\"].", whole));
    }
    const std::string prefix = fmt::format("{}.", name);
    const auto metric = std::ranges::find_if(
        catalog(), [&](const Metric& row) { return row.id.starts_with(prefix); });
    if (metric != catalog().end()) {
      fail_at(text_, entry.first->source(), "the name of this metric has a dot and no quotes",
              fmt::format("Write it as in \"{}\" = 0.", metric->id));
    }
  }

  [[noreturn]] void fail_unknown_section(const toml::key& key) const {
    const std::vector<std::string> names(names_.begin(), names_.end());
    fail_at(
        text_, key.source(),
        fmt::format("no case matches section '{}'{}", key.str(), did_you_mean(key.str(), names)),
        fmt::format("There is: {}. If the source has it since the last build, build again.",
                    fmt::join(choices(key.str()), ", ")));
  }

  /// The names there are at the level at which `name` goes wrong: sizes, types or variants.
  std::vector<std::string> choices(std::string_view name) const {
    const std::string type(name.substr(0, name.find('@')));
    const std::string variant = type.substr(0, type.find('.'));
    if (type != variant && names_.contains(type)) return names_with(type + "@", "");
    if (variant != "default" && names_.contains(variant)) return names_with(variant + ".", "@");
    return names_with("", ".@");
  }

  /// The names that start with `prefix` and have none of `excluded` after it.
  std::vector<std::string> names_with(std::string_view prefix, std::string_view excluded) const {
    std::vector<std::string> found;
    std::ranges::copy_if(names_, std::back_inserter(found), [&](std::string_view name) {
      return name.starts_with(prefix) &&
             name.find_first_of(excluded, prefix.size()) == std::string_view::npos;
    });
    return found;
  }

  const BudgetText& text_;
  const bool any_;
  const bool project_;
  const std::span<const CaseId> cases_;
  const std::set<std::string> names_;
  std::map<std::string, std::set<std::string>> ratios_;  // the cases that those of a type are of
  Budgets::Sections& sections_;
};

}  // namespace

Budgets Budgets::read(std::string_view text, std::string_view path,
                      const std::span<const CaseId>* cases, bool project) {
  const BudgetText source(text, path);
  const toml::table file = parsed(source);
  Budgets budgets;
  SectionReader reader(source, cases, project, budgets.sections_);
  for (const Entry& entry : in_file_order(file)) {
    const auto& [key, node] = entry;
    if (key->str() == kGateOn && !node->is_table()) {
      budgets.gate_on_ = read_gate_on(source, *node);
    } else {
      reader.read(entry);
    }
  }
  return budgets;
}

}  // namespace warpgauge::metrics
