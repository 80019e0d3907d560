// One token of look-ahead over a PTX text: what every part of the parser reads from.
#pragma once

#include <string_view>

#include "harness/emulator/ptx/lexer.h"

namespace warpgauge::emulator::ptx {

class TokenStream {
 public:
  TokenStream(std::string_view text, std::string_view file);

  const Token& peek() const { return current_; }
  bool at(std::string_view word) const { return current_.is(word); }
  bool at(Token::Kind kind) const { return current_.kind == kind; }

  Token take();
  bool accept(std::string_view word);  ///< takes it if it is there
  /// Takes the current token and all behind it up to `word`, whatever text that is.
  void skip_behind(std::string_view word);
  /// Takes the symbol or dotted word; throws PtxError "expected `word` <place>, found ...".
  Token expect(std::string_view word, std::string_view place);
  /// Takes a token of this kind; throws PtxError "expected <what>, found ...".
  Token expect(Token::Kind kind, std::string_view what);

  [[noreturn]] void fail(const Token& token, std::string_view problem,
                         std::string_view remedy) const {
    lexer_.fail(token, problem, remedy);
  }
  /// Throws PtxError "expected <what>, found <the current token>".
  [[noreturn]] void fail_expected(std::string_view what) const;
  /// Throws PtxError: something at the current token is nested deeper than kDeepestNesting.
  [[noreturn]] void fail_nesting() const;

 private:
  friend class Nested;
  Lexer lexer_;
  Token current_;
  int nesting_ = 0;
};

constexpr int kDeepestNesting = 100;

/// Held while something that may contain itself is parsed: the depth of recursion is bounded.
class Nested {
 public:
  explicit Nested(TokenStream& stream);
  ~Nested() { --stream_.nesting_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  TokenStream& stream_;
};

}  // namespace warpgauge::emulator::ptx
