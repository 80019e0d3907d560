// The members of a JSON object, taken one by one and checked by type.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpgauge::metrics {

/// An error in a fact. The reader of the file puts path and line in front.
class MalformedFact : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Takes members out of an object, so that what is left in the end is unknown. Everything throws
/// MalformedFact with the key.
class Members {
 public:
  /// `prefix` is the path of the object in the fact: "" or "launch.".
  Members(nlohmann::ordered_json object, std::string prefix);

  bool has(std::string_view key) const { return object_.contains(key); }
  bool empty() const { return object_.empty(); }
  bool has_one() const { return object_.size() == 1; }
  /// The key of the first member.
  const std::string& first() const { return object_.begin().key(); }
  bool is_null(std::string_view key) const { return object_.at(key).is_null(); }
  nlohmann::ordered_json take(std::string_view key);
  /// A text that is not empty.
  std::string text(std::string_view key);
  /// A text that is not empty, or "" where there is no such member.
  std::string text_or_absent(std::string_view key);
  /// A text that is not empty, without control characters.
  std::string name(std::string_view key);
  std::string one_of_or_absent(std::string_view key, std::initializer_list<std::string_view> words);
  bool truth(std::string_view key);
  bool truth_or_absent(std::string_view key) { return has(key) && truth(key); }
  /// Texts; none where there is no such member.
  std::vector<std::string> texts_or_absent(std::string_view key);
  /// The objects of a list; none where there is no such member.
  std::vector<Members> objects_or_absent(std::string_view key);
  Members object(std::string_view key);
  double number(std::string_view key);
  /// A whole number from `least` to the largest of T.
  template <typename T>
  T whole(std::string_view key, T least) {
    return to_whole<T>(key, take(key), least);
  }
  /// A whole number of `least` or more, or `nothing` where there is no such member.
  int whole_or_absent(std::string_view key, int least = 1, int nothing = 0);
  /// Two whole numbers of 1 or more, of which each may be null: 0.
  std::array<int, 2> pair(std::string_view key);
  /// Three whole numbers of 1 or more.
  std::array<std::uint32_t, 3> extent(std::string_view key);
  /// Two counts, the smaller one first.
  std::optional<std::array<std::uint64_t, 2>> counts_or_absent(std::string_view key);

  /// Adds the members of another object, of which it has none yet.
  void add(const nlohmann::ordered_json& others);
  /// The members that have not been taken.
  nlohmann::ordered_json rest() && { return std::move(object_); }
  /// Throws if a member has not been taken.
  void end() const;
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const;

 private:
  template <typename T>
  T to_whole(std::string_view key, const nlohmann::ordered_json& member, T least) const {
    constexpr T kMost = std::numeric_limits<T>::max();
    // The parser makes every whole number from 0 unsigned, and a double of what has no room.
    if (member.is_number_unsigned()) {
      const auto number = member.get<std::uint64_t>();
      if (number >= static_cast<std::uint64_t>(least) && number <= std::uint64_t{kMost}) {
        return static_cast<T>(number);
      }
    }
    fail(key, fmt::format("must be a whole number from {} to {}", least, kMost));
  }

  nlohmann::ordered_json object_;
  std::string prefix_;
};

}  // namespace warpgauge::metrics
