// Reads waivers key by key, and reports errors at their places.
#include "metrics/budgets/waiver_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "metrics/base/check_rules.h"
#include "metrics/base/nearest.h"
#include "metrics/base/source_line.h"
#include "metrics/budgets/budget_limit.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kWaiverForm =
    R"(Write waive = [{ rule = "race", lines = ["bfs.cu:31", "bfs.cu:35"], reason = "why" }], )"
    "with the rule and all lines of the finding, and until = 2027-01-31 if it is to end.";

/// "cudaMalloc #3"
bool is_allocation(std::string_view text) {
  const std::size_t at = text.rfind(" #");
  if (at == text.npos || at == 0 || at + 2 == text.size()) return false;
  return text.find_first_not_of("0123456789", at + 2) == text.npos;
}

class WaiverReader {
 public:
  explicit WaiverReader(const BudgetText& text) : text_(text) {}

  Waiver read(const toml::node& node) const {
    const toml::table* keys = node.as_table();
    if (keys == nullptr) fail_at(text_, node.source(), "a waiver must be a table", kWaiverForm);
    Waiver waiver;
    for (const Entry& part : in_file_order(*keys)) read_key(part, waiver);
    if (waiver.rule.empty()) fail_at(text_, node.source(), "a waiver needs a 'rule'", kWaiverForm);
    if (waiver.lines.empty() && !find_check_rule(waiver.rule)->is_of_program) {
      fail_at(text_, node.source(), "a waiver needs 'lines'", kWaiverForm);
    }
    if (waiver.reason.empty()) {
      fail_at(text_, node.source(), "a waiver must say why", R"(Add reason = "...".)");
    }
    waiver.origin = fmt::format("{}:{}", text_.path(), node.source().begin.line);
    return waiver;
  }

 private:
  void read_key(const Entry& part, Waiver& waiver) const {
    const std::string_view name = part.first->str();
    if (name == "rule") {
      waiver.rule = rule(part);
    } else if (name == "lines") {
      waiver.lines = lines(*part.second);
    } else if (name == "until") {
      waiver.until = date_of(text_, *part.second);
    } else if (name == "reason") {
      waiver.reason = text_of(text_, part, kWaiverForm);
    } else {
      const std::vector<std::string> names = {"rule", "lines", "until", "reason"};
      fail_at(text_, part.first->source(),
              fmt::format("unknown key '{}'{}", name, did_you_mean(name, names)), kWaiverForm);
    }
  }

  std::string rule(const Entry& part) const {
    std::string rule = text_of(text_, part, kWaiverForm);
    if (find_check_rule(rule) != nullptr) return rule;
    std::vector<std::string> names;
    for (const CheckRule& known : check_rules()) names.emplace_back(known.name);
    fail_at(text_, part.second->source(),
            fmt::format("no check has the rule '{}'{}", rule, did_you_mean(rule, names)),
            fmt::format("There is: {}.", fmt::join(names, "; ")));
  }

  std::vector<std::string> lines(const toml::node& node) const {
    std::vector<std::string> lines;
    const toml::array* array = node.as_array();
    const auto refuse = [&](const toml::node& at) {
      fail_at(text_, at.source(),
              "'lines' must be one or two lines, each as \"file:line\" or, for an allocation, as "
              "\"cudaMalloc #3\"",
              kWaiverForm);
    };
    if (array == nullptr || array->empty() || array->size() > 2) refuse(node);
    for (const toml::node& line : *array) {
      const toml::value<std::string>* text = line.as_string();
      const bool is_named =
          text != nullptr && (line_called(text->get()) || is_allocation(text->get()));
      if (!is_named) refuse(line);
      lines.push_back(text->get());
    }
    return lines;
  }

  const BudgetText& text_;
};

}  // namespace

std::vector<Waiver> read_waivers(const BudgetText& text, const Entry& entry) {
  const toml::array* array = entry.second->as_array();
  if (array == nullptr || array->empty()) {
    fail_at(text, entry.first->source(), "'waive' must be a list of waivers", kWaiverForm);
  }
  std::vector<Waiver> waivers;
  for (const toml::node& node : *array) waivers.push_back(WaiverReader(text).read(node));
  return waivers;
}

}  // namespace warpgauge::metrics
