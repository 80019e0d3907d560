// A PTX module: versions, variables, functions, and sections that are skipped.
#include <algorithm>
#include <array>
#include <climits>
#include <unordered_map>
#include <utility>

#include "harness/emulator/ptx/constants.h"
#include "harness/emulator/ptx/declarations.h"
#include "harness/emulator/ptx/function_parser.h"
#include "harness/emulator/ptx/operands.h"
#include "harness/emulator/ptx/token_stream.h"

namespace warpgauge::emulator::ptx {
namespace {

/// .extern, .visible, .weak, .common in front of a variable or function.
struct Linkage {
  bool is_extern = false;
  bool is_visible = false;
};

/// A decimal number of few digits; -1 for anything else.
int read_decimal(std::string_view digits) {
  constexpr std::size_t kMostDigits = 9;
  if (digits.empty() || digits.size() > kMostDigits) return -1;
  int value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return -1;
    value = value * 10 + (digit - '0');
  }
  return value;
}

class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string_view file)
      : stream_(text, file), scope_(text.size()) {
    module_.file = file;
  }

  Module parse() {
    parse_version();
    parse_target();
    while (!stream_.at(Token::Kind::end)) parse_item();
    module_.variables = std::move(scope_.variables);
    if (!aliases_.empty()) replace_aliases();
    scope_.source_lines.resolve(module_);
    return std::move(module_);
  }

 private:
  void parse_version() {
    constexpr int kNewestMajor = 9;
    if (!stream_.at(".version")) {
      stream_.fail(stream_.peek(), "this is not PTX: it does not begin with .version",
                   "Give the text that `nvcc -ptx` writes, or that `cuobjdump -ptx` shows.");
    }
    stream_.take();
    const Token version = stream_.expect(Token::Kind::number, "a version such as 9.0");
    const auto bad = [&](std::string_view problem) {
      stream_.fail(version, problem, "Versions 1.0 to 9.x are read: what nvcc up to 13 writes.");
    };
    const std::size_t point = version.text.find('.');
    if (point == std::string_view::npos) bad("expected a version such as 9.0");
    module_.version_major = read_decimal(version.text.substr(0, point));
    module_.version_minor = read_decimal(version.text.substr(point + 1));
    if (module_.version_major < 1 || module_.version_minor < 0) bad("this is not a version of PTX");
    if (module_.version_major > kNewestMajor) bad("this version of PTX is too new");
  }

  void parse_target() {
    stream_.expect(".target", "after the version");
    module_.target = stream_.expect(Token::Kind::name, "an architecture such as sm_90").text;
    while (stream_.accept(",")) stream_.expect(Token::Kind::name, "an option of .target");
  }

  void parse_item() {
    const Token word = stream_.expect(Token::Kind::dotted, "a directive");
    if (word.text == ".address_size") return parse_address_size();
    if (word.text == ".file") return parse_file();
    if (word.text == ".section") return skip_section();
    if (word.text == ".nv_intermediate_source_section") return skip_source_section();
    if (word.text == ".pragma") return static_cast<void>(parse_pragma(stream_));
    if (word.text == ".alias") return parse_alias();
    parse_declaration(word);
  }

  void parse_address_size() {
    const Token start = stream_.peek();
    if (parse_count(stream_, "the size of an address", 64) == 64) return;
    stream_.fail(start, "addresses of 32 bits are not supported", "Compile for 64 bits.");
  }

  /// .file 1 "path" with, in old texts, time stamp and size behind it.
  void parse_file() {
    const Token start = stream_.expect(Token::Kind::number, "a file number");
    const int number = read_decimal(start.text);
    if (number < 0) stream_.fail(start, "this is not a file number", "Use 1, 2, 3, ...");
    const Token path = stream_.expect(Token::Kind::string, "the path of a file");
    scope_.source_lines.add_file(number, std::string(path.text));
    while (stream_.accept(",")) stream_.expect(Token::Kind::number, "a number of .file");
  }

  /// Debug information: it changes nothing about what the code does.
  void skip_section() {
    if (!stream_.at(Token::Kind::name) && !stream_.at(Token::Kind::dotted)) {
      stream_.fail_expected("the name of a section");
    }
    stream_.take();
    const Token brace = stream_.expect("{", "after the name of a section");
    while (!stream_.at("}")) {
      if (stream_.at(Token::Kind::end)) fail_section(brace);
      stream_.take();
    }
    stream_.take();
  }

  /// { .code_block { .ir_name: "tile ir" .sourceFileName: 2 .source_begin TEXT .source_end } }:
  /// what a compiler like cuTile's made the PTX of, in its own language.
  void skip_source_section() {
    const Token brace = stream_.expect("{", "after .nv_intermediate_source_section");
    for (int depth = 1; depth > 0;) {
      if (stream_.at(".source_begin")) {
        stream_.skip_behind(".source_end");
        continue;
      }
      if (stream_.at(Token::Kind::end)) fail_section(brace);
      if (stream_.at("{")) ++depth;
      if (stream_.at("}")) --depth;
      stream_.take();
    }
  }

  [[noreturn]] void fail_section(const Token& brace) {
    stream_.fail(brace, "a section that never ends", "The text is cut off: compile it again.");
  }

  /// .alias name, function;
  void parse_alias() {
    const Token alias = stream_.expect(Token::Kind::name, "the name of an alias");
    stream_.expect(",", "after the name of an alias");
    const Token target = stream_.expect(Token::Kind::name, "the function that an alias stands for");
    stream_.expect(";", "after .alias");
    const bool both = functions_.contains(std::string(alias.text)) &&
                      functions_.contains(std::string(target.text));
    if (!both || aliases_.contains(std::string(target.text)) || alias.text == target.text) {
      stream_.fail(alias, "an alias of another alias, or of something that is not a function",
                   "Declare both functions before .alias.");
    }
    aliases_[std::string(alias.text)] = target.text;
  }

  void parse_declaration(Token word) {
    constexpr std::array<std::string_view, 4> kLinkages = {".extern", ".visible", ".weak",
                                                           ".common"};
    Linkage linkage;
    while (std::ranges::find(kLinkages, word.text) != kLinkages.end()) {
      if (word.text == ".extern") linkage.is_extern = true;
      if (word.text != ".extern") linkage.is_visible = true;
      word = stream_.expect(Token::Kind::dotted, "a variable or function");
    }
    if (word.text == ".func" || word.text == ".entry") {
      return add_function(word.text == ".entry", linkage);
    }
    const auto space = space_from(word);
    if (space && *space != Space::local && *space != Space::param) {
      return add_variables(*space, linkage);
    }
    stream_.fail(word, "`" + std::string(word.text) + "` is not known outside of functions",
                 "Known are .entry, .func, .global, .const, .shared, .file, .section, .pragma and "
                 ".alias, with .extern, .visible, .weak and .common.");
  }

  void add_variables(Space space, Linkage linkage) {
    for (DeclaredVariable& parsed : parse_variables(stream_, space, scope_.allowance)) {
      Variable& variable = parsed.declared;
      variable.is_extern = linkage.is_extern;
      variable.is_visible = linkage.is_visible;
      const auto [known, added] = variables_.try_emplace(variable.name, scope_.variables.size());
      if (!added) {
        merge(parsed, known->second);
      } else if (!scope_.names.insert(variable.name).second) {
        fail_twice(parsed.at);
      } else {
        scope_.variables.push_back(std::move(variable));
      }
    }
  }

  /// A variable may be declared several times: the declaration that is not .extern counts.
  void merge(DeclaredVariable& parsed, std::size_t index) {
    Variable& known = scope_.variables[index];
    if (!known.is_extern && !parsed.declared.is_extern) fail_twice(parsed.at);
    if (known.is_extern) known = std::move(parsed.declared);
  }

  /// A function may be declared any number of times and has one body.
  void add_function(bool is_kernel, Linkage linkage) {
    FunctionParser parser(stream_, scope_);
    Function function = parser.parse(is_kernel);
    function.is_visible = linkage.is_visible;
    const auto [known, added] = functions_.try_emplace(function.name, module_.functions.size());
    if (added) {
      if (variables_.contains(function.name)) fail_twice(parser.name());
      scope_.names.insert(function.name);
      module_.functions.push_back(std::move(function));
      return;
    }
    Function& declared = module_.functions[known->second];
    if (declared.has_body && function.has_body) fail_twice(parser.name());
    if (!declared.has_body) declared = std::move(function);
  }

  [[noreturn]] void fail_twice(const Token& name) {
    stream_.fail(name, "`" + std::string(name.text) + "` is defined twice",
                 "Rename one of the two, or mark the declaration of the other .extern.");
  }

  /// Uses of an alias become uses of the function; the alias itself is gone.
  void replace_aliases() {
    const auto replace = [this](std::string& name) {
      const auto alias = aliases_.find(name);
      if (alias != aliases_.end()) name = alias->second;
    };
    std::erase_if(module_.functions,
                  [this](const Function& function) { return aliases_.contains(function.name); });
    for (Function& function : module_.functions) {
      for (Instruction& instruction : function.body) {
        for (Operand& operand : instruction.operands) for_each_name(operand, replace);
      }
      for (TargetList& list : function.target_lists) {
        std::ranges::for_each(list.targets, replace);
      }
    }
    for (Variable& variable : module_.variables) {
      for (Variable::Relocation& relocation : variable.relocations) replace(relocation.name);
    }
  }

  TokenStream stream_;
  Module module_;
  ModuleScope scope_;
  std::unordered_map<std::string, std::size_t> variables_, functions_;  // index by name
  std::unordered_map<std::string, std::string> aliases_;
};

}  // namespace

Module parse(std::string_view text, std::string_view file) {
  while (text.ends_with('\0')) text.remove_suffix(1);  // as texts in fat binaries end
  return ModuleParser(text, file).parse();
}

}  // namespace warpgauge::emulator::ptx
