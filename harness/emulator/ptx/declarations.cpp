// Declarations of variables and registers.
#include "harness/emulator/ptx/declarations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "harness/emulator/ptx/constants.h"
#include "harness/emulator/ptx/initialiser.h"

namespace warpgauge::emulator::ptx {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;  // of one variable
constexpr std::uint64_t kMostAlignment = std::uint64_t{1} << 30;

/// The part of a declaration before the name: .align 4 .v2 .f32.
struct Head {
  Type type = Type::none;
  std::uint32_t lanes = 1;      // of a vector type
  std::uint32_t alignment = 0;  // 0: natural
  Token type_at;
};

std::uint32_t parse_alignment(TokenStream& stream) {
  const Token start = stream.peek();
  const std::uint64_t alignment = parse_count(stream, "an alignment", kMostAlignment);
  if (!std::has_single_bit(alignment)) {
    stream.fail(start, "an alignment that is not a power of two", "Use 1, 2, 4, 8, 16, ...");
  }
  return static_cast<std::uint32_t>(alignment);
}

/// .ptr .global .align 16: what the host promises about the pointer that it passes.
void skip_pointer_promise(TokenStream& stream) {
  for (const std::string_view space : {".global", ".const", ".shared", ".local", ".generic"}) {
    if (stream.accept(space)) break;
  }
  if (stream.accept(".align")) parse_alignment(stream);
}

Head parse_head(TokenStream& stream) {
  Head head;
  while (stream.at(Token::Kind::dotted)) {
    const Token word = stream.take();
    const std::string_view name = word.text.substr(1);
    if (const auto type = type_from(name); type && head.type == Type::none) {
      head.type = *type;
      head.type_at = word;
    } else if (name == "align") {
      head.alignment = parse_alignment(stream);
    } else if (name == "v2" || name == "v4" || name == "v8") {
      head.lanes = static_cast<std::uint32_t>(name[1] - '0');
    } else if (name == "attribute") {
      skip_attributes(stream);
    } else if (name == "ptr") {
      skip_pointer_promise(stream);
    } else {
      stream.fail(word, "`" + std::string(word.text) + "` has no place in this declaration",
                  "A declaration reads .space .align 4 .v2 .f32 name[8], of types of PTX ISA 9.");
    }
  }
  if (head.type == Type::none) stream.fail_expected("a type");
  return head;
}

/// [4][8] or []: outermost first.
Extents parse_extents(TokenStream& stream) {
  Extents extents;
  while (stream.at("[")) {
    const Token bracket = stream.take();
    if (stream.accept("]")) {
      if (!extents.empty()) {
        stream.fail(bracket, "only the first extent of an array can be left out", "Give it.");
      }
      extents.push_back(kUnsized);
      continue;
    }
    extents.push_back(parse_count(stream, "the extent of an array", kMostBytes));
    stream.expect("]", "after the extent of an array");
  }
  return extents;
}

/// 0 for an array of no declared size.
std::uint64_t total_bytes(const TokenStream& stream, const Token& name, int size,
                          const Extents& extents) {
  const bool unsized = !extents.empty() && extents[0] == kUnsized;
  std::uint64_t bytes = static_cast<std::uint64_t>(size);
  for (std::size_t i = unsized ? 1 : 0; i < extents.size(); ++i) {
    if (extents[i] != 0 && bytes > kMostBytes / extents[i]) {
      stream.fail(name, "the variable is larger than 1 TiB", "Declare a smaller one.");
    }
    bytes *= extents[i];
  }
  return unsized ? 0 : bytes;
}

/// The name, the extents and all that follows from the head.
std::pair<DeclaredVariable, Extents> parse_declarator(TokenStream& stream, Space space,
                                                      const Head& head) {
  const Token name = stream.expect(Token::Kind::name, "the name of a variable");
  Extents extents = parse_extents(stream);
  if (head.lanes > 1) extents.push_back(head.lanes);
  Variable variable;
  variable.name = name.text;
  variable.space = space;
  variable.type = head.type;
  variable.bytes = total_bytes(stream, name, bytes_of(head.type), extents);
  const auto natural = static_cast<std::uint32_t>(bytes_of(head.type)) * head.lanes;
  variable.alignment = head.alignment != 0 ? head.alignment : std::max(1u, natural);
  variable.text_line = name.line;
  return {DeclaredVariable{std::move(variable), name}, std::move(extents)};
}

/// The n of %r<n>, at most `most`.
std::uint64_t parse_register_count(TokenStream& stream, std::uint64_t most) {
  const Token number = stream.expect(Token::Kind::number, "a number of registers");
  std::uint64_t count = 0;
  for (const char digit : number.text) {
    if (digit < '0' || digit > '9') {
      stream.fail(number, "a number of registers must be decimal", "Write %r<8> for %r0 to %r7.");
    }
    count = std::min(count * 10 + static_cast<std::uint64_t>(digit - '0'), most + 1);
  }
  stream.expect(">", "after the number of registers");
  return count;
}

void add_registers(TokenStream& stream, const Head& head, std::vector<DeclaredRegister>& registers,
                   Allowance& allowance) {
  const Token name = stream.expect(Token::Kind::name, "the name of a register");
  const bool numbered = stream.accept("<");
  const std::uint64_t count = numbered ? parse_register_count(stream, allowance.registers) : 1;
  if (count > allowance.registers / head.lanes) {
    stream.fail(name, "the module declares too many registers",
                "At most 65536 are supported, and one more for each byte of the text: declare "
                "those that are used.");
  }
  allowance.registers -= count * head.lanes;
  const auto add = [&](std::string text) {
    registers.push_back({{std::move(text), head.type}, head.lanes, name});
  };
  if (!numbered) add(std::string(name.text));
  for (std::uint64_t i = 0; numbered && i < count; ++i) {
    add(std::string(name.text) + std::to_string(i));
  }
}

DeclaredVariable parse_parameter(TokenStream& stream) {
  const bool is_hidden = stream.accept(".hidden");
  const bool in_register = !is_hidden && stream.accept(".reg");
  if (!in_register) stream.expect(".param", "before a parameter");
  const Head head = parse_head(stream);
  DeclaredVariable parameter =
      parse_declarator(stream, in_register ? Space::reg : Space::param, head).first;
  parameter.declared.is_hidden = is_hidden;
  return parameter;
}

}  // namespace

