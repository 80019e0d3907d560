// PTX text cut into tokens: one pass, no copies.
#include "harness/emulator/ptx/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>

#include "harness/emulator/ptx/error.h"

namespace warpgauge::emulator::ptx {
namespace {

enum Class : std::uint8_t { kDigit = 1, kNameStart = 2, kBlank = 4, kSymbol = 8 };

constexpr std::array<std::uint8_t, 256> classes() {
  std::array<std::uint8_t, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = kDigit;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = kNameStart;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = kNameStart;
  for (const char c : std::string_view("_$")) table[c] = kNameStart;
  for (const char c : std::string_view(" \t\r\n\v\f")) table[c] = kBlank;
  for (const char c : std::string_view("(){}[],;:@!|&^~+-*/%?=<>")) table[c] = kSymbol;
  return table;
}
constexpr std::array<std::uint8_t, 256> kClasses = classes();

bool is_a(char c, int which) { return (kClasses[static_cast<unsigned char>(c)] & which) != 0; }

const char* end_of_word(const char* at, const char* end) {
  while (at != end && is_a(*at, kDigit | kNameStart)) ++at;
  return at;
}

/// The part of a line around a place in it, fit to print, with a caret below the place.
std::string excerpt(std::string_view line, std::size_t column) {
  constexpr std::size_t kBefore = 60, kWidth = 100;
  const std::size_t from = column > kBefore ? column - kBefore : 0;
  std::string shown(line.substr(std::min(from, line.size()), kWidth));
  for (char& c : shown) {
    if (is_a(c, kBlank)) c = ' ';
    if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
  }
  shown.erase(shown.find_last_not_of(' ') + 1);
  return "  " + shown + "\n  " + std::string(column - from, ' ') + "^";
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string_view file)
    : begin_(text.data()), end_(begin_ + text.size()), at_(begin_), file_(file) {
  if (text.size() > INT_MAX) fail({}, "the text is longer than 2 GiB", "Split the module.");
}

Token Lexer::next() {
  skip_blanks();
  if (at_ == end_) return take(Token::Kind::end, end_);
  const char c = *at_;
  if (is_a(c, kNameStart)) return take(Token::Kind::name, end_of_word(at_, end_));
  if (c == '.') return take(Token::Kind::dotted, end_of_dotted());
  if (is_a(c, kDigit)) return take(Token::Kind::number, end_of_number());
  // %r1 is a name, but 10 %3 and 10 % n are divisions.
  if (c == '%' && at_ + 1 != end_ && is_a(at_[1], kNameStart)) {
    return take(Token::Kind::name, end_of_word(at_ + 1, end_));
  }
  if (c == '"') return take_string();
  if (is_a(c, kSymbol)) return take(Token::Kind::symbol, end_of_symbol());
  fail({Token::Kind::symbol, {at_, 1}, line_}, "a character that PTX does not have",
       "PTX is plain ASCII text. Is this another file, or is the text damaged?");
}

void Lexer::skip_blanks() {
  while (at_ != end_) {
    if (*at_ == '\n') {
      ++line_;
      ++at_;
    } else if (is_a(*at_, kBlank)) {
      ++at_;
    } else if (*at_ == '/' && end_ - at_ > 1 && at_[1] == '*') {
      skip_comment();
    } else if (*at_ == '#' || (*at_ == '/' && end_ - at_ > 1 && at_[1] == '/')) {
      skip_line();  // a comment, or of the preprocessor: # 1 "file.cu"
    } else {
      return;
    }
  }
}

void Lexer::skip_line() { at_ = std::find(at_, end_, '\n'); }

void Lexer::skip_comment() {
  constexpr std::string_view kEnd = "*/";
  const Token start{Token::Kind::symbol, {at_, 2}, line_};
  const char* close = std::search(at_ + 2, end_, kEnd.begin(), kEnd.end());
  if (close == end_) fail(start, "a comment that never ends", "Close it with */.");
  line_ += static_cast<int>(std::count(at_, close, '\n'));
  at_ = close + kEnd.size();
}

void Lexer::skip_behind(std::string_view word, const Token& from) {
  const char* found = std::search(at_, end_, word.begin(), word.end());
  if (found == end_) {
    fail(from, "no `" + std::string(word) + "` follows", "The text is cut off: compile it again.");
  }
  line_ += static_cast<int>(std::count(at_, found, '\n'));
  at_ = found + word.size();
}

Token Lexer::take(Token::Kind kind, const char* end) {
  const Token token{kind, {at_, static_cast<std::size_t>(end - at_)}, line_};
  at_ = end;
  return token;
}

Token Lexer::take_string() {
  const Token quote{Token::Kind::symbol, {at_, 1}, line_};
  const char* close = std::find_if(at_ + 1, end_, [](char c) { return c == '"' || c == '\n'; });
  if (close == end_ || *close == '\n') {
    fail(quote, "a string that does not end in its line", "Close it with a quote.");
  }
  ++at_;
  const Token token = take(Token::Kind::string, close);
  ++at_;
  return token;
}

/// A point and a word, or several joined by "::" as in .mbarrier::complete_tx::bytes.
const char* Lexer::end_of_dotted() const {
  const char* at = end_of_word(at_ + 1, end_);
  while (end_ - at > 2 && at[0] == ':' && at[1] == ':' && is_a(at[2], kDigit | kNameStart)) {
    at = end_of_word(at + 2, end_);
  }
  if (at == at_ + 1) {
    fail({Token::Kind::symbol, {at_, 1}, line_}, "a point without a word after it",
         "A directive or modifier is expected, for instance .global.");
  }
  return at;
}

const char* Lexer::end_of_number() const {
  const char* at = end_of_word(at_, end_);
  const std::string_view word(at_, static_cast<std::size_t>(at - at_));
  const bool prefixed = word.size() > 1 && word[0] == '0' && is_a(word[1], kNameStart) &&
                        word[1] != 'e' && word[1] != 'E' && word[1] != 'U';
  if (prefixed) return at;
  if (at != end_ && *at == '.') {  // but not in 4.b8
    if (end_ - at < 2 || !is_a(at[1], kNameStart) || at[1] == 'e' || at[1] == 'E') {
      at = end_of_word(at + 1, end_);
    }
  }
  const bool exponent = (at[-1] == 'e' || at[-1] == 'E') && at != end_;
  if (exponent && (*at == '+' || *at == '-')) at = end_of_word(at + 1, end_);
  return at;
}

const char* Lexer::end_of_symbol() const {
  constexpr std::array<std::string_view, 8> kPairs = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  if (end_ - at_ > 1 && std::ranges::find(kPairs, std::string_view(at_, 2)) != kPairs.end()) {
    return at_ + 2;
  }
  return at_ + 1;
}

void Lexer::fail(const Token& token, std::string_view problem, std::string_view remedy) const {
  const char* at = token.text.data() == nullptr ? begin_ : token.text.data();
  const char* line = at;
  while (line != begin_ && line[-1] != '\n') --line;
  const std::size_t column = static_cast<std::size_t>(at - line);
  const std::string_view text(line, static_cast<std::size_t>(std::find(at, end_, '\n') - line));
  throw PtxError(file_ + ":" + std::to_string(token.line) + ":" + std::to_string(column + 1) +
                 ": " + std::string(problem) + "\n" + excerpt(text, column) + "\n" +
                 std::string(remedy));
}

}  // namespace warpgauge::emulator::ptx
