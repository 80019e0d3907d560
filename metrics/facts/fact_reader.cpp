// Reads files of facts line by line, and attaches each record to its run and its case.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "metrics/base/why_unreadable.h"
#include "metrics/facts/fact.h"
#include "metrics/facts/fact_records.h"

namespace warpgauge::metrics {

using nlohmann::ordered_json;  // a record's values have an order

namespace {

/// Builds the JSON of a line, and throws MalformedFact for a key that occurs twice: the library's
/// own builder would keep the last of several members with one name.
class Builder final : public nlohmann::json_sax<ordered_json> {
 public:
  ordered_json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // a text has no binary values
  bool start_object(std::size_t) override { return open(ordered_json::object()); }
  bool start_array(std::size_t) override { return open(ordered_json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
  bool key(string_t& name) override {
    const auto [member, is_new] =
        open_.back()->get_ref<ordered_json::object_t&>().emplace(name, nullptr);
    if (!is_new) throw MalformedFact(fmt::format("key '{}' occurs twice", member->first));
    value_ = &member->second;
    return true;
  }

 private:
  ordered_json* place(ordered_json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *value_ = std::move(value);
    return value_;
  }
  bool add(ordered_json value) {
    place(std::move(value));
    return true;
  }
  bool open(ordered_json container) {
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  ordered_json root_;
  std::vector<ordered_json*>
      open_;  // objects and arrays, the innermost last; their parents do not grow
  ordered_json* value_ = nullptr;  // the value under the last key
};

/// The JSON of a line; `discarded` if the line is not JSON.
ordered_json parsed(const std::string& line) {
  // The parser would skip a byte order mark, before every line.
  if (line.starts_with("\xEF\xBB\xBF")) return ordered_json(ordered_json::value_t::discarded);
  Builder builder;
  return ordered_json::sax_parse(line, &builder) ? builder.take()
                                                 : ordered_json(ordered_json::value_t::discarded);
}

}  // namespace

FactReader::FactReader(const std::filesystem::path& path, Wanted wanted)
    : path_(path), wanted_(std::move(wanted)) {
  if (const std::string why = why_unreadable(path_); !why.empty()) refuse(why);
  file_.open(path_, std::ios::binary);
  if (!file_) refuse("it cannot be opened");
}

void FactReader::refuse(std::string_view why) const {
  throw FactError(
      fmt::format("{}: cannot be read: {}\n  Give the path of a facts file, such as the "
                  "out/facts.jsonl of a gate.",
                  path_.string(), why));
}

const std::vector<StoredRun>& FactReader::update() {
  file_.clear();
  torn_ = false;
  std::string line;
  for (auto begin = file_.tellg(); std::getline(file_, line); begin = file_.tellg()) {
    if (file_.eof()) {  // no newline: torn by a crash, or still being written
      torn_ = true;
      file_.clear();
      file_.seekg(begin);
      return runs_;
    }
    ++line_;
    if (wanted_ && is_known(line)) continue;
    try {
      read(line);
    } catch (const MalformedFact& error) {
      throw FactError(fmt::format("{}:{}: {}", path_.string(), line_, error.what()));
    }
  }
  if (file_.bad()) refuse("the disk fails");
  file_.clear();
  return runs_;
}

void FactReader::read(const std::string& line) {
  ordered_json object = parsed(line);
  if (!object.is_object()) throw MalformedFact("not a JSON object");
  Members members(std::move(object), "");
  if (members.has("schema") && !members.has("record")) check_schema(members);
  const std::string record = members.text_or_absent("record");
  if (record == "run") return begin(read_run(std::move(members)));
  if (record != "case" && record != "shared" && record != "values" && record != "end") {
    members.fail("record", "must be run, case, shared, values or end");
  }
  if (runs_.empty()) members.fail("record", "must be 'run' before any other");
  StoredRun& run = runs_.at(current_);
  if (run.end) throw MalformedFact("the run has ended above this line");
  if (record == "end") {
    run.end = read_end(std::move(members), run.run.id);
    return;
  }
  if (record == "shared") return keep_shared(members);
  const std::string name = members.text("case");
  auto& cases = named_.at(current_).cases;
  const auto known = cases.find(name);
  if (record == "values") {
    if (known == cases.end()) {
      throw MalformedFact(
          fmt::format("there is no case '{}' above this line, in the same run", name));
    }
    if (!known->second.is_wanted) return;
    if (members.has("shared")) members.add(shared(members.text("shared")));
    std::ranges::move(read_values(std::move(members), known->second.fact),
                      std::back_inserter(run.facts));
  } else if (known == cases.end()) {
    Fact fact = read_case(std::move(members), name);
    const bool is_wanted = !wanted_ || wanted_(fact);
    cases.emplace(name, Described{line, std::move(fact), is_wanted});
  } else if (known->second.line != line) {
    throw MalformedFact(fmt::format("the case '{}' occurs above with other members", name));
  }
}

void FactReader::keep_shared(Members& members) {
  std::string name = members.text("shared");
  check_name(members, "shared", name);
  auto content = std::make_shared<const ordered_json>(std::move(members).rest());
  check_shared(Members(*content, ""));
  const auto [known, is_new] = named_.at(current_).shared.try_emplace(std::move(name), content);
  if (!is_new && *known->second != *content) {
    throw MalformedFact(
        fmt::format("the members shared as '{}' occur above as others", known->first));
  }
}

const ordered_json& FactReader::shared(const std::string& name) const {
  const auto& shared = named_.at(current_).shared;
  const auto known = shared.find(name);
  if (known != shared.end()) return *known->second;
  throw MalformedFact(
      fmt::format("there are no shared members '{}' above this line, in the same run", name));
}

/// True for a record that needs no parsing: a case that was read before, or values of a case that
/// is not wanted. Recognises the form that FactWriter writes.
bool FactReader::is_known(std::string_view line) const {
  constexpr std::string_view kCase = R"({"record":"case","case":")";
  constexpr std::string_view kValues = R"({"record":"values","case":")";
  const bool is_case = line.starts_with(kCase);
  if (runs_.empty() || runs_.at(current_).end || (!is_case && !line.starts_with(kValues))) {
    return false;
  }
  const std::string_view rest = line.substr((is_case ? kCase : kValues).size());
  const auto& cases = named_.at(current_).cases;
  const auto known = cases.find(std::string(rest.substr(0, rest.find('"'))));
  if (known == cases.end()) return false;
  return is_case ? known->second.line == line : !known->second.is_wanted;
}

std::vector<StoredRun> FactReader::read(const Wanted& wanted) {
  file_.clear();
  file_.seekg(0);
  line_ = 0;
  for (StoredRun& run : runs_) run.end.reset();
  for (Named& named : named_) {
    for (auto& [name, described] : named.cases) described.is_wanted = wanted(described.fact);
  }
  wanted_ = wanted;
  update();
  wanted_ = nullptr;
  mark_torn();
  std::vector<StoredRun> result;
  for (StoredRun& run : runs_) {
    result.push_back({.run = run.run, .facts = {}, .end = run.end, .torn = run.torn});
    result.back().facts.swap(run.facts);
  }
  return result;
}

/// A repeated run record continues its run, perhaps with another device.
void FactReader::begin(Run run) {
  const auto same = [&](const StoredRun& known) { return known.run.id == run.id; };
  const auto found = std::ranges::find_if(runs_, same);
  current_ = static_cast<std::size_t>(found - runs_.begin());
  if (found == runs_.end()) {
    runs_.push_back({.run = std::move(run), .facts = {}, .end = {}, .torn = false});
    named_.emplace_back();
    return;
  }
  for (Device& device : run.devices) {
    std::vector<Device>& known = found->run.devices;
    if (std::ranges::find(known, device.name, &Device::name) == known.end()) {
      known.push_back(std::move(device));
    }
  }
}

/// Marks the current run as torn: the torn line may have belonged to it.
void FactReader::mark_torn() {
  if (!torn_ || runs_.empty()) return;
  runs_.at(current_).end.reset();
  runs_.at(current_).torn = true;
}

std::vector<StoredRun> FactReader::runs() && {
  mark_torn();
  return std::move(runs_);
}

std::vector<StoredRun> read_facts(const std::filesystem::path& path) {
  FactReader reader(path);
  reader.update();
  return std::move(reader).runs();
}

}  // namespace warpgauge::metrics
