// Words the errors of a budget file: shows the line, and points at the column.
#include "metrics/budgets/budget_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/base/utf8.h"
#include "metrics/budgets/budget.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view line_of(std::string_view text, std::size_t line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// The line around `column` as it can be printed ('?' for bytes that are no character), and a line
/// that is blank up to the character at `column` and has a caret there. Tabs stay tabs, so that
/// both line up.
std::string quote(std::string_view line, std::size_t column) {
  constexpr std::size_t kAround = 100;  // characters to each side
  std::string shown, caret;
  for (std::size_t character = 1; !line.empty() && character <= column + kAround; ++character) {
    const std::size_t length = utf8_character(line).bytes;
    if (character + kAround < column) {
      line.remove_prefix(std::max<std::size_t>(length, 1));
      continue;
    }
    shown += length == 0 ? "?" : line.substr(0, length);
    if (character < column) caret += line.front() == '\t' ? '\t' : ' ';
    line.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return fmt::format("  {}\n  {}^", shown, caret);
}

}  // namespace

BudgetText::BudgetText(std::string_view text, std::string_view path) : text_(text), path_(path) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
}

void BudgetText::fail(std::size_t line, std::size_t column, std::string_view problem,
                      std::string_view remedy) const {
  constexpr std::size_t kLongest = 400;  // a name in it may be as long as the file
  const std::string_view more = problem.size() > kLongest ? "..." : "";
  throw BudgetError(fmt::format("{}:{}:{}: {}{}\n{}\n  {}", path_, line, column,
                                problem.substr(0, kLongest), more,
                                quote(line_of(text_, line), column), remedy));
}

}  // namespace warpgauge::metrics
