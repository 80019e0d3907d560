// One token of look-ahead over a PTX text.
#include "harness/emulator/ptx/token_stream.h"

#include <string>

namespace warpgauge::emulator::ptx {
namespace {

std::string described(const Token& token) {
  constexpr std::size_t kShown = 40;
  if (token.kind == Token::Kind::end) return "the end of the text";
  std::string text(token.text.substr(0, kShown));
  if (token.text.size() > kShown) text += "...";
  return token.kind == Token::Kind::string ? "the string \"" + text + "\"" : "`" + text + "`";
}

}  // namespace

TokenStream::TokenStream(std::string_view text, std::string_view file)
    : lexer_(text, file), current_(lexer_.next()) {}

Token TokenStream::take() {
  const Token taken = current_;
  current_ = lexer_.next();
  return taken;
}

bool TokenStream::accept(std::string_view word) {
  if (!at(word)) return false;
  take();
  return true;
}

void TokenStream::skip_behind(std::string_view word) {
  lexer_.skip_behind(word, current_);
  current_ = lexer_.next();
}

Token TokenStream::expect(std::string_view word, std::string_view place) {
  if (!at(word)) fail_expected("`" + std::string(word) + "` " + std::string(place));
  return take();
}

Token TokenStream::expect(Token::Kind kind, std::string_view what) {
  if (!at(kind)) fail_expected(what);
  return take();
}

void TokenStream::fail_expected(std::string_view what) const {
  fail(current_, "expected " + std::string(what) + ", found " + described(current_),
       "If nvcc wrote this text, it is cut off or damaged, or newer than PTX ISA 9; if it comes "
       "from inline asm, correct it there.");
}

void TokenStream::fail_nesting() const {
  fail(current_, "more than " + std::to_string(kDeepestNesting) + " levels of nesting",
       "No compiler nests this deep: is the text damaged?");
}

Nested::Nested(TokenStream& stream) : stream_(stream) {
  if (stream.nesting_ == kDeepestNesting) stream.fail_nesting();
  ++stream.nesting_;
}

}  // namespace warpgauge::emulator::ptx
