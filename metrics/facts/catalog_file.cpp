// Reads the table of metrics: rows, their words and formulas, and the row of other counters.
#include "metrics/facts/catalog_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "metrics/base/in_file_order.h"
#include "metrics/base/nearest.h"
#include "metrics/base/toml.h"
#include "metrics/facts/catalog_text.h"
#include "metrics/facts/catalog_words.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kPath = "metrics/facts/catalog.toml";
constexpr std::string_view kAnyCounter = "counter.*";

TextPlace place_of(std::string_view path, const toml::source_region& region) {
  return {std::string(path), region.begin.line, region.begin.column};
}

/// The columns of a row, each asked for once.
class Row {
 public:
  /// `texts` keeps what the row's texts point into.
  Row(std::string_view path, const Entry& entry, std::deque<std::string>& texts)
      : path_(path), key_(*entry.first), texts_(texts) {
    if (const toml::table* table = entry.second->as_table()) {
      columns_ = in_file_order(*table);
    } else {
      fail(key_.source(), fmt::format("'{}' is not a table", key_.str()));
    }
  }

  std::string_view id() { return kept(std::string(key_.str())); }

  /// Line breaks are blanks. Empty where there is no such column.
  std::string_view text_or_nothing(std::string_view column) {
    const toml::node* node = take(column);
    if (node == nullptr) return "";
    std::string text = text_of(column, *node);
    std::ranges::replace(text, '\n', ' ');
    return kept(std::move(text));
  }

  std::string_view text(std::string_view column) {
    const std::string_view text = text_or_nothing(column);
    if (text.empty()) fail(key_.source(), fmt::format("'{}' has no '{}'", key_.str(), column));
    return text;
  }

  template <typename Value>
  Value word(std::string_view column, std::span<const Word<Value>> words,
             std::optional<Value> otherwise = std::nullopt) {
    const toml::node* node = take(column);
    if (node == nullptr && otherwise) return *otherwise;
    if (node == nullptr) fail(key_.source(), fmt::format("'{}' has no '{}'", key_.str(), column));
    const std::string text = text_of(column, *node);
    const auto found = std::ranges::find(words, text, &Word<Value>::first);
    if (found != words.end()) return found->second;
    std::vector<std::string> known;
    for (const Word<Value>& word : words) known.emplace_back(word.first);
    fail(node->source(),
         fmt::format("'{}' has the unknown word '{}'{}", column, text, did_you_mean(text, known)));
  }

  std::vector<std::string_view> texts(std::string_view column) {
    const toml::node* node = take(column);
    if (node == nullptr) return {};
    const toml::array* array = node->as_array();
    if (array == nullptr) fail(node->source(), fmt::format("'{}' must be a list", column));
    std::vector<std::string_view> texts;
    for (const toml::node& element : *array) texts.push_back(kept(text_of(column, element)));
    return texts;
  }

  Formula formula() {
    const toml::node* node = take("formula");
    if (node == nullptr) return {};
    const std::string text = text_of("formula", *node);
    TextPlace place = place_of(path_, node->source());
    ++place.column;  // behind the quote
    return Formula(text, std::move(place));
  }

  /// The names of `formula`, which are counters of CUPTI.
  std::vector<std::string_view> counters(const Formula& formula) {
    std::vector<std::string_view> names;
    for (const Formula::Name& name : formula.names()) {
      if (name.text.find("__") == std::string::npos) {
        formula.refuse(name.offset, fmt::format("'{}' is no counter of CUPTI", name.text));
      }
      names.push_back(kept(name.text));
    }
    return names;
  }

  bool has(std::string_view column) { return take(column) != nullptr; }

  std::size_t number(std::string_view column) {
    const toml::node* node = take(column);
    if (node == nullptr || !node->is_integer()) {
      fail(key_.source(), fmt::format("'{}' needs the number '{}'", key_.str(), column));
    }
    return static_cast<std::size_t>(node->as_integer()->get());
  }

  std::vector<std::pair<std::string_view, std::string_view>> pairs(std::string_view column) {
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    const toml::node* node = take(column);
    if (node == nullptr || !node->is_array()) {
      fail(key_.source(), fmt::format("'{}' needs the list '{}'", key_.str(), column));
    }
    for (const toml::node& element : *node->as_array()) {
      const toml::array* pair = element.as_array();
      if (pair == nullptr || pair->size() != 2) {
        fail(element.source(), fmt::format("'{}' must be of pairs", column));
      }
      pairs.emplace_back(kept(text_of(column, (*pair)[0])), kept(text_of(column, (*pair)[1])));
    }
    return pairs;
  }

  /// After all columns were asked for.
  void refuse_others() const {
    for (const auto& [key, node] : columns_) {
      if (std::ranges::find(asked_, key->str()) != asked_.end()) continue;
      fail(key->source(),
           fmt::format("unknown column '{}'{}", key->str(), did_you_mean(key->str(), asked_)));
    }
  }

