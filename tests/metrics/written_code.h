// Machine code for tests, recorded or put together.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/order_dependence.h"
#include "metrics/machine_code/sass_code.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics {

inline std::vector<std::byte> recorded(const std::string& architecture,
                                       const std::string& source = "order") {
  return recorded_file("sass/" + source + "." + architecture + ".cubin");
}

/// Machine code for sm_90 that is put together here, in place of a recorded kernel's.
class Written {
 public:
  static constexpr unsigned kLoadShared = 0x384, kStoreShared = 0x388, kLoad = 0x381,
                            kStore = 0x386, kAtomicShared = 0x38c, kAtomic = 0x3a8,
                            kBarrierOfWarp = 0x948, kFence = 0x992, kExit = 0x94d;

  /// `to` = [`address`], or [`address`] = `value`; what does not have an operand ignores it.
  Written& operator()(unsigned opcode, unsigned to = 0, unsigned address = 0, unsigned value = 0) {
    constexpr std::uint64_t kNoPredicates = std::uint64_t{7} << 17, k32Bits = 4 << 9;
    const bool is_atomic = opcode == kAtomic || opcode == kAtomicShared;
    const bool is_access = opcode < 0x900;
    words_.push_back(std::uint64_t{value} << 32 | address << 24 | to << 16 | 0x7000 | opcode);
    words_.push_back(kTrue | kNoPredicates | (is_access && !is_atomic ? k32Bits : 0));
    return *this;
  }
  /// Goes to the instruction at `target` where the predicate holds.
  Written& go_if(unsigned predicate, std::uint64_t target) {
    const std::uint64_t distance = (target - words_.size() / 2 - 1) * 4;  // forward, and not far
    words_.push_back((distance & 0xff) << 16 | predicate << 12 | 0x947);
    words_.push_back(kTrue);
    return *this;
  }

  /// Machine code as nvdisasm shows it.
  Written& operator()(const SassWord& word) {
    words_.insert(words_.end(), {word.low, word.high});
    return *this;
  }

  std::vector<OrderDependence> found() const {
    static const std::vector<std::byte> kRecorded = recorded("sm_90");
    std::vector<std::byte> image = kRecorded;
    const std::span<const std::byte> code = Cubin(image).code(kKernel);
    std::vector<std::uint64_t> words = words_;
    while (words.size() < code.size() / 8) words.insert(words.end(), {0x7918, 0});  // NOP
    EXPECT_EQ(words.size(), code.size() / 8) << "the recorded kernel is too short";
    std::memcpy(image.data() + (code.data() - image.data()), words.data(), code.size());
    return OrderOfThreads(Cubin(image), kKernel, nullptr).influence().dependences;
  }
  /// The accesses that depend on a source: index of the access, index of the source.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dependences() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const OrderDependence& dependence : this->found()) {
      EXPECT_EQ(dependence.source, OrderDependence::Source::atomic);
      EXPECT_EQ(dependence.effect, OrderDependence::Effect::access);
      found.emplace_back(dependence.pc / SassWord::kBytes, dependence.source_pc / SassWord::kBytes);
    }
    return found;
  }

 private:
  static constexpr const char* kKernel = "spin";
  static constexpr std::uint64_t kTrue = std::uint64_t{7} << 23;
  std::vector<std::uint64_t> words_;
};

}  // namespace warpgauge::metrics
