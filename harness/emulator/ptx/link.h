// Makes one module of several that were compiled apart (nvcc -rdc=true).
#pragma once

#include <string_view>
#include <vector>

#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::ptx {

/// A module with the number of lines of its text.
struct ModuleToLink {
  Module module;
  int text_lines = 0;
};

/// A symbol that one module declares .extern and another defines is one thing afterwards;
/// of several definitions (.weak) the first counts; names that are a module's own are distinguished
/// by "#" and the number of the module. Lines of text are those of all texts, one below the other.
/// `file` names the result in errors.
Module link(std::vector<ModuleToLink> modules, std::string_view file);

}  // namespace warpgauge::emulator::ptx
