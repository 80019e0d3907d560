// Facts about lines of source, by the lines' addresses.
#pragma once

#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "metrics/base/source_line.h"

namespace warpgauge::emulator::counting {

/// Launches of a kernel name the same lines again and again: what belongs to one is found by its
/// text once, and by its address from then on.
template <typename Known>
class KnownLines {
 public:
  /// Lines that `owner` holds stay where they are.
  void keep(std::shared_ptr<const void> owner) { owners_.insert(std::move(owner)); }
  /// The facts about a line that is kept; Known{} at first.
  Known& operator[](const metrics::SourceLine& line) { return known_[&line]; }

 private:
  std::unordered_map<const metrics::SourceLine*, Known> known_;
  std::set<std::shared_ptr<const void>> owners_;
};

}  // namespace warpgauge::emulator::counting
