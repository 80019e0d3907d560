// .entry and .func: head and body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "harness/emulator/ptx/declarations.h"
#include "harness/emulator/ptx/module.h"
#include "harness/emulator/ptx/scopes.h"
#include "harness/emulator/ptx/source_lines.h"
#include "harness/emulator/ptx/token_stream.h"

namespace warpgauge::emulator::ptx {

/// The scope outside of functions while they are parsed.
struct ModuleScope {
  explicit ModuleScope(std::size_t text_bytes) : allowance(text_bytes) {}

  std::unordered_set<std::string> names;  ///< variables and functions
  std::vector<Variable> variables;
  SourceLines source_lines;
  Allowance allowance;
};

class FunctionParser {
 public:
  FunctionParser(TokenStream& stream, ModuleScope& module) : stream_(stream), module_(module) {}

  /// Parses what follows .entry (`is_kernel`) or .func, up to the end of the body or the semicolon.
  Function parse(bool is_kernel);

  /// The place of the function's name.
  const Token& name() const { return name_; }

 private:
  // function_head.cpp
  void parse_head();
  void parse_head_directives();
  bool parse_head_directive(std::string_view word);
  std::vector<std::uint32_t> parse_numbers();
  void parse_signature(std::vector<Variable>& where);

  // function_body.cpp
  void parse_body();
  void parse_statement();
  void open_block();
  void parse_directive();
  void take_pragma(const Token& word);
  void parse_location();
  SourceLines::Place parse_place();
  void declare_registers();
  void declare_elements(const std::string& name, Type type, std::uint32_t lanes);
  void declare_variables(Space space, bool is_extern);
  void parse_labelled(const Token& label);
  std::vector<std::string> parse_targets();
  Prototype parse_prototype();
  void parse_instruction(const Token& opcode, std::optional<Operand> guard);
  std::string declare(const Token& at, std::string_view name, std::size_t from);
  void resolve_names();
  void expand_vectors(Operand& operand);

  TokenStream& stream_;
  ModuleScope& module_;
  Function function_;
  Token name_;
  Scopes scopes_;
  std::uint32_t used_bytes_ = UINT32_MAX;             // of the next instruction
  std::unordered_map<std::string, Operand> vectors_;  // registers of vector types
  std::vector<int> scope_of_;                         // of each instruction
  std::vector<int> scope_of_targets_;                 // of each target list
};

/// The strings of a .pragma, to the end of its semicolon.
std::vector<std::string_view> parse_pragma(TokenStream& stream);

}  // namespace warpgauge::emulator::ptx
