// The modifiers of an instruction, taken one by one, so that none is overlooked.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {

class Modifiers {
 public:
  explicit Modifiers(const ptx::Instruction& instruction)
      : instruction_(instruction), taken_(instruction.modifiers.size(), false) {}

  /// Whether there is such a modifier that was not taken yet; takes it.
  bool take(std::string_view name) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i] && instruction_.modifiers[i] == name) return taken_[i] = true;
    }
    return false;
  }

  /// The value of the first name of the list that is there; it is taken.
  template <typename Value>
  std::optional<Value> take_one(std::initializer_list<std::pair<std::string_view, Value>> names) {
    for (const auto& [name, value] : names) {
      if (take(name)) return value;
    }
    return std::nullopt;
  }

  /// The first modifier that was not taken and that value_of(name) gives a value for; it is taken.
  template <typename ValueOf>
  auto take_first(ValueOf value_of) -> decltype(value_of(std::string_view())) {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) continue;
      if (const auto value = value_of(std::string_view(instruction_.modifiers[i]))) {
        taken_[i] = true;
        return value;
      }
    }
    return std::nullopt;
  }

  /// The next modifier that was not taken and names a type; it is taken.
  std::optional<ptx::Type> take_type() {
    return take_first([](std::string_view name) { return ptx::type_from(name); });
  }

  /// Throws Unsupported unless all were taken.
  void finish() const {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) throw Unsupported("modifier ." + instruction_.modifiers[i]);
    }
  }

 private:
  const ptx::Instruction& instruction_;
  std::vector<bool> taken_;
};

}  // namespace warpgauge::emulator::machine::decode
