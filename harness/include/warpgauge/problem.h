// A problem at one size: the buffers a variant works on, and the check of its results.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <utility>
#include <vector>

namespace warpgauge {

class Buffer;
class Comparison;

/// The size of a problem: its extents, slowest first. Written "1000x700" in ids.
class Size {
 public:
  /// Makes a size of any number of extents: {rows, columns}.
  Size(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  /// The same from a vector.
  explicit Size(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}
  /// The extent `i`, from 0; throws std::out_of_range if there are not so many.
  std::int64_t operator[](std::size_t i) const { return extents_.at(i); }
  /// All extents.
  const std::vector<std::int64_t>& extents() const { return extents_; }
  std::int64_t count() const;  ///< product of the extents
  std::string str() const;     ///< "1000x700"
  /// True if the size is too large for the emulator: cases of this size run only with --large.
  bool is_large() const { return large_; }

 private:
  friend Size large(Size size);
  std::vector<std::int64_t> extents_;
  bool large_ = false;
};

/// Marks a size that is meant for GPUs and benchmarks: {{1000, 700}, large({16384, 16384})}.
inline Size large(Size size) {
  size.large_ = true;
  return size;
}

/// Derive from it, hold Input, Output and InOut members, and check them. A problem is made
/// for each case, from its Size.
class Problem {
 public:
  Problem() = default;
  virtual ~Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// Compares the outputs with the CPU reference. Called once, after the variant has run, while the
  /// device is idle.
  virtual void check(Comparison& comparison) const = 0;

  /// Restores state outside of buffers, such as constant memory and textures, to that before a run.
  /// Called at the end of each reset(); never in a dry run, which only records launches and has no
  /// device.
  virtual void prepare() {}

  /// Bytes that any solution must move to and from device memory: every buffer once, InOut twice. A
  /// run whose traffic is counted and is less has not done its work, which is an error.
  virtual double bytes() const;
  /// Arithmetic operations that any solution must do in one run, for the speeds in the tables of
  /// warpgauge-bench; 0 if the problem is not about arithmetic.
  virtual double flops() const { return 0; }

  /// Solves the problem on the CPU, by plain code of one thread: the times of kernels are compared
  /// with its time in the tables of warpgauge-bench. It is called several times, and stores its
  /// results in memory of the problem. Returns false, without any work, if there is no such code or
  /// if it would take minutes at this size.
  virtual bool solve_sequentially() { return false; }

  /// Restores every buffer to its state before a run: poisons outputs, uploads inputs. An Input is
  /// uploaded once, because no variant may change it.
  void reset();

  /// Names the Input that a run has changed, and the place; empty if none has changed.
  std::string overwritten_input() const;

 private:
  friend class Buffer;
  std::vector<Buffer*> buffers_;
  bool has_inputs_ = false;  // they are uploaded
};

}  // namespace warpgauge
