// A problem at one size: the buffers a variant works on, and the check of what it made.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace warpgauge {

class Buffer;
class Comparison;

/// The size of a problem: its extents, slowest first. Written "1000x700" in ids.
class Size {
 public:
  Size(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  std::int64_t operator[](std::size_t i) const { return extents_.at(i); }
  std::int64_t count() const;  ///< product of the extents
  std::string str() const;

 private:
  std::vector<std::int64_t> extents_;
};

/// Derive from it, hold Input, Output and InOut members, and check them. A problem is made anew
/// for each case, from its Size.
class Problem {
 public:
  Problem() = default;
  virtual ~Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// Compares the outputs with the CPU reference. Called once, after the variant has run.
  virtual void check(Comparison& comparison) const = 0;

  /// Brings every buffer to its state before a run: inputs uploaded, outputs poisoned.
  void reset();

 private:
  friend class Buffer;
  std::vector<Buffer*> buffers_;
};

}  // namespace warpgauge
