// From .loc and .file to the line of source that an instruction belongs to.
#include "harness/emulator/ptx/source_lines.h"

#include <filesystem>
#include <string_view>
#include <tuple>

namespace warpgauge::emulator::ptx {

/// The same file as in the line table of a cubin: paths without dots.
void SourceLines::add_file(int number, const std::string& path) {
  files_[number] = std::filesystem::path(path).lexically_normal().string();
}

void SourceLines::begin_function() {
  latest_.clear();
  current_ = -1;
}

void SourceLines::add_inlined(Place place, Place inlined_at) {
  const auto [call, added] = latest_.try_emplace(inlined_at, static_cast<int>(locations_.size()));
  if (added) locations_.push_back({inlined_at, -1});
  add(place, call->second);
}

/// Line 0 marks code of no line: what was there before goes on.
void SourceLines::add(Place place, int caller) {
  if (place.line == 0) return;
  current_ = static_cast<int>(locations_.size());
  locations_.push_back({place, caller});
  latest_[place] = current_;
}

/// The locations of instructions, and their callers. Callers come before what they call.
std::vector<bool> SourceLines::used_by(const Module& module) const {
  std::vector<bool> used(locations_.size());
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.body) {
      if (instruction.source_line >= 0) used[instruction.source_line] = true;
    }
  }
  for (std::size_t i = locations_.size(); i-- > 0;) {
    if (used[i] && locations_[i].caller >= 0) used[locations_[i].caller] = true;
  }
  return used;
}

void SourceLines::resolve(Module& module) const {
  std::unordered_map<int, bool> toolkit;
  for (const auto& [number, path] : files_) toolkit[number] = metrics::is_toolkit_header(path);
  const std::vector<bool> used = used_by(module);
  std::map<std::tuple<std::string_view, int, int, int>, int> lines;  // by place and caller
  std::vector<int> resolved(locations_.size(), -1);
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const auto& [place, caller] = locations_[i];
    if (!used[i]) continue;
    const int into = caller < 0 ? -1 : resolved[caller];
    const auto file = files_.find(place.file);
    if (file == files_.end()) {
      resolved[i] = into;
      continue;
    }
    const auto [line, added] = lines.try_emplace({file->second, place.line, place.column, into},
                                                 static_cast<int>(module.source_lines.size()));
    if (added) {
      module.source_lines.push_back(
          {file->second, place.line, place.column, toolkit[place.file], into});
    }
    resolved[i] = line->second;
  }
  for (Function& function : module.functions) {
    for (Instruction& instruction : function.body) {
      if (instruction.source_line >= 0) instruction.source_line = resolved[instruction.source_line];
    }
  }
}

metrics::SourceLine line_of(const Instruction& instruction, const Module& module) {
  std::vector<metrics::Frame> chain;
  const auto& lines = module.source_lines;
  for (int at = instruction.source_line; at >= 0 && static_cast<std::size_t>(at) < lines.size();
       at = lines[at].caller) {
    chain.push_back({lines[at].file, lines[at].line, lines[at].in_toolkit});
  }
  return metrics::line_to_blame(chain);
}

}  // namespace warpgauge::emulator::ptx
