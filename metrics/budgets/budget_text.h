// The text of a budget file and errors that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// A text with its path. Lines and columns count from 1, columns in characters (not bytes).
class BudgetText {
 public:
  /// A UTF-8 byte order mark at the start of `text` is left out.
  BudgetText(std::string_view text, std::string_view path);

  std::string_view text() const { return text_; }
  const std::string& path() const { return path_; }

  /// Throws BudgetError: path:line:column: problem, the line, a caret, what to do.
  [[noreturn]] void fail(std::size_t line, std::size_t column, std::string_view problem,
                         std::string_view remedy) const;

 private:
  std::string_view text_;
  std::string path_;
};

}  // namespace warpgauge::metrics
