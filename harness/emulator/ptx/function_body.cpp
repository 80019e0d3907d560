// .entry and .func: declarations, labels and instructions of the body.
#include <algorithm>
#include <charconv>
#include <climits>
#include <utility>

#include "harness/emulator/ptx/constants.h"
#include "harness/emulator/ptx/function_parser.h"
#include "harness/emulator/ptx/operands.h"

namespace warpgauge::emulator::ptx {

void FunctionParser::parse_body() {
  function_.has_body = true;
  stream_.expect("{", "or `;` after the head of a function");
  module_.names.insert(function_.name);
  while (scopes_.depth() > 0 || !stream_.at("}")) parse_statement();
  stream_.take();
  if (scopes_.renamed()) resolve_names();
  if (vectors_.empty()) return;
  for (Instruction& instruction : function_.body) {
    for (Operand& operand : instruction.operands) expand_vectors(operand);
  }
}

void FunctionParser::parse_statement() {
  if (stream_.at(Token::Kind::dotted)) return parse_directive();
  if (stream_.at("{")) return open_block();
  if (stream_.accept("}")) return scopes_.close();
  std::optional<Operand> guard;
  if (stream_.accept("@")) guard = parse_guard(stream_);
  const Token word = stream_.expect(
      Token::Kind::name, guard ? "an instruction" : "an instruction, a label, a directive or `}`");
  if (!guard && stream_.accept(":")) return parse_labelled(word);
  parse_instruction(word, std::move(guard));
}

/// Looking a name up takes as many steps as there are blocks around it: few.
void FunctionParser::open_block() {
  if (scopes_.depth() == kDeepestNesting) stream_.fail_nesting();
  stream_.take();
  scopes_.open();
}

void FunctionParser::parse_directive() {
  const Token word = stream_.take();
  if (word.text == ".loc") return parse_location();
  if (word.text == ".pragma") return take_pragma(word);
  if (word.text == ".reg") return declare_registers();
  const bool is_extern = word.text == ".extern";
  const auto space = space_from(is_extern ? stream_.take() : word);
  if (space) return declare_variables(*space, is_extern);
  stream_.fail(word, "`" + std::string(word.text) + "` is not known in the body of a function",
               "Known are .reg, .local, .shared, .param, .global, .const, .loc and .pragma.");
}

/// .pragma "used_bytes_mask 4095", of the load that follows. Others change nothing here, and 0
/// neither, with which nvcc marks a load whose value nothing uses.
void FunctionParser::take_pragma(const Token& word) {
  for (const std::string_view text : parse_pragma(stream_)) {
    constexpr std::string_view kUsedBytes = "used_bytes_mask ";
    if (!text.starts_with(kUsedBytes)) continue;
    const std::string_view mask = text.substr(kUsedBytes.size());
    const bool is_hexadecimal = mask.starts_with("0x");
    const char* const begin = mask.data() + (is_hexadecimal ? 2 : 0);
    const char* const end = mask.data() + mask.size();
    const auto [stop, error] = std::from_chars(begin, end, used_bytes_, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end) {
      stream_.fail(word, "`" + std::string(text) + "` has no mask of bytes",
                   "It is a number of 32 bits.");
    }
    if (used_bytes_ == 0) used_bytes_ = UINT32_MAX;
  }
}

/// .loc 2 40 7, function_name $L__info_string0, inlined_at 1 24 3
void FunctionParser::parse_location() {
  const SourceLines::Place place = parse_place();
  if (!stream_.accept(",")) return module_.source_lines.add(place);
  const auto expect_word = [this](std::string_view word) {
    const bool there = stream_.at(Token::Kind::name) && stream_.peek().text == word;
    if (!there) stream_.fail_expected("`" + std::string(word) + "` of .loc");
    stream_.take();
  };
  expect_word("function_name");
  stream_.expect(Token::Kind::name, "a label after function_name");
  if (stream_.accept("+")) parse_count(stream_, "an offset", INT_MAX);
  stream_.expect(",", "after function_name");
  expect_word("inlined_at");
  module_.source_lines.add_inlined(place, parse_place());
}

SourceLines::Place FunctionParser::parse_place() {
  const auto number = [this](std::string_view what) {
    if (!stream_.at(Token::Kind::number)) stream_.fail_expected(what);
    return static_cast<int>(parse_count(stream_, what, INT_MAX));
  };
  const int file = number("the file number of .loc");
  const int line = number("the line of .loc");
  return {file, line, number("the column of .loc")};
}

void FunctionParser::declare_registers() {
  for (const DeclaredRegister& parsed : parse_registers(stream_, module_.allowance)) {
    const auto& [written, type] = parsed.declared;
    std::string name = declare(parsed.at, written, function_.body.size());
    if (parsed.lanes == 1) {
      function_.registers.push_back({std::move(name), type});
    } else {
      declare_elements(name, type, parsed.lanes);
    }
  }
}

/// .reg .v2 .f32 v; has the registers v.x and v.y, and v itself means {v.x, v.y}.
void FunctionParser::declare_elements(const std::string& name, Type type, std::uint32_t lanes) {
  Operand& vector = vectors_[name];
  vector.kind = Operand::Kind::vector;
  for (const char element : std::string_view("xyzw").substr(0, lanes)) {
    function_.registers.push_back({name + '.' + element, type});
    vector.elements.emplace_back().name = function_.registers.back().name;
  }
}

void FunctionParser::declare_variables(Space space, bool is_extern) {
  const bool of_module = space == Space::global || space == Space::constant;
  for (DeclaredVariable& parsed : parse_variables(stream_, space, module_.allowance)) {
    Variable& variable = parsed.declared;
    variable.is_extern = is_extern;
    if (of_module && module_.names.contains(variable.name)) {
      stream_.fail(parsed.at, "`" + variable.name + "` is declared in several places",
                   "A .global or .const variable in the body of a function is one of the module: "
                   "give it a name of its own.");
    }
    variable.name = declare(parsed.at, variable.name, function_.body.size());
    if (of_module) module_.names.insert(variable.name);
    (of_module ? module_.variables : function_.variables).push_back(std::move(variable));
  }
}

/// Parses what follows `label:`. A table of targets or a prototype takes the label as its name.
void FunctionParser::parse_labelled(const Token& label) {
  std::string name = declare(label, label.text, 0);
  if (stream_.at(".branchtargets") || stream_.at(".calltargets")) {
    stream_.take();
    function_.target_lists.push_back({std::move(name), parse_targets()});
    scope_of_targets_.push_back(scopes_.current());
  } else if (stream_.accept(".callprototype")) {
    function_.prototypes.push_back(parse_prototype());
    function_.prototypes.back().name = std::move(name);
  } else {
    function_.labels.push_back({std::move(name), function_.body.size()});
  }
}

std::vector<std::string> FunctionParser::parse_targets() {
  std::vector<std::string> targets;
  do {
    targets.emplace_back(stream_.expect(Token::Kind::name, "a label or function").text);
  } while (stream_.accept(","));
  stream_.expect(";", "after the targets");
  return targets;
}

/// (.param .b32 _) _ (.param .b64 _, .param .b32 _);
Prototype FunctionParser::parse_prototype() {
  const auto parse_list = [this] {
    std::vector<Variable> variables;
    for (DeclaredVariable& parsed : parse_parameters(stream_)) {
      variables.push_back(std::move(parsed.declared));
    }
    return variables;
  };
  Prototype prototype;
  if (stream_.at("(")) prototype.results = parse_list();
  stream_.expect(Token::Kind::name, "`_` in a prototype");
  if (stream_.at("(")) prototype.parameters = parse_list();
  parse_head_directives();
  stream_.expect(";", "after a prototype");
  return prototype;
}

void FunctionParser::parse_instruction(const Token& opcode, std::optional<Operand> guard) {
  Instruction instruction;
  instruction.opcode = opcode.text;
  instruction.guard = std::move(guard);
  instruction.text_line = opcode.line;
  instruction.source_line = module_.source_lines.current();
  instruction.used_bytes = std::exchange(used_bytes_, UINT32_MAX);
  const auto take_modifiers = [&] {
    while (stream_.at(Token::Kind::dotted)) {
      instruction.modifiers.emplace_back(stream_.take().text.substr(1));
    }
  };
  take_modifiers();
  if (!stream_.at(";")) {
    do {
      instruction.operands.push_back(parse_operand(stream_, instruction.opcode == "call"));
      take_modifiers();  // [a].unified
    } while (stream_.accept(","));
  }
  stream_.expect(";", "at the end of the instruction");
  function_.body.push_back(std::move(instruction));
  scope_of_.push_back(scopes_.current());
}

std::string FunctionParser::declare(const Token& at, std::string_view name, std::size_t from) {
  auto unique = scopes_.declare(name, from, module_.names.contains(std::string(name)));
  if (unique) return std::move(*unique);
  stream_.fail(at, "`" + std::string(name) + "` is declared twice in this block",
               "Rename one of the two, or put inline asm that declares names into { }.");
}

/// Names in operands become those of the declarations that they mean.
void FunctionParser::resolve_names() {
  const auto resolve = [this](std::string& name, int scope, std::size_t position) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string* unique = scopes_.find(name.substr(0, dot), scope, position);
    if (unique == nullptr) return;
    const bool of_special_register = dot < name.size() && !vectors_.contains(*unique);  // %tid.x
    if (!of_special_register) name.replace(0, dot, *unique);
  };
  for (std::size_t i = 0; i < function_.body.size(); ++i) {
    Instruction& instruction = function_.body[i];
    const auto visit = [&](std::string& name) { resolve(name, scope_of_[i], i); };
    if (instruction.guard) for_each_name(*instruction.guard, visit);
    for (Operand& operand : instruction.operands) for_each_name(operand, visit);
  }
  for (std::size_t i = 0; i < function_.target_lists.size(); ++i) {
    for (std::string& target : function_.target_lists[i].targets) {
      resolve(target, scope_of_targets_[i], function_.body.size());
    }
  }
}

void FunctionParser::expand_vectors(Operand& operand) {
  for (Operand& element : operand.elements) expand_vectors(element);
  if (operand.kind != Operand::Kind::name) return;
  const auto vector = vectors_.find(operand.name);
  if (vector != vectors_.end()) operand = vector->second;
}

}  // namespace warpgauge::emulator::ptx
