// Resets problems, and finds inputs that a variant has overwritten.
#include "warpgauge/problem.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "harness/process/fork_guard.h"
#include "harness/runtime.h"
#include "warpgauge/buffers.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

constexpr const char* kRemedy = "an Input is only read; make it an InOut if it is to be written";

/// The offset of the first byte of device memory that differs from the host's.
std::optional<std::size_t> first_difference(const void* device, const void* host,
                                            std::size_t bytes) {
  constexpr std::size_t kPart = std::size_t{1} << 20;  // stays in the cache
  std::vector<std::byte> part(std::min(bytes, kPart));
  for (std::size_t begin = 0; begin < bytes; begin += part.size()) {
    const std::size_t size = std::min(part.size(), bytes - begin);
    const auto* const expected = static_cast<const std::byte*>(host) + begin;
    WARPGAUGE_CUDA(cudaMemcpy(part.data(), static_cast<const std::byte*>(device) + begin, size,
                              cudaMemcpyDeviceToHost));
    if (std::memcmp(part.data(), expected, size) == 0) continue;
    return begin + static_cast<std::size_t>(
                       std::mismatch(expected, expected + size, part.begin()).first - expected);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Size::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents_) product *= extent;
  return product;
}

std::string Size::str() const {
  std::string text;
  for (const std::int64_t extent : extents_) {
    if (!text.empty()) text += 'x';
    text += std::to_string(extent);
  }
  return text;
}

double Problem::bytes() const {
  double sum = 0;
  for (const Buffer* buffer : buffers_) sum += buffer->traffic();
  return sum;
}

void Problem::reset() {
  int inputs = 0;
  for (Buffer* buffer : buffers_) {
    const bool is_input = buffer->kept().element_bytes != 0;
    if (!is_input || !has_inputs_) buffer->reset();
    if (!is_input) continue;
    let_kernels_only_read(buffer->device_,
                          fmt::format("which is input {} of the problem: {}", ++inputs, kRemedy));
  }
  has_inputs_ = true;
  prepare();
  process::end_if_copy();
  // The variant may launch on a stream that does not wait for the uploads.
  WARPGAUGE_CUDA(cudaDeviceSynchronize());
}

std::string Problem::overwritten_input() const {
  int inputs = 0;
  for (const Buffer* buffer : buffers_) {
    const auto kept = buffer->kept();
    if (kept.element_bytes == 0) continue;
    ++inputs;
    const auto changed = first_difference(buffer->device_, kept.contents, buffer->bytes_);
    if (!changed) continue;
    return fmt::format("it has overwritten input {} of the problem, from element {} of {} on: {}",
                       inputs, *changed / kept.element_bytes, buffer->bytes_ / kept.element_bytes,
                       kRemedy);
  }
  return "";
}

}  // namespace warpgauge
