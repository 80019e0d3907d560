// Constants and constant expressions of PTX: 64-bit integers that wrap, and doubles.
#include "harness/emulator/ptx/constants.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string>

namespace warpgauge::emulator::ptx {
namespace {

constexpr std::uint64_t kWarpSize = 32;

std::int64_t as_signed(Constant c) { return static_cast<std::int64_t>(c.bits); }
double as_double(Constant c) { return std::bit_cast<double>(c.bits); }
Constant real(double value) { return {Type::f64, std::bit_cast<std::uint64_t>(value)}; }
Constant boolean(bool value) { return {Type::s64, value ? 1u : 0u}; }

/// All of `digits` as a number to this base; nothing if there are others or too many.
std::optional<std::uint64_t> read_integer(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// 0f and eight, or 0d and sixteen hexadecimal digits.
std::optional<Constant> read_bit_pattern(std::string_view text) {
  const bool single = text[1] == 'f' || text[1] == 'F';
  if (text.size() != (single ? 10u : 18u)) return std::nullopt;
  const auto bits = read_integer(text.substr(2), 16);
  if (!bits) return std::nullopt;
  return Constant{single ? Type::f32 : Type::f64, *bits};
}

std::optional<Constant> read_real(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return real(value);
}

std::optional<Constant> read_number(std::string_view text) {
  const char second = text.size() > 1 && text[0] == '0' ? text[1] : '\0';
  if (std::string_view("fFdD").find(second) != std::string_view::npos) {
    return read_bit_pattern(text);
  }
  const bool hexadecimal = second == 'x' || second == 'X';
  if (!hexadecimal && text.find_first_of(".eE") != std::string_view::npos) return read_real(text);

  const bool is_unsigned = text.ends_with('U') || text.ends_with('u');
  if (is_unsigned) text.remove_suffix(1);
  const bool binary = second == 'b' || second == 'B';
  const bool octal = text.size() > 1 && text[0] == '0' && !hexadecimal && !binary;
  if (hexadecimal || binary) text.remove_prefix(2);
  const auto bits = read_integer(text, hexadecimal ? 16 : binary ? 2 : octal ? 8 : 10);
  if (!bits) return std::nullopt;
  const bool fits = *bits >> 63 == 0;
  return Constant{is_unsigned || !fits ? Type::u64 : Type::s64, *bits};
}

enum class Operator : std::uint8_t {
  kOrElse,
  kAndThen,
  kOr,
  kXor,
  kAnd,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kShiftLeft,
  kShiftRight,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
};
struct Binary {
  std::string_view symbol;
  Operator op;
  int precedence;  // a higher one binds tighter
};
constexpr std::array<Binary, 18> kBinaries = {{
    {"||", Operator::kOrElse, 1},
    {"&&", Operator::kAndThen, 2},
    {"|", Operator::kOr, 3},
    {"^", Operator::kXor, 4},
    {"&", Operator::kAnd, 5},
    {"==", Operator::kEqual, 6},
    {"!=", Operator::kUnequal, 6},
    {"<", Operator::kLess, 7},
    {"<=", Operator::kLessEqual, 7},
    {">", Operator::kGreater, 7},
    {">=", Operator::kGreaterEqual, 7},
    {"<<", Operator::kShiftLeft, 8},
    {">>", Operator::kShiftRight, 8},
    {"+", Operator::kAdd, 9},
    {"-", Operator::kSubtract, 9},
    {"*", Operator::kMultiply, 10},
    {"/", Operator::kDivide, 10},
    {"%", Operator::kRemainder, 10},
}};

/// -1 divided by what wraps gives itself: the one quotient that does not fit.
std::uint64_t divide(std::uint64_t a, std::uint64_t b, bool is_signed, bool remainder) {
  if (!is_signed) return remainder ? a % b : a / b;
  const auto divisor = static_cast<std::int64_t>(b);
  if (divisor == -1) return remainder ? 0 : std::uint64_t{0} - a;
  const auto dividend = static_cast<std::int64_t>(a);
  return static_cast<std::uint64_t>(remainder ? dividend % divisor : dividend / divisor);
}

/// By 64 and more all bits are gone.
std::uint64_t shift_right(Constant a, std::uint64_t by) {
  if (a.type == Type::u64) return by > 63 ? 0 : a.bits >> by;
  return static_cast<std::uint64_t>(as_signed(a) >> std::min<std::uint64_t>(by, 63));
}

template <typename T>
bool compare(Operator op, T a, T b) {
  switch (op) {
    case Operator::kEqual:
      return a == b;
    case Operator::kUnequal:
      return a != b;
    case Operator::kLess:
      return a < b;
    case Operator::kLessEqual:
      return a <= b;
    case Operator::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

/// Nothing where doubles have no such operation.
std::optional<Constant> apply_real(Operator op, double a, double b) {
  switch (op) {
    case Operator::kAdd:
      return real(a + b);
    case Operator::kSubtract:
      return real(a - b);
    case Operator::kMultiply:
      return real(a * b);
    case Operator::kDivide:
      return real(a / b);
    case Operator::kEqual:
    case Operator::kUnequal:
    case Operator::kLess:
    case Operator::kLessEqual:
    case Operator::kGreater:
    case Operator::kGreaterEqual:
      return boolean(compare(op, a, b));
    default:
      return std::nullopt;
  }
}

/// The divisor is not zero.
Constant apply_integer(Operator op, Constant a, Constant b) {
  const bool is_signed = a.type == Type::s64 && b.type == Type::s64;
  const Type type = is_signed ? Type::s64 : Type::u64;
  switch (op) {
    case Operator::kOrElse:
      return boolean(a.bits != 0 || b.bits != 0);
    case Operator::kAndThen:
      return boolean(a.bits != 0 && b.bits != 0);
    case Operator::kOr:
      return {type, a.bits | b.bits};
    case Operator::kXor:
      return {type, a.bits ^ b.bits};
    case Operator::kAnd:
      return {type, a.bits & b.bits};
    case Operator::kShiftLeft:
      return {a.type, b.bits > 63 ? 0 : a.bits << b.bits};
    case Operator::kShiftRight:
      return {a.type, shift_right(a, b.bits)};
    case Operator::kAdd:
      return {type, a.bits + b.bits};
    case Operator::kSubtract:
      return {type, a.bits - b.bits};
    case Operator::kMultiply:
      return {type, a.bits * b.bits};
    case Operator::kDivide:
      return {type, divide(a.bits, b.bits, is_signed, false)};
    case Operator::kRemainder:
      return {type, divide(a.bits, b.bits, is_signed, true)};
    default:
      return boolean(is_signed ? compare(op, as_signed(a), as_signed(b))
                               : compare(op, a.bits, b.bits));
  }
}

/// 2^63 is too large for s64, -2^63 is not.
Constant negated(Constant c) {
  if (c.type == Type::f64) return real(-as_double(c));
  const bool lowest = c.bits == std::uint64_t{1} << 63;
  return {lowest ? Type::s64 : c.type, std::uint64_t{0} - c.bits};
}

class Expression {
 public:
  explicit Expression(TokenStream& stream) : stream_(stream) {}

  Constant conditional() {
    const Nested nested(stream_);
    const Token start = stream_.peek();
    const Constant condition = binary(1);
    if (!stream_.accept("?")) return condition;
    if (condition.is_real()) fail_types(start);
    const Constant yes = conditional();
    stream_.expect(":", "between the two results of `?`");
    const Constant no = conditional();
    return condition.bits != 0 ? yes : no;
  }

 private:
  Constant binary(int precedence) {
    Constant left = unary();
    while (const Binary* next = find_operator(precedence)) {
      const Token symbol = stream_.take();
      const Constant right = binary(next->precedence + 1);
      left = apply(symbol, next->op, left, right);
    }
    return left;
  }

  const Binary* find_operator(int precedence) const {
    if (!stream_.at(Token::Kind::symbol)) return nullptr;
    const auto found = std::ranges::find(kBinaries, stream_.peek().text, &Binary::symbol);
    return found != kBinaries.end() && found->precedence >= precedence ? found : nullptr;
  }

  Constant apply(const Token& symbol, Operator op, Constant a, Constant b) {
    if (!a.is_real() && !b.is_real()) {
      const bool divides = op == Operator::kDivide || op == Operator::kRemainder;
      if (divides && b.bits == 0) {
        stream_.fail(symbol, "a constant is divided by zero", "Correct the expression.");
      }
      return apply_integer(op, a, b);
    }
    if (a.type != Type::f64 || b.type != Type::f64) fail_types(symbol);
    const auto result = apply_real(op, as_double(a), as_double(b));
    if (!result) fail_types(symbol);
    return *result;
  }

  Constant unary() {
    if (stream_.at(Token::Kind::number)) return primary();
    const Nested nested(stream_);
    const Token start = stream_.peek();
    if (stream_.accept("(")) return in_parentheses();
    for (const std::string_view symbol : {"+", "-", "~", "!"}) {
      if (!stream_.accept(symbol)) continue;
      const Constant operand = unary();
      const bool bitwise = symbol == "~" || symbol == "!";
      if (operand.type == Type::f32 || (operand.is_real() && bitwise)) fail_types(start);
      if (symbol == "-") return negated(operand);
      if (symbol == "~") return {operand.type, ~operand.bits};
      if (symbol == "!") return boolean(operand.bits == 0);
      return operand;
    }
    return primary();
  }

  Constant in_parentheses() {
    if (stream_.at(".s64") || stream_.at(".u64")) return cast(stream_.take());
    const Constant inner = conditional();
    stream_.expect(")", "at the end of the expression");
    return inner;
  }

  Constant cast(const Token& type) {
    stream_.expect(")", "after the type of a cast");
    const Constant operand = unary();
    if (operand.is_real()) fail_types(type);
    return {type.text == ".s64" ? Type::s64 : Type::u64, operand.bits};
  }

  Constant primary() {
    if (stream_.at(Token::Kind::name) && stream_.peek().text == "WARP_SZ") {
      stream_.take();
      return {Type::s64, kWarpSize};
    }
    if (!stream_.at(Token::Kind::number)) stream_.fail_expected("a constant");
    const Token token = stream_.peek();
    const auto number = read_number(token.text);
    if (!number) {
      stream_.fail(token, "not a number that fits into 64 bits",
                   "Write 42, 0x2A, 052, 0b101010, 42U, 1.5, 0f and 8 or 0d and 16 hexadecimal "
                   "digits.");
    }
    stream_.take();
    return *number;
  }

  [[noreturn]] void fail_types(const Token& token) {
    stream_.fail(token, "a constant expression of types that do not go together",
                 "Use integers only, or decimal reals with + - * / and comparisons; 0f... stands "
                 "alone.");
  }

  TokenStream& stream_;
};

}  // namespace

bool at_constant(const TokenStream& stream) {
  const Token& token = stream.peek();
  if (token.kind == Token::Kind::number) return true;
  if (token.kind == Token::Kind::name) return token.text == "WARP_SZ";
  return token.kind == Token::Kind::symbol && token.text.size() == 1 &&
         std::string_view("+-~!(").find(token.text) != std::string_view::npos;
}

Constant parse_constant(TokenStream& stream) { return Expression(stream).conditional(); }

std::uint64_t parse_count(TokenStream& stream, std::string_view what, std::uint64_t largest) {
  const Token start = stream.peek();
  const Constant value = parse_constant(stream);
  const bool negative = value.type == Type::s64 && as_signed(value) < 0;
  if (value.is_real() || negative || value.bits > largest) {
    stream.fail(start,
                std::string(what) + " must be an integer from 0 to " + std::to_string(largest),
                "Correct the declaration.");
  }
  return value.bits;
}

}  // namespace warpgauge::emulator::ptx