/// (.managed), (.unified(1, 2))
void skip_attributes(TokenStream& stream) {
  stream.expect("(", "after .attribute");
  for (int depth = 1; depth > 0; stream.take()) {
    const bool cut_off = stream.at(Token::Kind::end) || stream.at(";");
    if (cut_off) stream.fail_expected("the end of .attribute");
    if (stream.at("(")) ++depth;
    if (stream.at(")")) --depth;
  }
}

std::optional<Space> space_from(const Token& directive) {
  constexpr std::array<std::pair<std::string_view, Space>, 5> kSpaces = {{
      {".global", Space::global},
      {".const", Space::constant},
      {".shared", Space::shared},
      {".local", Space::local},
      {".param", Space::param},
  }};
  if (directive.kind != Token::Kind::dotted) return std::nullopt;
  for (const auto& [word, space] : kSpaces) {
    if (directive.text == word) return space;
  }
  return std::nullopt;
}

std::vector<DeclaredVariable> parse_variables(TokenStream& stream, Space space,
                                              Allowance& allowance) {
  const Head head = parse_head(stream);
  std::vector<DeclaredVariable> variables;
  do {
    auto [variable, extents] = parse_declarator(stream, space, head);
    if (stream.at("=")) {
      if (space != Space::global && space != Space::constant) {
        stream.fail(stream.peek(), "only .global and .const variables can have a value",
                    "Store the value in the body of the kernel.");
      }
      stream.take();
      parse_initialiser(stream, extents, variable.declared, allowance.initial_bytes);
      allowance.initial_bytes -= variable.declared.bytes;
    }
    variables.push_back(std::move(variable));
  } while (stream.accept(","));
  stream.expect(";", "at the end of the declaration");
  return variables;
}

std::vector<DeclaredRegister> parse_registers(TokenStream& stream, Allowance& allowance) {
  const Head head = parse_head(stream);
  if (head.lanes == 8) {
    stream.fail(head.type_at, "a register has at most four elements", "Declare two of .v4.");
  }
  std::vector<DeclaredRegister> registers;
  do {
    add_registers(stream, head, registers, allowance);
  } while (stream.accept(","));
  stream.expect(";", "at the end of the declaration");
  return registers;
}

std::vector<DeclaredVariable> parse_parameters(TokenStream& stream) {
  std::vector<DeclaredVariable> parameters;
  stream.expect("(", "before parameters");
  if (stream.accept(")")) return parameters;
  do {
    parameters.push_back(parse_parameter(stream));
  } while (stream.accept(","));
  stream.expect(")", "after the parameters");
  return parameters;
}

}  // namespace warpgauge::emulator::ptx
