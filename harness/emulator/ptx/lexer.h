// PTX text cut into tokens, and the message about a place in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpgauge::emulator::ptx {

/// A piece of the text; `text` points into it.
struct Token {
  enum class Kind : std::uint8_t {
    name,    ///< %r1, $L__BB0_2, _Z3addPf, _, and the first part of an opcode
    dotted,  ///< .global, .L2::128B, .2d: a directive, a type or a modifier, with its point
    number,  ///< 42, 0x2AU, 0f3F800000, 1.5e3
    string,  ///< without its quotes
    symbol,  ///< one of ( ) { } [ ] , ; : @ ! | & ^ ~ + - * / % ? = < >, or << >> <= >= == != && ||
    end,     ///< the end of the text
  };
  Kind kind = Kind::end;
  std::string_view text;
  int line = 1;

  /// Whether it is this symbol or this dotted word.
  bool is(std::string_view word) const {
    return (kind == Kind::symbol || kind == Kind::dotted) && text == word;
  }
};

class Lexer {
 public:
  /// Keeps a view of `text`; `file` names it in errors.
  Lexer(std::string_view text, std::string_view file);

  Token next();  ///< throws PtxError for what is no token

  /// Goes on behind `word`, over text that is no PTX. Throws PtxError at `from` if it is not there.
  void skip_behind(std::string_view word, const Token& from);

  const std::string& file() const { return file_; }

  /// Throws PtxError: file, line and column of `token`, the problem, the line, what to do.
  [[noreturn]] void fail(const Token& token, std::string_view problem,
                         std::string_view remedy) const;

 private:
  void skip_blanks();
  void skip_line();
  void skip_comment();
  Token take(Token::Kind kind, const char* end);
  Token take_string();
  const char* end_of_dotted() const;
  const char* end_of_number() const;
  const char* end_of_symbol() const;

  const char* begin_;
  const char* end_;
  const char* at_;
  int line_ = 1;
  std::string file_;
};

}  // namespace warpgauge::emulator::ptx
