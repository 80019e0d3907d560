// Device buffers of a problem. They free themselves, come with reproducible contents (never
// zeros), and are brought back to their first state before each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "warpgauge/problem.h"

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
  /// Bytes that reading or writing all of it once moves.
  virtual double traffic() const { return static_cast<double>(bytes_); }

  /// What a variant must leave as it is.
  struct Kept {
    const void* contents;
    std::size_t element_bytes;
  };
  /// Nothing if the variant may write to it.
  virtual std::optional<Kept> kept() const { return std::nullopt; }

 protected:
  void upload(const void* host) const;
  void download(void* host) const;
  void poison() const;  ///< NaN in floating point, a value that is not likely in integers
  void* device_ = nullptr;

 private:
  friend class Problem;
  std::size_t bytes_;
};

/// Reproducible values to test a kernel with: floating point in (-1, 1), integers from 1 up to
/// 32766 (125 for one-byte types) so that sums stay small. Never zero. For float, double and all
/// integers of 8 to 64 bits.
template <typename T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed);

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

/// First contents of a buffer: given, or random and made when first needed (a dry run needs none).
template <typename T>
class Contents {
 public:
  explicit Contents(std::vector<T> values) : values_(std::move(values)), made_(true) {}
  Contents(std::size_t count, std::uint32_t seed) : count_(count), seed_(seed) {}
  const std::vector<T>& values() const {
    if (!made_) values_ = random_values<T>(count_, seed_);
    made_ = true;
    return values_;
  }

 private:
  mutable std::vector<T> values_;
  mutable bool made_ = false;
  std::size_t count_ = 0;
  std::uint32_t seed_ = 0;
};

/// Read by the variant, which is an error if it writes to it. Random unless `values` are given; the
/// same at every run. Contents of a type that has no random values must be given.
template <typename T>
class Input : public TypedBuffer<T> {
 public:
  Input(Problem& problem, std::size_t count, std::uint32_t seed = 1)
      : TypedBuffer<T>(problem, count), contents_(count, seed) {}
  Input(Problem& problem, std::vector<T> values)
      : TypedBuffer<T>(problem, values.size()), contents_(std::move(values)) {}
  void reset() override { this->upload(contents_.values().data()); }
  std::optional<Buffer::Kept> kept() const override {
    return Buffer::Kept{host().data(), sizeof(T)};
  }
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
  /// Copies the values on the device.
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
      : Output<T>(problem, count), contents_(count, seed) {}
  InOut(Problem& problem, std::vector<T> values)
      : Output<T>(problem, values.size()), contents_(std::move(values)) {}
  void reset() override { this->upload(contents_.values().data()); }
  double traffic() const override { return 2 * Output<T>::traffic(); }
  const std::vector<T>& initial() const { return contents_.values(); }

 private:
  Contents<T> contents_;
};

}  // namespace warpgauge
