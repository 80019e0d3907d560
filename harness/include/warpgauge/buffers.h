// Device buffers of a problem. They free themselves, have reproducible contents (never zeros), and
// are reset before each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "warpgauge/problem.h"

namespace warpgauge {

/// Device memory of a problem. In a dry run (see launch_log.h) it is an address that must not be
/// read or written.
class Buffer {
 public:
  /// Makes a member of `problem`, which must outlive it. Throws metrics::CudaError if the memory
  /// cannot be allocated.
  Buffer(Problem& problem, std::size_t bytes);
  virtual ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Restores the contents to those before a run.
  virtual void reset() = 0;
  /// Bytes that one read or write of the whole buffer moves.
  virtual double traffic() const { return static_cast<double>(bytes_); }

  /// Contents that a variant must not change.
  struct Kept {
    const void* contents = nullptr;  ///< on the host; valid as long as the buffer
    std::size_t element_bytes = 0;   ///< size of one element; 0: the variant may write to it
  };
  /// The contents that a variant must not change, if any.
  virtual Kept kept() const { return {}; }

 protected:
  void upload(const void* host) const;  ///< copies all of the buffer to the device
  void download(void* host) const;      ///< copies all of it to the host
  void poison() const;      ///< NaN in floating point, a value that is not likely in integers
  void* device_ = nullptr;  ///< its address on the device

 private:
  friend class Problem;
  std::size_t bytes_;
};

/// Reproducible values to test a kernel with: floating point in (-1, 1), integers from 1 up to
/// 32766 (125 for one-byte types) so that sums stay small. Never zero. For float, double and all
/// integers of 8 to 64 bits.
template <typename T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed);

/// The values of random_values() in memory that all buffers share, valid until the next call of
/// either function; nullptr if they are too many to keep.
template <typename T>
const T* kept_random_values(std::size_t count, std::uint32_t seed);

/// Elements of type T on the device, one after the other: a matrix is rows * columns of them. The
/// base of Input, Output and InOut.
template <typename T>
class TypedBuffer : public Buffer {
 public:
  /// Makes `count` elements, a member of `problem`.
  TypedBuffer(Problem& problem, std::size_t count)
      : Buffer(problem, count * sizeof(T)), count_(count) {}
  std::size_t count() const { return count_; }  ///< elements, not bytes

 protected:
  T* data() const { return static_cast<T*>(device_); }  ///< on the device

 private:
  std::size_t count_;
};

/// The contents of a buffer before a run: given, or random and made on first use (a dry run needs
/// none).
template <typename T>
class Contents {
 public:
  /// Contents with these values.
  explicit Contents(std::vector<T> values) : values_(std::move(values)), made_(true) {}
  /// Contents with random_values(count, seed).
  Contents(std::size_t count, std::uint32_t seed) : count_(count), seed_(seed) {}
  /// The values, one for each element of the buffer.
  const std::vector<T>& values() const {
    if (!made_) values_ = random_values<T>(count_, seed_);
    made_ = true;
    return values_;
  }
  /// The values in memory, valid until other contents are used. An upload thus needs no copy of its
  /// own.
  const T* data() const {
    const T* const kept = made_ ? nullptr : kept_random_values<T>(count_, seed_);
    return kept != nullptr ? kept : values().data();
  }

 private:
  mutable std::vector<T> values_;
  mutable bool made_ = false;
  std::size_t count_ = 0;
  std::uint32_t seed_ = 0;
};

/// A buffer that the variant only reads: to write to it is an error. Its contents are `values`, or
/// random and the same in every run. Types without random values need `values`.
template <typename T>
class Input : public TypedBuffer<T> {
 public:
  /// Makes `count` random elements: random_values(count, seed). Inputs of one type with one seed
  /// have the same elements, so that two need different seeds to differ. Throws metrics::CudaError
  /// if the memory cannot be allocated.
  Input(Problem& problem, std::size_t count, std::uint32_t seed = 1)
      : TypedBuffer<T>(problem, count), contents_(count, seed) {}
  /// Makes a buffer with these `values`, one for each element.
  Input(Problem& problem, std::vector<T> values)
      : TypedBuffer<T>(problem, values.size()), contents_(std::move(values)) {}
  void reset() override { this->upload(contents_.data()); }
  Buffer::Kept kept() const override { return {host().data(), sizeof(T)}; }
  /// The contents, for the reference.
  const std::vector<T>& host() const { return contents_.values(); }
  /// The address on the device, as an argument of a kernel.
  operator const T*() const { return this->data(); }

 private:
  Contents<T> contents_;
};

/// A buffer that the variant writes: Output(problem, count). It is poisoned before each run, so
/// that elements that are not written show: NaN in floating point, an unlikely value in integers.
/// What no comparison looks at may be scratch memory.
template <typename T>
class Output : public TypedBuffer<T> {
 public:
  using TypedBuffer<T>::TypedBuffer;
  void reset() override { this->poison(); }
  /// The address on the device, as an argument of a kernel.
  operator T*() { return this->data(); }
  /// Copies all values from the device, for a check of the results. Throws metrics::CudaError, also
  /// for a fault of a kernel before.
  std::vector<T> host() const {
    std::vector<T> values(this->count());
    this->download(values.data());
    return values;
  }
};

/// A buffer that the variant reads and writes. Its first contents are restored before each run.
template <typename T>
class InOut : public Output<T> {
 public:
  /// Makes `count` random elements, as those of an Input.
  InOut(Problem& problem, std::size_t count, std::uint32_t seed = 1)
      : Output<T>(problem, count), contents_(count, seed) {}
  /// Makes a buffer with these `values`, one for each element.
  InOut(Problem& problem, std::vector<T> values)
      : Output<T>(problem, values.size()), contents_(std::move(values)) {}
  void reset() override { this->upload(contents_.data()); }
  double traffic() const override { return 2 * Output<T>::traffic(); }
  /// The contents before a run, for the reference; host() has those after it.
  const std::vector<T>& initial() const { return contents_.values(); }

 private:
  Contents<T> contents_;
};

}  // namespace warpgauge
