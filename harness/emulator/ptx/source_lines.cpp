// From .loc and .file to the line of source that an instruction belongs to.
#include "harness/emulator/ptx/source_lines.h"

#include <string_view>
#include <utility>

#include "metrics/source_line.h"

namespace warpgauge::emulator::ptx {

void SourceLines::add_file(int number, std::string path) { files_[number] = std::move(path); }

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

/// For each location the innermost one on its chain of callers that is not in a header of the
/// toolkit; itself where all are. Callers come before the functions they call.
std::vector<int> SourceLines::outside_of_toolkit() const {
  std::unordered_map<int, bool> toolkit;
  for (const auto& [number, path] : files_) toolkit[number] = metrics::is_toolkit_header(path);
  std::vector<int> outside(locations_.size(), -1);
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const auto known = toolkit.find(locations_[i].place.file);
    const bool skipped = known != toolkit.end() && known->second;
    const int caller = locations_[i].caller;
    if (!skipped) outside[i] = static_cast<int>(i);
    if (skipped && caller >= 0) outside[i] = outside[caller];
  }
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    if (outside[i] < 0) outside[i] = static_cast<int>(i);
  }
  return outside;
}

void SourceLines::resolve(Module& module) const {
  const std::vector<int> outside = outside_of_toolkit();
  std::map<std::pair<std::string_view, int>, int> lines;
  std::vector<int> resolved(locations_.size(), -2);  // -2: not asked for yet
  const auto resolve_one = [&](int location) {
    const Place& place = locations_[outside[location]].place;
    const auto file = files_.find(place.file);
    if (file == files_.end()) return -1;
    const auto [line, added] =
        lines.try_emplace({file->second, place.line}, static_cast<int>(module.source_lines.size()));
    if (added) module.source_lines.push_back({file->second, place.line});
    return line->second;
  };
  for (Function& function : module.functions) {
    for (Instruction& instruction : function.body) {
      if (instruction.source_line < 0) continue;
      int& line = resolved[instruction.source_line];
      if (line == -2) line = resolve_one(instruction.source_line);
      instruction.source_line = line;
    }
  }
}

}  // namespace warpgauge::emulator::ptx
