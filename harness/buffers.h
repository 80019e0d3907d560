// Device buffers of a problem. They free themselves, come with reproducible contents (never
// zeros), and are brought back to their first state before each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/problem.h"

namespace warpgauge {

/// Device memory of a problem. In a dry run (see launch_log.h) it is an address that nothing may
/// be read from or written to.
class Buffer {
 public:
  Buffer(Problem& problem, std::size_t bytes);
  virtual ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Brings the contents to what they are before a run.
  virtual void reset() = 0;

 protected:
  void upload(const void* host) const;
  void download(void* host) const;
  void poison() const;  ///< fills with 0xff bytes: NaN in floating point, -1 in integers
  void* device_ = nullptr;

 private:
  std::size_t bytes_;
};

/// Reproducible values to test a kernel with: floating point in (-1, 1), integers from 1 up to
/// 32766 (125 for one-byte types) so that sums stay small. Never zero.
template <typename T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    // 24 random bits and a half: exact in float, and never the middle of the interval.
    const double unit = ((engine() >> 8) + 0.5) / (1 << 24);
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(2 * unit - 1);
    } else {
      constexpr int kSpan = sizeof(T) == 1 ? 125 : 32766;
      value = static_cast<T>(1 + static_cast<int>(unit * kSpan));
    }
  }
  return values;
}

/// Elements of type T on the device.
template <typename T>
class TypedBuffer : public Buffer {
 public:
  TypedBuffer(Problem& problem, std::size_t count)
      : Buffer(problem, count * sizeof(T)), count_(count) {}
  std::size_t count() const { return count_; }

 protected:
  T* data() const { return static_cast<T*>(device_); }

 private:
  std::size_t count_;
};

/// First contents of a buffer, made when they are first needed: a dry run needs none.
template <typename T>
class Contents {
 public:
  explicit Contents(std::function<std::vector<T>()> make) : make_(std::move(make)) {}
  const std::vector<T>& values() const {
    if (make_) {
      values_ = make_();
      make_ = nullptr;
    }
    return values_;
  }

 private:
  mutable std::function<std::vector<T>()> make_;
  mutable std::vector<T> values_;
};

/// Read by the variant. Random unless `values` are given; the same at every run.
template <typename T>
class Input : public TypedBuffer<T> {
 public:
  Input(Problem& problem, std::size_t count, std::uint32_t seed = 1)
      : TypedBuffer<T>(problem, count),
        contents_([count, seed] { return random_values<T>(count, seed); }) {}
  Input(Problem& problem, std::vector<T> values)
      : TypedBuffer<T>(problem, values.size()),
        contents_([values = std::move(values)] { return values; }) {}
  void reset() override { this->upload(contents_.values().data()); }
  const std::vector<T>& host() const { return contents_.values(); }
  operator const T*() const { return this->data(); }

 private:
  Contents<T> contents_;
};

/// Written by the variant. Poisoned before each run, so that what was not written is seen.
template <typename T>
class Output : public TypedBuffer<T> {
 public:
  using TypedBuffer<T>::TypedBuffer;
  void reset() override { this->poison(); }
  operator T*() { return this->data(); }
  /// What is on the device now.
  std::vector<T> host() const {
    std::vector<T> values(this->count());
    this->download(values.data());
    return values;
  }
};

/// Read and written by the variant. Brought back to its first contents before each run.
template <typename T>
class InOut : public Output<T> {
 public:
  InOut(Problem& problem, std::size_t count, std::uint32_t seed = 1)
      : Output<T>(problem, count),
        contents_([count, seed] { return random_values<T>(count, seed); }) {}
  void reset() override { this->upload(contents_.values().data()); }
  const std::vector<T>& initial() const { return contents_.values(); }

 private:
  Contents<T> contents_;
};

}  // namespace warpgauge
