// Reads files of facts: which record belongs where.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "metrics/fact.h"
#include "metrics/fact_records.h"

namespace warpgauge::metrics {

using json = nlohmann::ordered_json;  // a record's values have an order

namespace {

/// The JSON of a line. The parser alone would keep the last of several members with one name.
json parsed(const std::string& line) {
  // The parser would skip a byte order mark, before every line.
  if (line.starts_with("\xEF\xBB\xBF")) return json(json::value_t::discarded);
  std::vector<std::vector<std::string>> keys;  // of each object that is open
  const auto refuse_twice = [&](int, json::parse_event_t event, json& part) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event != json::parse_event_t::key) return true;
    const std::string& key = part.get_ref<const std::string&>();
    if (std::ranges::find(keys.back(), key) != keys.back().end()) {
      throw MalformedFact(fmt::format("key '{}' occurs twice", key));
    }
    keys.back().push_back(key);
    return true;
  };
  return json::parse(line, refuse_twice, false);
}

}  // namespace

FactReader::FactReader(const std::filesystem::path& path, Wanted wanted)
    : path_(path), wanted_(std::move(wanted)) {
  errno = 0;
  file_.open(path_, std::ios::binary);
  if (!file_) refuse();
}

void FactReader::refuse() const {
  throw FactError(fmt::format("{}: cannot be read: {}", path_.string(),
                              std::generic_category().message(errno)));
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
  if (file_.bad()) refuse();  // such as a folder
  file_.clear();
  return runs_;
}

void FactReader::read(const std::string& line) {
  json object = parsed(line);
  if (!object.is_object()) throw MalformedFact("not a JSON object");
  Members members(std::move(object), "");
  if (members.has("schema") && !members.has("record")) check_schema(members);
  const std::string record = members.text_or_absent("record");
  if (record == "run") return begin(read_run(std::move(members)));
  if (record != "case" && record != "values" && record != "end") {
    members.fail("record", "must be run, case, values or end");
  }
  if (runs_.empty()) members.fail("record", "must be 'run' before any other");
  StoredRun& run = runs_.at(current_);
  if (run.end) throw MalformedFact("the run has ended above this line");
  if (record == "end") {
    run.end = read_end(std::move(members), run.run.id);
    return;
  }
  const std::string name = members.text("case");
  auto& cases = cases_.at(current_);
  const auto known = cases.find(name);
  if (record == "values") {
    if (known == cases.end()) {
      throw MalformedFact(
          fmt::format("there is no case '{}' above this line, in the same run", name));
    }
    if (!known->second.is_wanted) return;
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

/// True for a record that needs no parsing, in the form that FactWriter gives it: a case that was
/// read before, and values of one that is not wanted.
bool FactReader::is_known(std::string_view line) const {
  constexpr std::string_view kCase = R"({"record":"case","case":")";
  constexpr std::string_view kValues = R"({"record":"values","case":")";
  const bool is_case = line.starts_with(kCase);
  if (runs_.empty() || runs_.at(current_).end || (!is_case && !line.starts_with(kValues))) {
    return false;
  }
  const std::string_view rest = line.substr((is_case ? kCase : kValues).size());
  const auto& cases = cases_.at(current_);
  const auto known = cases.find(std::string(rest.substr(0, rest.find('"'))));
  if (known == cases.end()) return false;
  return is_case ? known->second.line == line : !known->second.is_wanted;
}

std::vector<StoredRun> FactReader::read(const Wanted& wanted) {
  file_.clear();
  file_.seekg(0);
  line_ = 0;
  for (StoredRun& run : runs_) run.end.reset();
  for (auto& cases : cases_) {
    for (auto& [name, described] : cases) described.is_wanted = wanted(described.fact);
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
  const auto same = [&](const StoredRun& one) { return one.run.id == run.id; };
  const auto found = std::ranges::find_if(runs_, same);
  current_ = static_cast<std::size_t>(found - runs_.begin());
  if (found == runs_.end()) {
    runs_.push_back({.run = std::move(run), .facts = {}, .end = {}, .torn = false});
    cases_.emplace_back();
    return;
  }
  for (Device& device : run.devices) {
    std::vector<Device>& known = found->run.devices;
    if (std::ranges::find(known, device.name, &Device::name) == known.end()) {
      known.push_back(std::move(device));
    }
  }
}

/// The line that was torn may have been of the run.
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
