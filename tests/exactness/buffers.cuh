// The memory of generated kernels, and how a program launches them: each finds the same contents.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Three {
  float x, y, z;
};

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Elements of each buffer.
constexpr unsigned kInputs = 4096, kOutputs = 16384;

class Buffers {
 public:
  Buffers() {
    check(cudaMalloc(&inputs_, kInputBytes), "cudaMalloc");
    check(cudaMalloc(&outputs_, kOutputBytes), "cudaMalloc");
    check(cudaMemcpy(inputs_, contents().data(), kInputBytes, cudaMemcpyHostToDevice), "inputs");
  }
  ~Buffers() {
    check(cudaFree(inputs_), "cudaFree");
    check(cudaFree(outputs_), "cudaFree");
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// Random bits, and numbers from -8 to 8: kInputs of any type that is not wider than 16 bytes.
  template <class T>
  const T* bits() const {
    return reinterpret_cast<const T*>(inputs_);
  }
  template <class T>
  const T* numbers() const {
    return reinterpret_cast<const T*>(inputs_ + kPart);
  }
  const double* doubles() const { return reinterpret_cast<const double*>(inputs_ + 2 * kPart); }
  template <class T>
  const T* halves() const {
    return reinterpret_cast<const T*>(inputs_ + 3 * kPart);
  }

  /// kOutputs of any type: a buffer for each `number`.
  template <class T>
  T* out(unsigned number) const {
    return reinterpret_cast<T*>(outputs_ + number * kOutputPart);
  }

  /// Makes the outputs what they were before the first kernel.
  void reset() const { check(cudaMemset(outputs_, 0x11, kOutputBytes), "cudaMemset"); }

  /// Of what a kernel stored, but for atomics and products of matrices.
  unsigned long long digest() const {
    std::vector<std::uint64_t> words(3 * kOutputPart / sizeof(std::uint64_t));
    check(cudaMemcpy(words.data(), outputs_, 3 * kOutputPart, cudaMemcpyDeviceToHost), "outputs");
    std::uint64_t digest = 0;
    for (const std::uint64_t word : words) digest = (digest ^ word) * 0x9e3779b97f4a7c15u + 1;
    return digest;
  }

 private:
  static constexpr std::size_t kPart = kInputs * 16, kInputBytes = 4 * kPart;
  static constexpr std::size_t kOutputPart = kOutputs * 16, kOutputBytes = 5 * kOutputPart;

  static std::vector<unsigned char> contents() {
    std::vector<unsigned char> bytes(kInputBytes);
    unsigned state = 12345;
    const auto next = [&] {
      state = state * 1664525u + 1013904223u;
      return state >> 8;
    };
    const auto number = [&] { return static_cast<float>(next() % 65536u) / 4096.0f - 8.0f; };
    for (std::size_t i = 0; i < kPart; ++i) bytes[i] = static_cast<unsigned char>(next() >> 8);
    auto* const floats = reinterpret_cast<float*>(bytes.data() + kPart);
    for (std::size_t i = 0; i < kPart / 4; ++i) floats[i] = number();
    auto* const doubles = reinterpret_cast<double*>(bytes.data() + 2 * kPart);
    for (std::size_t i = 0; i < kPart / 8; ++i) doubles[i] = number();
    auto* const halves = reinterpret_cast<unsigned short*>(bytes.data() + 3 * kPart);
    for (std::size_t i = 0; i < kPart / 2; ++i) {  // 1/16 to 8, of both signs, as f16
      halves[i] = static_cast<unsigned short>((next() & 0x8000u) | (0x2c00u + next() % 0x1c00u));
    }
    return bytes;
  }

  unsigned char *inputs_ = nullptr, *outputs_ = nullptr;
};

/// Launches a kernel and prints a digest of its results; ends the program if it fails.
inline void run(const char* name, void (*launch)(const Buffers&), const Buffers& buffers) {
  buffers.reset();
  launch(buffers);
  check(cudaGetLastError(), name);
  check(cudaDeviceSynchronize(), name);
  std::printf("%s %016llx\n", name, buffers.digest());
}
