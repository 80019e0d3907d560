// From .loc and .file to the line of source that an instruction belongs to.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "harness/emulator/ptx/module.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::ptx {

/// Collects .loc while functions are parsed; .file, which gives the paths, follows them.
class SourceLines {
 public:
  struct Place {
    int file = 0, line = 0, column = 0;
    auto operator<=>(const Place&) const = default;
  };

  void add_file(int number, const std::string& path);

  void begin_function();
  void add(Place place) { add(place, -1); }
  /// `inlined_at` names the .loc of the call: the last one with these numbers.
  void add_inlined(Place place, Place inlined_at);
  int current() const { return current_; }  ///< for Instruction::source_line; -1: no .loc yet

  /// Replaces what current() gave in all instructions of `module` by lines of source, and fills
  /// `module.source_lines` with those that are used and their callers.
  void resolve(Module& module) const;

 private:
  struct Location {
    Place place;
    int caller;  // index into locations_; -1: none
  };
  void add(Place place, int caller);
  std::vector<bool> used_by(const Module& module) const;

  std::unordered_map<int, std::string> files_;
  std::vector<Location> locations_;
  std::map<Place, int> latest_;  // of this function
  int current_ = -1;
};

/// The line to blame for an instruction of the module; its file is empty where it is not known.
metrics::SourceLine line_of(const Instruction& instruction, const Module& module);

}  // namespace warpgauge::emulator::ptx
