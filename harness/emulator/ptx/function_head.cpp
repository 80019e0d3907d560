// .entry and .func: name, parameters, and directives about the whole function.
#include <algorithm>
#include <array>
#include <utility>

#include "harness/emulator/ptx/constants.h"
#include "harness/emulator/ptx/function_parser.h"

namespace warpgauge::emulator::ptx {

Function FunctionParser::parse(bool is_kernel) {
  function_.is_kernel = is_kernel;
  module_.source_lines.begin_function();
  parse_head();
  if (!stream_.accept(";")) parse_body();
  return std::move(function_);
}

void FunctionParser::parse_head() {
  parse_head_directives();
  if (stream_.at("(")) parse_signature(function_.results);
  name_ = stream_.expect(Token::Kind::name, "the name of a function");
  function_.name = name_.text;
  function_.text_line = name_.line;
  if (stream_.at("(")) parse_signature(function_.parameters);
  parse_head_directives();
}

void FunctionParser::parse_signature(std::vector<Variable>& where) {
  for (DeclaredVariable& parsed : parse_parameters(stream_)) {
    Variable& variable = parsed.declared;
    if (variable.name != "_") variable.name = declare(parsed.at, variable.name, 0);
    if (variable.space == Space::reg) {
      function_.registers.push_back({variable.name, variable.type});
    }
    where.push_back(std::move(variable));
  }
}

void FunctionParser::parse_head_directives() {
  while (stream_.at(Token::Kind::dotted)) {
    const Token word = stream_.take();
    if (parse_head_directive(word.text)) continue;
    stream_.fail(word, "`" + std::string(word.text) + "` is not known at the head of a function",
                 "Known are the directives of PTX ISA 9 for functions, such as .maxntid 256.");
  }
}

/// Whether it is known. How threads are spread over hardware does not matter here; how many there
/// may be does.
bool FunctionParser::parse_head_directive(std::string_view word) {
  constexpr std::array<std::string_view, 3> kBare = {".noreturn", ".explicitcluster",
                                                     ".blocksareclusters"};
  constexpr std::array<std::string_view, 7> kWithNumbers = {
      ".minnctapersm", ".maxnctapersm",         ".maxnreg", ".maxclusterrank",
      ".abi_preserve", ".abi_preserve_control", ".language"};
  if (word == ".maxntid") {
    function_.max_threads = parse_numbers();
  } else if (word == ".reqntid") {
    function_.required_threads = parse_numbers();
  } else if (word == ".reqnctapercluster") {
    function_.cluster = parse_numbers();
  } else if (word == ".pragma") {
    parse_pragma(stream_);
  } else if (word == ".attribute") {
    skip_attributes(stream_);
  } else if (std::ranges::find(kWithNumbers, word) != kWithNumbers.end()) {
    parse_numbers();
  } else {
    return std::ranges::find(kBare, word) != kBare.end();
  }
  return true;
}

/// One to three, with commas.
std::vector<std::uint32_t> FunctionParser::parse_numbers() {
  constexpr std::size_t kDimensions = 3;
  std::vector<std::uint32_t> numbers;
  do {
    if (numbers.size() == kDimensions) stream_.fail_expected("at most three numbers");
    numbers.push_back(static_cast<std::uint32_t>(
        parse_count(stream_, "the argument of a directive", UINT32_MAX)));
  } while (stream_.accept(","));
  return numbers;
}

std::vector<std::string_view> parse_pragma(TokenStream& stream) {
  std::vector<std::string_view> strings;
  do {
    strings.push_back(stream.expect(Token::Kind::string, "a string after .pragma").text);
  } while (stream.accept(","));
  stream.expect(";", "after .pragma");
  return strings;
}

}  // namespace warpgauge::emulator::ptx
