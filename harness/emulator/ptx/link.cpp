// Links modules that were compiled apart into one.
#include "harness/emulator/ptx/link.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "harness/emulator/ptx/operands.h"

namespace warpgauge::emulator::ptx {
namespace {

bool is_own(const Variable& variable) { return !variable.is_visible && !variable.is_extern; }
bool is_own(const Function& function) { return !function.is_visible && function.has_body; }

/// How many modules define each name.
std::unordered_map<std::string, int> count_definitions(const std::vector<ModuleToLink>& modules) {
  std::unordered_map<std::string, int> counts;
  for (const auto& [module, lines] : modules) {
    for (const Variable& variable : module.variables) {
      if (!variable.is_extern) ++counts[variable.name];
    }
    for (const Function& function : module.functions) {
      if (function.has_body) ++counts[function.name];
    }
  }
  return counts;
}

/// Calls `visit` with each place of the module that holds a name of a variable or function.
template <typename Visit>
void for_each_use(Module& module, const Visit& visit) {
  for (Variable& variable : module.variables) {
    visit(variable.name);
    for (Variable::Relocation& relocation : variable.relocations) visit(relocation.name);
  }
  for (Function& function : module.functions) {
    visit(function.name);
    for (Instruction& instruction : function.body) {
      for (Operand& operand : instruction.operands) for_each_name(operand, visit);
    }
    for (TargetList& list : function.target_lists) std::ranges::for_each(list.targets, visit);
  }
}

/// Gives what is the module's own, and has a name that others have too, a name of its own.
void rename_own(Module& module, std::size_t number,
                const std::unordered_map<std::string, int>& definitions) {
  std::unordered_map<std::string, std::string> names;
  const auto rename = [&](const auto& item) {
    if (is_own(item) && definitions.at(item.name) > 1) {
      names[item.name] = item.name + "#" + std::to_string(number) + "m";
    }
  };
  std::ranges::for_each(module.variables, rename);
  std::ranges::for_each(module.functions, rename);
  if (names.empty()) return;
  for_each_use(module, [&](std::string& name) {
    if (const auto found = names.find(name); found != names.end()) name = found->second;
  });
}

void move_lines(Module& module, int text_lines, int source_lines) {
  for (Variable& variable : module.variables) variable.text_line += text_lines;
  for (Function& function : module.functions) {
    function.text_line += text_lines;
    for (Variable& variable : function.variables) variable.text_line += text_lines;
    for (Instruction& instruction : function.body) {
      instruction.text_line += text_lines;
      if (instruction.source_line >= 0) instruction.source_line += source_lines;
    }
  }
}

/// Adds the items whose names are new, and replaces what is only declared by what is defined.
template <typename Item, typename IsDefined>
void add(std::vector<Item>& all, std::vector<Item>& items, const IsDefined& is_defined) {
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < all.size(); ++i) known[all[i].name] = i;
  for (Item& item : items) {
    const auto [place, is_new] = known.try_emplace(item.name, all.size());
    if (is_new) {
      all.push_back(std::move(item));
    } else if (!is_defined(all[place->second]) && is_defined(item)) {
      all[place->second] = std::move(item);
    }
  }
}

}  // namespace

Module link(std::vector<ModuleToLink> modules, std::string_view file) {
  Module linked;
  linked.file = file;
  const auto definitions = count_definitions(modules);
  int lines_before = 0;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    Module& module = modules[i].module;
    rename_own(module, i, definitions);
    move_lines(module, lines_before, static_cast<int>(linked.source_lines.size()));
    lines_before += modules[i].text_lines;
    const auto version = std::pair(module.version_major, module.version_minor);
    if (version > std::pair(linked.version_major, linked.version_minor)) {
      std::tie(linked.version_major, linked.version_minor) = version;
    }
    if (linked.target.empty()) linked.target = module.target;
    add(linked.variables, module.variables,
        [](const Variable& variable) { return !variable.is_extern; });
    add(linked.functions, module.functions,
        [](const Function& function) { return function.has_body; });
    const int before = static_cast<int>(linked.source_lines.size());
    for (SourceLine& line : module.source_lines) {
      if (line.caller >= 0) line.caller += before;
      linked.source_lines.push_back(std::move(line));
    }
  }
  return linked;
}

}  // namespace warpgauge::emulator::ptx
