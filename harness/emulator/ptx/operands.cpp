// Operands of instructions.
#include "harness/emulator/ptx/operands.h"

#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/ptx/constants.h"

namespace warpgauge::emulator::ptx {
namespace {

std::int64_t parse_offset(TokenStream& stream) {
  const Token start = stream.peek();
  const Constant offset = parse_constant(stream);
  if (offset.is_real()) {
    stream.fail(start, "an address plus a number that is not an integer", "Add bytes.");
  }
  return static_cast<std::int64_t>(offset.bits);
}

/// .b0, .h1, .b7654: no component of a special register is called so.
bool is_selector(std::string_view dotted) {
  return dotted.size() > 2 && (dotted[1] == 'b' || dotted[1] == 'h') &&
         dotted.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

/// %r1, %tid.x, %r1.b0, name, name+8; and _.
Operand parse_name(TokenStream& stream) {
  Operand operand;
  const Token name = stream.expect(Token::Kind::name, "a register, variable or label");
  if (name.text == "_") {
    operand.kind = Operand::Kind::sink;
    return operand;
  }
  operand.name = name.text;
  if (stream.at(Token::Kind::dotted)) {
    const std::string_view dotted = stream.take().text;
    if (is_selector(dotted)) {
      operand.selector = dotted.substr(1);
    } else {
      operand.name += dotted;
    }
  }
  if (stream.at("+") || stream.at("-")) operand.offset = parse_offset(stream);
  if (stream.at("[")) {
    stream.fail(stream.peek(), "an array is indexed here", "Write name+4 for the address.");
  }
  return operand;
}

Operand parse_literal(TokenStream& stream) {
  const Constant constant = parse_constant(stream);
  Operand operand;
  operand.kind = constant.is_real() ? Operand::Kind::real : Operand::Kind::integer;
  operand.bits = constant.bits;
  operand.type = constant.type;
  return operand;
}

Operand parse_sequence(TokenStream& stream, Operand::Kind kind, std::string_view close,
                       bool in_call) {
  Operand operand;
  operand.kind = kind;
  stream.take();
  if (kind == Operand::Kind::list && stream.accept(close)) return operand;
  do {
    operand.elements.push_back(parse_operand(stream, in_call));
  } while (stream.accept(","));
  stream.expect(close, "at the end of the operand");
  return operand;
}

Operand parse_address(TokenStream& stream) {
  Operand operand = parse_sequence(stream, Operand::Kind::address, "]", false);
  operand.offset = std::exchange(operand.elements[0].offset, 0);
  return operand;
}

Operand parse_single(TokenStream& stream, bool in_call) {
  if (stream.at("{")) return parse_sequence(stream, Operand::Kind::vector, "}", in_call);
  if (stream.at("[")) return parse_address(stream);
  if (stream.at("(") && in_call) {
    return parse_sequence(stream, Operand::Kind::list, ")", in_call);
  }
  if (stream.at(Token::Kind::name) && !at_constant(stream)) return parse_name(stream);
  if (stream.accept("!")) {
    Operand operand = parse_name(stream);
    operand.negated = true;
    return operand;
  }
  if (stream.at("-")) {
    TokenStream ahead = stream;
    ahead.take();
    if (ahead.at(Token::Kind::name) && !at_constant(ahead)) {
      stream.take();
      Operand operand = parse_name(stream);
      operand.negated = true;
      return operand;
    }
  }
  if (!at_constant(stream)) stream.fail_expected("an operand");
  return parse_literal(stream);
}

}  // namespace

Operand parse_operand(TokenStream& stream, bool in_call) {
  const Nested nested(stream);
  Operand operand = parse_single(stream, in_call);
  if (!stream.accept("|")) return operand;
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.elements.push_back(std::move(operand));
  pair.elements.push_back(parse_single(stream, in_call));
  return pair;
}

Operand parse_guard(TokenStream& stream) {
  const bool negated = stream.accept("!");
  Operand guard;
  guard.name = stream.expect(Token::Kind::name, "a predicate after `@`").text;
  guard.negated = negated;
  return guard;
}

}  // namespace warpgauge::emulator::ptx
