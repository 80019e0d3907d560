// The list of allocations: alignment, red zones, use after free, and how addresses are described.
#include "harness/emulator/machine/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "harness/emulator/machine/core/window.h"

namespace warpgauge::emulator::machine::memory::memory_test {
namespace {

using ::testing::HasSubstr;

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

std::byte* allocate(Memory& memory, std::uint64_t bytes, const std::string& name = "x") {
  return memory.allocate(bytes, Memory::Kind::device, name);
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

TEST(Memory, AlignsTo512BytesWithRedZonesBetween) {
  Memory memory;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks;
  for (const std::uint64_t bytes : {1, 255, 256, 257, 4000, 65536, 65537, 1000000, 3}) {
    std::byte* const begin = allocate(memory, bytes);
    ASSERT_NE(begin, nullptr);
    EXPECT_EQ(number(begin) % 512, 0u) << bytes;
    std::memset(begin, 0x5a, bytes);
    blocks.emplace_back(number(begin), number(begin) + bytes);
  }
  std::sort(blocks.begin(), blocks.end());
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    EXPECT_GE(blocks[i].first - blocks[i - 1].second, 256u);
  }
}

TEST(Memory, NothingAndTooMuchGiveNoMemory) {
  Memory memory;
  EXPECT_EQ(allocate(memory, 0), nullptr);
  EXPECT_EQ(allocate(memory, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(allocate(memory, std::uint64_t{1} << 60), nullptr);
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

TEST(Memory, FindsWhatAnAddressLiesIn) {
  Memory memory;
  std::byte* const a = memory.allocate(400, Memory::Kind::managed, "a");
  std::byte* const b = memory.allocate(100000, Memory::Kind::symbol, "b");
  const auto first = memory.find(a);
  const auto last = memory.find(b + 99999);
  ASSERT_TRUE(first && last);
  EXPECT_EQ(first->name, "a");
  EXPECT_EQ(first->kind, Memory::Kind::managed);
  EXPECT_EQ(last->name, "b");
  EXPECT_EQ(last->bytes, 100000u);
  EXPECT_EQ(last->end(), b + 100000);
  for (const std::byte* outside : {a - 1, a + 400, b - 1, b + 100000}) {
    EXPECT_FALSE(memory.find(outside));
    EXPECT_FALSE(memory.extent(number(outside)));
  }
  EXPECT_FALSE(memory.find(nullptr));
}

TEST(Memory, FreesOnlyStartsOfLiveAllocations) {
  Memory memory;
  std::byte* const a = allocate(memory, 400);
  EXPECT_FALSE(memory.free(a + 1));
  EXPECT_FALSE(memory.free(nullptr));
  EXPECT_TRUE(memory.free(a));
  EXPECT_FALSE(memory.free(a));
  EXPECT_FALSE(memory.find(a));
}

TEST(Memory, FreedMemoryIsNotUsedAgainForAWhile) {
  Memory memory;
  for (const std::uint64_t bytes : {400u, 100000u}) {
    std::byte* const freed = allocate(memory, bytes, "freed");
    memory.free(freed);
    for (int i = 0; i < 100; ++i) {
      std::byte* const other = allocate(memory, bytes, "other");
      EXPECT_TRUE(other >= freed + bytes || other + bytes <= freed);
    }
    EXPECT_EQ(memory.describe(freed + 8),
              "byte 8 of freed (" + std::to_string(bytes) + " bytes), which was freed");
  }
}

TEST(Memory, QuarantineIsBounded) {
  Memory memory;
  for (const std::uint64_t bytes : {std::uint64_t{60000}, std::uint64_t{64} << 20}) {
    // More than any machine has: the addresses of the first ones must be used again.
    const std::uint64_t rounds = (std::uint64_t{1} << 40) / bytes / (bytes < 65536 ? 1024 : 1);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      std::byte* const begin = allocate(memory, bytes);
      ASSERT_NE(begin, nullptr) << i;
      memory.free(begin);
    }
  }
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

TEST(Memory, OnlyTouchedPagesAreResident) {
  const std::uint64_t before = peak_resident_bytes();
  Memory memory;
  std::byte* const big = allocate(memory, std::uint64_t{8} << 30);
  ASSERT_NE(big, nullptr);
  big[0] = big[(std::uint64_t{8} << 30) - 1] = std::byte{1};
  for (int i = 0; i < 64; ++i) {  // touched, but given back when they are freed
    std::byte* const block = allocate(memory, 16 << 20);
    std::memset(block, 1, 16 << 20);
    memory.free(block);
  }
  EXPECT_LT(peak_resident_bytes() - before, std::uint64_t{64} << 20);
}

TEST(Memory, CountsBytesAndLeaks) {
  Memory memory;
  std::byte* const a = allocate(memory, 400);
  memory.allocate(100, Memory::Kind::managed, "m");
  memory.allocate(50, Memory::Kind::symbol, "s");
  EXPECT_EQ(memory.bytes_in_use(), 550u);
  EXPECT_EQ(memory.unfreed().size(), 2u);
  memory.free(a);
  EXPECT_EQ(memory.bytes_in_use(), 150u);
  ASSERT_EQ(memory.unfreed().size(), 1u);
  EXPECT_EQ(memory.unfreed()[0].name, "m");
  EXPECT_TRUE(memory.freed(a).has_value());
  EXPECT_FALSE(memory.freed(a + 1).has_value() || memory.freed(memory.unfreed()[0].begin));
}

TEST(Memory, PutsTheHeapOfKernelsBackAsOftenAsAsked) {
  Memory memory;
  const auto heap = [&] { return memory.allocate(8, Memory::Kind::heap, "malloc in a kernel"); };
  const auto is_live = [&](const std::byte* begin) { return memory.find(begin).has_value(); };
  std::byte *const kept = heap(), *const first = heap(), *const second = heap();
  *first = std::byte{7};
  memory.watch_kernels();
  std::byte *const made = heap(), *const passing = heap();
  EXPECT_TRUE(memory.free(first) && memory.free(passing));
  const Memory::Changes usual = memory.take_changes();
  EXPECT_EQ(usual.made.size(), 1u);
  EXPECT_EQ(usual.freed.size(), 1u);
  EXPECT_EQ(memory.bytes_in_use(), 24u);
  EXPECT_TRUE(is_live(kept) && is_live(first) && is_live(second));
  EXPECT_EQ(*first, std::byte{7});
  EXPECT_FALSE(is_live(made) || is_live(passing));

  std::byte* const other = heap();
  EXPECT_TRUE(memory.free(second) && memory.free(first));
  EXPECT_FALSE(memory.free(first));
  memory.take_changes();
  EXPECT_TRUE(is_live(first) && is_live(second));
  EXPECT_FALSE(is_live(other));

  memory.settle(usual);
  EXPECT_TRUE(is_live(kept) && is_live(second) && is_live(made));
  EXPECT_FALSE(is_live(first) || is_live(other));
  EXPECT_EQ(memory.bytes_in_use(), 24u);
  EXPECT_TRUE(memory.free(kept) && memory.free(second) && memory.free(made));
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

TEST(Memory, KeepsWhatKernelsAreAboutToWrite) {
  Memory memory;
  std::byte* const large = allocate(memory, 1 << 20);
  std::byte* const small = allocate(memory, 100);
  const auto write = [&](std::byte* at, std::uint64_t bytes) {
    const auto extent = memory.extent_to_write(reinterpret_cast<std::uint64_t>(at), bytes);
    std::memset(at, 7, bytes);
    return extent->end - extent->begin;
  };
  std::memset(large, 1, 1 << 20);
  std::memset(small, 2, 100);
  EXPECT_EQ(write(large, 4), std::uint64_t{1} << 20) << "nobody watches";
  const std::uint64_t generation = memory.generation();
  memory.watch_kernels();
  EXPECT_NE(memory.generation(), generation) << "bounds that were looked up are larger";
  write(small + 8, 4);
  const std::uint64_t kept = write(large + (1 << 19), 4);
  EXPECT_LE(kept, 4096u);
  EXPECT_GT(write(large + (1 << 19) + kept, 8192), kept) << "parts beside each other are one";
  std::byte* const fresh = allocate(memory, 64);
  EXPECT_EQ(write(fresh, 4), 64u) << "nothing was there before";
  std::byte* const gone = allocate(memory, 64);
  write(gone, 4);
  memory.free(gone);

  const Memory::Changes changes = memory.take_changes();
  std::uint64_t bytes = 0;
  std::vector<std::byte*> begins;
  for (const Memory::Written& written : changes.written) {
    bytes += written.before.size();
    begins.push_back(written.begin);
    const std::byte was{static_cast<unsigned char>(written.begin == small ? 2 : 1)};
    EXPECT_EQ(std::ranges::count(written.before, was), std::ssize(written.before));
  }
  EXPECT_TRUE(std::ranges::is_sorted(begins));
  EXPECT_EQ(std::ranges::count(begins, small), 1);
  EXPECT_LE(bytes, 100u + 4 * 4096);
  EXPECT_TRUE(memory.take_changes().written.empty());
  memory.settle(changes);
  EXPECT_EQ(write(large, 4), std::uint64_t{1} << 20);
}

TEST(Memory, GenerationChangesWhenBoundsNoLongerHold) {
  Memory memory;
  std::byte* const a = allocate(memory, 400);
  const std::uint64_t first = memory.generation();
  EXPECT_FALSE(memory.free(a + 4));
  EXPECT_EQ(memory.generation(), first);
  memory.make_read_only(a, Memory::Rights::constant, "which is constant");
  const std::uint64_t second = memory.generation();
  EXPECT_NE(second, first);
  EXPECT_EQ(memory.find(a)->rights, Memory::Rights::constant);
  memory.free(a);
  EXPECT_NE(memory.generation(), second);
}

TEST(Memory, DescribesWhereAnAddressLies) {
  Memory memory;
  EXPECT_EQ(memory.describe(memory.describe("x").data()), "in no allocation");
  std::byte* const a = allocate(memory, 4000, "cudaMalloc #3");
  EXPECT_EQ(memory.describe(a + 16), "byte 16 of cudaMalloc #3 (4000 bytes)");
  EXPECT_EQ(memory.describe(a + 4000), "right past the end of cudaMalloc #3 (4000 bytes)");
  EXPECT_EQ(memory.describe(a + 4016), "16 bytes past the end of cudaMalloc #3 (4000 bytes)");
  EXPECT_EQ(memory.describe(a - 1), "1 byte before cudaMalloc #3 (4000 bytes)");
  EXPECT_EQ(memory.describe(a + 3996, 8),
            "the last 4 bytes are past the end of cudaMalloc #3 (4000 bytes)");
  EXPECT_EQ(memory.describe(nullptr), "a null pointer");
  EXPECT_EQ(memory.describe(reinterpret_cast<void*>(12)), "a null pointer plus 12 bytes");
  EXPECT_EQ(memory.describe(reinterpret_cast<void*>(window_base(Window::shared) + 4)),
            "a generic address of shared memory");
  EXPECT_EQ(memory.describe(reinterpret_cast<void*>(~std::uint64_t{0})), "not a valid address");
}

TEST(Memory, DescribesTheNearerOfTwoNeighbours) {
  Memory memory;
  std::byte* const a = allocate(memory, 256, "a");
  std::byte* const b = allocate(memory, 256, "b");
  ASSERT_GT(b, a);
  EXPECT_THAT(memory.describe(a + 260), HasSubstr("past the end of a"));
  EXPECT_THAT(memory.describe(b - 4), HasSubstr("before b"));
}

TEST(Memory, IsConsistentUnderRandomUseByThreads) {
  Memory memory;
  const auto use = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::byte*, std::uint64_t>> mine;
    for (int i = 0; i < 3000; ++i) {
      if (!mine.empty() && random() % 2 == 0) {
        std::swap(mine[random() % mine.size()], mine.back());
        const auto [begin, bytes] = mine.back();
        mine.pop_back();
        EXPECT_EQ(begin[0], static_cast<std::byte>(seed));
        EXPECT_EQ(begin[bytes - 1], static_cast<std::byte>(seed));
        EXPECT_TRUE(memory.free(begin));
      } else {
        const std::uint64_t bytes = 1 + random() % (random() % 10 == 0 ? 200000 : 2000);
        std::byte* const begin = allocate(memory, bytes);
        const auto extent = memory.extent(number(begin + bytes - 1));
        ASSERT_TRUE(extent);
        EXPECT_EQ(extent->begin, number(begin));
        EXPECT_EQ(extent->end, number(begin) + bytes);
        std::memset(begin, static_cast<int>(seed), bytes);
        mine.emplace_back(begin, bytes);
      }
    }
    for (const auto& [begin, bytes] : mine) EXPECT_TRUE(memory.free(begin));
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(use, seed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory::memory_test
