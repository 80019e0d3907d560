// Checked access to the members of a JSON object.
#include "metrics/fact_members.h"

#include <algorithm>
#include <utility>

namespace warpgauge::metrics {

using nlohmann::json;

Members::Members(json object, std::string prefix)
    : object_(std::move(object)), prefix_(std::move(prefix)) {}

json Members::take(std::string_view key) {
  const auto found = object_.find(key);
  if (found == object_.end()) {
    throw MalformedFact(fmt::format("missing key '{}{}'", prefix_, key));
  }
  json member = std::move(*found);
  object_.erase(found);
  return member;
}

std::string Members::text(std::string_view key) {
  std::string text = text_or_null(key);
  if (text.empty()) fail(key, "must not be null");
  return text;
}

std::string Members::text_or_null(std::string_view key) {
  const json member = take(key);
  if (member.is_null()) return "";
  if (!member.is_string() || member == "") fail(key, "must be a text that is not empty");
  return member.get<std::string>();
}

std::string Members::one_of(std::string_view key, std::initializer_list<std::string_view> words) {
  std::string word = one_of_or_null(key, words);
  if (word.empty()) fail(key, "must not be null");
  return word;
}

std::string Members::one_of_or_null(std::string_view key,
                                    std::initializer_list<std::string_view> words) {
  std::string word = text_or_null(key);
  if (!word.empty() && std::ranges::find(words, word) == words.end()) {
    fail(key, fmt::format("has the unknown word '{}'", word));
  }
  return word;
}

bool Members::truth(std::string_view key) {
  const json member = take(key);
  if (!member.is_boolean()) fail(key, "must be true or false");
  return member.get<bool>();
}

int Members::whole_or_null(std::string_view key) { return whole_or(key, 1, 0); }

int Members::whole_or(std::string_view key, int least, int nothing) {
  const json member = take(key);
  return member.is_null() ? nothing : to_whole(key, member, least);
}

std::array<std::uint32_t, 3> Members::extent(std::string_view key) {
  const json member = take(key);
  if (!member.is_array() || member.size() != 3) fail(key, "must be three whole numbers");
  std::array<std::uint32_t, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) numbers[i] = to_whole<std::uint32_t>(key, member[i], 1);
  return numbers;
}

void Members::end() const {
  if (object_.empty()) return;
  throw MalformedFact(fmt::format("unknown key '{}{}'", prefix_, object_.begin().key()));
}

void Members::fail(std::string_view key, std::string_view problem) const {
  throw MalformedFact(fmt::format("key '{}{}' {}", prefix_, key, problem));
}

}  // namespace warpgauge::metrics
