// Shared by the tests of the PTX parser: small modules, and operands as text.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/ptx/error.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::ptx {

inline constexpr std::string_view kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A module whose fourth line begins with `items`.
inline Module parse_items(std::string_view items) {
  return parse(std::string(kHead) + std::string(items), "test.ptx");
}

/// The kernel k of this body, which begins in line 5.
inline Function parse_body(std::string_view body) {
  return parse_items(".entry k(.param .u64 p) {\n" + std::string(body) + "\n}").functions.at(0);
}

inline std::string error_of_items(std::string_view items) {
  try {
    parse_items(items);
  } catch (const PtxError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string error_of_body(std::string_view body) {
  return error_of_items(".entry k(.param .u64 p) {\n" + std::string(body) + "\n}");
}

/// %r1, !%p1, name+8, 42, 42U, f3f800000, d3ff0000000000000, {a, b}, [a+4, b], (a, b), p|q, _
inline std::string text_of(const Operand& operand) {
  const auto offset = [](std::int64_t value) {
    if (value == 0) return std::string();
    return (value > 0 ? "+" : "") + std::to_string(value);
  };
  const auto all = [&](const char* open, const char* separator, const char* close) {
    std::string text = open;
    for (std::size_t i = 0; i < operand.elements.size(); ++i) {
      if (i > 0) text += separator;
      text += text_of(operand.elements[i]);
      if (i == 0 && operand.kind == Operand::Kind::address) text += offset(operand.offset);
    }
    return text + close;
  };
  char digits[32];
  switch (operand.kind) {
    case Operand::Kind::name:
      return (operand.negated ? "!" : "") + operand.name +
             (operand.selector.empty() ? "" : "." + operand.selector) + offset(operand.offset);
    case Operand::Kind::integer:
      if (operand.type == Type::u64) return std::to_string(operand.bits) + "U";
      return std::to_string(static_cast<std::int64_t>(operand.bits));
    case Operand::Kind::real:
      std::snprintf(digits, sizeof digits,
                    operand.type == Type::f32 ? "f%08" PRIx64 : "d%016" PRIx64, operand.bits);
      return digits;
    case Operand::Kind::vector:
      return all("{", ", ", "}");
    case Operand::Kind::address:
      return all("[", ", ", "]");
    case Operand::Kind::list:
      return all("(", ", ", ")");
    case Operand::Kind::pair:
      return all("", "|", "");
    case Operand::Kind::sink:
      return "_";
  }
  return "?";
}

/// "@!%p1 ld.global.u32 %r1, [%rd1+4]"
inline std::string text_of(const Instruction& instruction) {
  std::string text = instruction.guard ? "@" + text_of(*instruction.guard) + " " : "";
  text += instruction.full_name();
  const char* separator = " ";
  for (const Operand& operand : instruction.operands) {
    text += separator + text_of(operand);
    separator = ", ";
  }
  return text;
}

inline std::vector<std::string> texts_of(const Function& function) {
  std::vector<std::string> texts;
  for (const Instruction& instruction : function.body) texts.push_back(text_of(instruction));
  return texts;
}

}  // namespace warpgauge::emulator::ptx