  /// Points at the value of the column, or at the row where it has none.
  [[noreturn]] void fail_in(std::string_view column, std::string_view problem) const {
    const toml::node* node = find(column);
    fail(node == nullptr ? key_.source() : node->source(), problem);
  }

 private:
  const toml::node* find(std::string_view column) const {
    const auto found = std::ranges::find_if(
        columns_, [&](const Entry& entry) { return entry.first->str() == column; });
    return found == columns_.end() ? nullptr : found->second;
  }

  const toml::node* take(std::string_view column) {
    asked_.emplace_back(column);
    return find(column);
  }

  std::string text_of(std::string_view column, const toml::node& node) const {
    const toml::value<std::string>* text = node.as_string();
    if (text == nullptr) fail(node.source(), fmt::format("'{}' must be a text", column));
    return text->get();
  }

  [[noreturn]] void fail(const toml::source_region& at, std::string_view problem) const {
    throw CatalogError(place_of(path_, at), problem);
  }

  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::string_view path_;
  const toml::key& key_;
  std::deque<std::string>& texts_;
  std::vector<Entry> columns_;
  std::vector<std::string> asked_;
};

/// The columns that all rows have.
Metric described(Row& row) {
  Metric metric;
  metric.direction = row.word<Direction>("direction", kDirections);
  metric.cls = row.word<Class>("class", kClasses);
  metric.source = row.word<Source>("source", kSources);
  metric.meaning = row.text("meaning");
  metric.good = row.text("good");
  metric.cure = row.text("cure");
  return metric;
}

Metric read_metric(Row& row) {
  Metric metric = described(row);
  metric.id = row.id();
  metric.unit = row.text("unit");
  metric.cost = row.word<Cost>("cost", kCosts, Cost::direct);
  metric.formula = row.formula();
  metric.is_of_line = row.word<bool>("scope", kScopes, false);
  metric.cupti_names = row.texts("cupti_names");
  metric.ideal = row.text_or_nothing("ideal");
  metric.nsight_names = row.texts("nsight_names");
  if (row.has("built_in")) {
    metric.built_in = static_cast<double>(row.number("built_in"));
    metric.why_built_in = row.text("why_built_in");
  }
  row.refuse_others();

  const Source source = metric.source;
  const bool is_computed =
      source == Source::sass || source == Source::range || source == Source::emulator;
  if (is_computed == metric.formula.text().empty()) {
    row.fail_in("formula", fmt::format("'{}' {} a formula, being of '{}'", metric.id,
                                       is_computed ? "needs" : "cannot have", to_string(source)));
  }
  if ((source == Source::sass) == metric.cupti_names.empty()) {
    row.fail_in("cupti_names",
                fmt::format("'{}' {} cupti_names, being of '{}'", metric.id,
                            source == Source::sass ? "needs" : "cannot have", to_string(source)));
  }
  if (source == Source::range) metric.cupti_names = row.counters(metric.formula);
  return metric;
}

CounterForm read_counter(Row row) {
  CounterForm counter = {.pattern = row.text("pattern"),
                         .longest = row.number("longest"),
                         .units = row.pairs("units"),
                         .row = described(row)};
  row.refuse_others();
  if (counter.units.empty() || !counter.units.back().first.empty()) {
    row.fail_in("units", "the last unit must be that of all other names: [\"\", UNIT]");
  }
  return counter;
}

toml::table parsed(std::string_view text, std::string_view path) {
  try {
    return parse_toml(text);
  } catch (const TomlError& error) {
    throw CatalogError({std::string(path), error.line(), error.column()}, error.what());
  }
}

}  // namespace

Catalog parse_catalog(std::string_view text, std::string_view path) {
  const toml::table table = parsed(text, path);
  Catalog catalog;
  std::vector<Row> rows;
  for (const Entry& entry : in_file_order(table)) {
    if (entry.first->str() == kAnyCounter) {
      catalog.counter = read_counter(Row(path, entry, catalog.texts));
    } else {
      catalog.metrics.push_back(read_metric(rows.emplace_back(path, entry, catalog.texts)));
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view ideal = catalog.metrics[i].ideal;
    if (ideal.empty() ||
        std::ranges::find(catalog.metrics, ideal, &Metric::id) != catalog.metrics.end()) {
      continue;
    }
    rows[i].fail_in("ideal", fmt::format("there is no metric '{}'", ideal));
  }
  return catalog;
}

const Catalog& built_in_catalog() {
  // It outlives every static object that may ask for it.
  static const Catalog& catalog = *new Catalog(parse_catalog(catalog_text(), kPath));
  return catalog;
}

}  // namespace warpgauge::metrics
