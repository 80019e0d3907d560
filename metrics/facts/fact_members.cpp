// Takes members out of a JSON object, and names the key in each error.
#include "metrics/facts/fact_members.h"

#include <algorithm>
#include <utility>

#include "metrics/base/control_character.h"

namespace warpgauge::metrics {

using nlohmann::ordered_json;

Members::Members(ordered_json object, std::string prefix)
    : object_(std::move(object)), prefix_(std::move(prefix)) {}

ordered_json Members::take(std::string_view key) {
  const auto found = object_.find(key);
  if (found == object_.end()) {
    throw MalformedFact(fmt::format("missing key '{}{}'", prefix_, key));
  }
  ordered_json member = std::move(*found);
  object_.erase(found);
  return member;
}

std::string Members::text(std::string_view key) {
  const ordered_json member = take(key);
  if (!member.is_string() || member == "") fail(key, "must be a text that is not empty");
  return member.get<std::string>();
}

std::string Members::name(std::string_view key) {
  std::string name = text(key);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_control = control_bytes(std::string_view(name).substr(i)) > 0;
    if (is_control) fail(key, "must not have control characters");
  }
  return name;
}

std::string Members::text_or_absent(std::string_view key) { return has(key) ? text(key) : ""; }

std::string Members::one_of_or_absent(std::string_view key,
                                      std::initializer_list<std::string_view> words) {
  std::string word = text_or_absent(key);
  if (!word.empty() && std::ranges::find(words, word) == words.end()) {
    fail(key, fmt::format("has the unknown word '{}'", word));
  }
  return word;
}

bool Members::truth(std::string_view key) {
  const ordered_json member = take(key);
  if (!member.is_boolean()) fail(key, "must be true or false");
  return member.get<bool>();
}

std::vector<std::string> Members::texts_or_absent(std::string_view key) {
  if (!has(key)) return {};
  const ordered_json member = take(key);
  const auto is_text = [](const ordered_json& value) { return value.is_string() && value != ""; };
  if (!member.is_array() || !std::ranges::all_of(member, is_text)) {
    fail(key, "must be a list of texts");
  }
  return member.get<std::vector<std::string>>();
}

std::vector<Members> Members::objects_or_absent(std::string_view key) {
  std::vector<Members> objects;
  if (!has(key)) return objects;
  ordered_json member = take(key);
  if (!member.is_array()) fail(key, "must be a list of objects");
  for (std::size_t i = 0; i < member.size(); ++i) {
    if (!member[i].is_object()) fail(key, "must be a list of objects");
    objects.emplace_back(std::move(member[i]), fmt::format("{}{}.", prefix_, key));
  }
  return objects;
}

Members Members::object(std::string_view key) {
  ordered_json member = take(key);
  if (!member.is_object()) fail(key, "must be an object");
  return {std::move(member), fmt::format("{}{}.", prefix_, key)};
}

double Members::number(std::string_view key) {
  const ordered_json member = take(key);
  if (!member.is_number()) fail(key, "must be a number");
  return member.get<double>();
}

int Members::whole_or_absent(std::string_view key, int least, int nothing) {
  return has(key) ? whole<int>(key, least) : nothing;
}

std::array<int, 2> Members::pair(std::string_view key) {
  const ordered_json member = take(key);
  if (!member.is_array() || member.size() != 2) fail(key, "must be two whole numbers");
  std::array<int, 2> pair{};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!member[i].is_null()) pair[i] = to_whole<int>(key, member[i], 1);
  }
  return pair;
}

std::optional<std::array<std::uint64_t, 2>> Members::counts_or_absent(std::string_view key) {
  if (!has(key)) return std::nullopt;
  const ordered_json member = take(key);
  if (!member.is_array() || member.size() != 2) fail(key, "must be two whole numbers");
  std::array<std::uint64_t, 2> counts{};
  for (std::size_t i = 0; i < 2; ++i) counts[i] = to_whole<std::uint64_t>(key, member[i], 0);
  if (counts[0] >= counts[1]) fail(key, "must begin with the smaller number");
  return counts;
}

std::array<std::uint32_t, 3> Members::extent(std::string_view key) {
  const ordered_json member = take(key);
  if (!member.is_array() || member.size() != 3) fail(key, "must be three whole numbers");
  std::array<std::uint32_t, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) numbers[i] = to_whole<std::uint32_t>(key, member[i], 1);
  return numbers;
}

void Members::add(const ordered_json& others) {
  for (const auto& [key, member] : others.items()) {
    if (has(key)) fail(key, "occurs in what is shared, too");
    object_[key] = member;
  }
}

void Members::end() const {
  if (object_.empty()) return;
  throw MalformedFact(fmt::format("unknown key '{}{}'", prefix_, object_.begin().key()));
}

void Members::fail(std::string_view key, std::string_view problem) const {
  throw MalformedFact(fmt::format("key '{}{}' {}", prefix_, key, problem));
}

}  // namespace warpgauge::metrics
