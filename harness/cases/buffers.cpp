// Allocates, fills and poisons device buffers, and makes random values.
#include "warpgauge/buffers.h"

#include <cuda_runtime_api.h>

#include <map>
#include <random>
#include <type_traits>
#include <utility>

#include "harness/cases/launch_log.h"
#include "harness/cases/run_seed.h"
#include "harness/runtime.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {
namespace {

/// The address of all buffers of a dry run, aligned to 256 bytes like cudaMalloc's. Only kernels
/// that are not launched get it.
void* const kDryAddress = reinterpret_cast<void*>(std::uintptr_t{1} << 32);

/// A NaN in every floating point type that consists of such 16-bit words, and an integer that
/// kernels hardly write on purpose (unlike -1).
constexpr std::uint16_t kPoison = 0xffa5;

std::uint32_t run_seed = 0;

/// The seed of the values that a problem asks for with `seed`. Seeds that differ still do.
std::uint32_t mixed(std::uint32_t seed) {
  constexpr std::uint32_t kGolden = 0x9e3779b9;  // odd, so that no two run seeds give the same
  return seed ^ run_seed * kGolden;
}

/// The first values of a seed, as many as were used so far.
template <typename T>
struct Sequence {
  std::mt19937 engine;
  std::vector<T> values;

  explicit Sequence(std::uint32_t seed) : engine(seed) {}

  void make(std::size_t count) {
    values.reserve(count);
    while (values.size() < count) values.push_back(next());
  }

  T next() {
    // 24 random bits and a half: exact in float, and never zero.
    const double unit = ((engine() >> 8) + 0.5) / (1 << 24);
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(2 * unit - 1);
    } else {
      constexpr int kSpan = sizeof(T) == 1 ? 125 : 32766;
      return static_cast<T>(1 + unit * kSpan);
    }
  }
};

}  // namespace

template <typename T>
const T* kept_random_values(std::size_t count, std::uint32_t seed) {
  // Problems share a few seeds, so the first values of each are kept.
  constexpr std::size_t kKeptValues = (std::size_t{16} << 20) / sizeof(T), kKeptSeeds = 8;
  static thread_local std::map<std::uint32_t, Sequence<T>> sequences;
  const std::uint32_t own = mixed(seed);
  if (count > kKeptValues) return nullptr;
  if (sequences.size() >= kKeptSeeds && !sequences.contains(own)) sequences.clear();
  Sequence<T>& sequence = sequences.try_emplace(own, own).first->second;
  sequence.make(count);
  return sequence.values.data();
}

template <typename T>
std::vector<T> random_values(std::size_t count, std::uint32_t seed) {
  if (const T* const kept = kept_random_values<T>(count, seed)) return {kept, kept + count};
  Sequence<T> sequence(mixed(seed));
  sequence.make(count);
  return std::move(sequence.values);
}

#define WARPGAUGE_RANDOM_VALUES(T)                                     \
  template const T* kept_random_values<T>(std::size_t, std::uint32_t); \
  template std::vector<T> random_values<T>(std::size_t, std::uint32_t)
WARPGAUGE_RANDOM_VALUES(float);
WARPGAUGE_RANDOM_VALUES(double);
WARPGAUGE_RANDOM_VALUES(std::int8_t);
WARPGAUGE_RANDOM_VALUES(std::int16_t);
WARPGAUGE_RANDOM_VALUES(std::int32_t);
WARPGAUGE_RANDOM_VALUES(std::int64_t);
WARPGAUGE_RANDOM_VALUES(std::uint8_t);
WARPGAUGE_RANDOM_VALUES(std::uint16_t);
WARPGAUGE_RANDOM_VALUES(std::uint32_t);
WARPGAUGE_RANDOM_VALUES(std::uint64_t);
#undef WARPGAUGE_RANDOM_VALUES

RunSeed::RunSeed(std::uint32_t seed) { run_seed = seed; }

RunSeed::~RunSeed() { run_seed = 0; }

Buffer::Buffer(Problem& problem, std::size_t bytes) : bytes_(bytes) {
  if (is_dry_run()) {
    device_ = kDryAddress;
  } else {
    WARPGAUGE_CUDA(cudaMalloc(&device_, bytes_));
  }
  problem.buffers_.push_back(this);
}

Buffer::~Buffer() {
  // An error here comes from an earlier call, which has reported it. It is cleared, or the next
  // case would get it.
  if (device_ != kDryAddress && cudaFree(device_) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
}

void Buffer::upload(const void* host) const {
  WARPGAUGE_CUDA(cudaMemcpy(device_, host, bytes_, cudaMemcpyHostToDevice));
}

void Buffer::download(void* host) const {
  WARPGAUGE_CUDA(cudaMemcpy(host, device_, bytes_, cudaMemcpyDeviceToHost));
}

void Buffer::poison() const {
  const std::size_t words = bytes_ / sizeof kPoison;
  if (words > 0) set_words(device_, kPoison, words);
  if (bytes_ % sizeof kPoison == 0) return;
  WARPGAUGE_CUDA(cudaMemset(static_cast<std::byte*>(device_) + bytes_ - 1, kPoison & 0xff, 1));
}

}  // namespace warpgauge
