// A kernel that holds the default stream back until the host lets it go.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace warpgauge::bench {

/// One thread that reads a word of the host's memory until it has reached a number. The driver
/// compiles it from PTX and keeps that on disk (0.1 s the first time), so that programs need no
/// code of it for each architecture.
class HoldingKernel {
 public:
  /// `word` is memory of cudaHostAlloc() that the GPU can read. Throws metrics::CudaError.
  explicit HoldingKernel(std::uint32_t* word);
  ~HoldingKernel();
  HoldingKernel(const HoldingKernel&) = delete;
  HoldingKernel& operator=(const HoldingKernel&) = delete;

  /// Work that is queued in the default stream from here on begins once the word is `number` or
  /// less than 2^31 past it. Throws metrics::CudaError.
  void queue(std::uint32_t number);
  /// Queues a launch that ends at once. Throws metrics::CudaError.
  void pass();

 private:
  std::uint32_t* word_;
  CUdeviceptr word_on_device_ = 0;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  decltype(&cuLaunchKernel) launch_ = nullptr;
};

}  // namespace warpgauge::bench
