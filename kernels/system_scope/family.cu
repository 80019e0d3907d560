// GPU and CPU work on the same memory at the same time: counting in one word, and a message.
//
// An operation is atomic only for the threads of its scope: atomicAdd() for the threads of its GPU,
// atomicAdd_system() also for the CPU, which uses its own atomics.
//   each_thread  each thread adds 1 to a word of managed memory that the CPU counts in, too
//   each_block   a block adds once: 8 times fewer requests to the shared word
//   own_word     the GPU has a word of its own: no system scope is needed, and no page moves to
//                and fro between the two
// A message is a value and a flag that says it is there: __threadfence_system() between the two
// makes the CPU see them in this order (`message`, in mapped memory).
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "kernels/system_scope/partner.h"
#include "warpgauge/warpgauge.h"

namespace system_scope {

constexpr int kThreads = 256;
constexpr std::chrono::microseconds kPause{20};

// Words that GPU and CPU both reach. There are none before the first reset().
class CommonWords {
 public:
  enum class Kind { managed, mapped };
  explicit CommonWords(Kind kind) : kind_(kind) {}
  CommonWords(const CommonWords&) = delete;
  CommonWords& operator=(const CommonWords&) = delete;
  ~CommonWords() {
    // An error here is an earlier one of the context, which has been reported where it arose.
    if (kind_ == Kind::managed) static_cast<void>(cudaFree(words_));
    if (kind_ == Kind::mapped && words_ != nullptr) static_cast<void>(cudaFreeHost(words_));
  }

  void clear() {
    constexpr std::size_t kBytes = kWords * sizeof(std::uint32_t);
    if (words_ == nullptr && kind_ == Kind::managed) {
      int device = 0, concurrent = 0;
      WARPGAUGE_CUDA(cudaGetDevice(&device));
      WARPGAUGE_CUDA(
          cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
      if (concurrent == 0) {
        throw std::runtime_error(
            "this device does not let the CPU touch managed memory while a kernel runs "
            "(cudaDevAttrConcurrentManagedAccess is 0)");
      }
      WARPGAUGE_CUDA(cudaMallocManaged(&words_, kBytes));
    }
    if (words_ == nullptr) {
      WARPGAUGE_CUDA(cudaHostAlloc(&words_, kBytes, cudaHostAllocMapped));
    }
    for (std::size_t i = 0; i < kWords; ++i) on_cpu()[i] = 0;
  }
  std::uint32_t* on_cpu() const { return static_cast<std::uint32_t*>(words_); }
  std::uint32_t* on_gpu() const {
    if (kind_ == Kind::managed || words_ == nullptr) return on_cpu();
    void* device = nullptr;
    WARPGAUGE_CUDA(cudaHostGetDevicePointer(&device, words_, 0));
    return static_cast<std::uint32_t*>(device);
  }

 private:
  static constexpr std::size_t kWords = 2;
  const Kind kind_;
  void* words_ = nullptr;
};

// Each of `n` threads counts 1, in `word` or in `own`. The CPU counts in `word`, from before the
// launch until it has seen what the GPU counted there.
struct Count : warpgauge::Problem {
  const unsigned n, by_gpu;  // what the GPU counts in `word`
  CommonWords word{CommonWords::Kind::managed};
  warpgauge::InOut<std::uint32_t> own;
  std::atomic<std::uint32_t> by_cpu = 0;
  mutable Partner partner;  // the last member: it uses the others until it has stopped

  Count(const warpgauge::Size& size, bool shares_word)
      : n(static_cast<unsigned>(size[0])),
        by_gpu(shares_word ? n : 0),
        own(*this, std::vector<std::uint32_t>{0}) {}
  void prepare() override {
    partner.stop();
    word.clear();
    by_cpu = 0;
    partner.start([this](const std::atomic<bool>& stop) { count_along(stop); });
    while (by_cpu == 0) std::this_thread::yield();
  }
  void check(warpgauge::Comparison& comparison) const override {
    partner.stop();
    const std::vector<std::uint32_t> counted = {own.host()[0] + *word.on_cpu()};
    comparison.equal(counted, std::vector<std::uint32_t>{n + by_cpu});
  }

 private:
  void count_along(const std::atomic<bool>& stop) {
    const std::atomic_ref<std::uint32_t> shared(*word.on_cpu());
    do {
      ++shared;
      ++by_cpu;
      std::this_thread::sleep_for(kPause);
    } while (!stop && shared - by_cpu < by_gpu);
  }
};

struct SharedWord : Count {
  explicit SharedWord(const warpgauge::Size& size) : Count(size, true) {}
};

struct OwnWord : Count {
  explicit OwnWord(const warpgauge::Size& size) : Count(size, false) {}
};

__global__ void each_thread(std::uint32_t* word, unsigned n) {
  if (blockIdx.x * kThreads + threadIdx.x < n) atomicAdd_system(word, 1u);
}

__global__ void each_block(std::uint32_t* word, unsigned n) {
  const unsigned of_block = __syncthreads_count(blockIdx.x * kThreads + threadIdx.x < n);
  if (threadIdx.x == 0) atomicAdd_system(word, of_block);
}

__global__ void own_word(std::uint32_t* word, unsigned n) {
  const unsigned of_block = __syncthreads_count(blockIdx.x * kThreads + threadIdx.x < n);
  if (threadIdx.x == 0) atomicAdd(word, of_block);
}

unsigned blocks(unsigned n) { return (n + kThreads - 1) / kThreads; }

// A value that the CPU takes as soon as it sees the flag, and no later.
struct Message : warpgauge::Problem {
  warpgauge::Input<std::uint32_t> value;
  CommonWords words{CommonWords::Kind::mapped};  // the value and the flag
  std::atomic<std::uint32_t> taken = 0;
  mutable Partner partner;

  explicit Message(const warpgauge::Size& size) : value(*this, size.count()) {}
  void prepare() override {
    partner.stop();
    words.clear();
    taken = 0;
    partner.start([this](const std::atomic<bool>& stop) { wait_for_it(stop); });
  }
  void check(warpgauge::Comparison& comparison) const override {
    partner.stop();
    comparison.equal(std::vector<std::uint32_t>{taken}, value.host());
  }

 private:
  void wait_for_it(const std::atomic<bool>& stop) {
    const std::atomic_ref<std::uint32_t> flag(words.on_cpu()[1]);
    for (bool last_look = false; flag.load(std::memory_order_acquire) == 0;) {
      if (last_look) return;
      last_look = stop;
      std::this_thread::yield();
    }
    taken = words.on_cpu()[0];
  }
};

__global__ void message(volatile std::uint32_t* words, const std::uint32_t* value) {
  words[0] = *value;
  __threadfence_system();
  words[1] = 1;
}

WARPGAUGE_FAMILY(system_scope) {
  const std::vector<warpgauge::Size> threads = {{65536}, {1000}};
  const auto shared = family.problem<SharedWord>("u32", threads).sizes_between({1}, {65536});
  shared.variant("each_thread", [](SharedWord& p) {
    each_thread<<<blocks(p.n), kThreads>>>(p.word.on_gpu(), p.n);
  });
  shared.variant("each_block", [](SharedWord& p) {
    each_block<<<blocks(p.n), kThreads>>>(p.word.on_gpu(), p.n);
  });
  family.problem<OwnWord>("u32", threads)
      .sizes_between({1}, {65536})
      .variant("own_word", [](OwnWord& p) { own_word<<<blocks(p.n), kThreads>>>(p.own, p.n); });
  family.problem<Message>("u32", {{1}}).variant("message", [](Message& p) {
    message<<<1, 1>>>(p.words.on_gpu(), p.value);
  });
}

}  // namespace system_scope
