// The table of traces: what is found again, and what is forgotten.
#include "harness/emulator/machine/checks/trace_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace warpgauge::emulator::machine::checks::trace_table_test {
namespace {

using testing::Each;
using testing::ElementsAre;

struct Entry {
  static constexpr std::uint64_t kBytes = 4;
  int value;
};

constexpr std::uint64_t kBegin = 0x7000'0000, kChunk = 4096;

/// A table in which the entries of these addresses have the values 1, 2, ...
class FilledTable : public TraceTable<Entry> {
 public:
  explicit FilledTable(std::vector<std::uint64_t> addresses) : addresses_(std::move(addresses)) {
    int value = 0;
    for (const std::uint64_t address : addresses_) at(address).value = ++value;
  }
  /// The values of these entries now; 0: forgotten.
  std::vector<int> values() {
    std::vector<int> values;
    for (const std::uint64_t address : addresses_) values.push_back(at(address).value);
    return values;
  }
  /// The values that any() looks at in a range, without the zeros.
  std::vector<int> seen(std::uint64_t begin, std::uint64_t bytes) const {
    std::vector<int> values;
    const bool holds = any(begin, bytes, [&](const Entry& entry) {
      if (entry.value != 0) values.push_back(entry.value);
      return false;
    });
    EXPECT_FALSE(holds);
    return values;
  }

 private:
  std::vector<std::uint64_t> addresses_;
};

TEST(TraceTable, ForgetsEntriesThatARangeTouches) {
  FilledTable table({kBegin, kBegin + 4, kBegin + 8, kBegin + 12});
  table.forget(kBegin + 4, 5);  // the second entry, and a byte of the third
  EXPECT_THAT(table.values(), ElementsAre(1, 0, 0, 4));
}

TEST(TraceTable, ForgetsARangeOfSeveralChunks) {
  FilledTable table(
      {kBegin - 8, kBegin - 4, kBegin, kBegin + kChunk - 4, kBegin + kChunk, kBegin + kChunk + 4});
  table.forget(kBegin - 4, 4 + kChunk + 4);
  EXPECT_THAT(table.values(), ElementsAre(1, 0, 0, 0, 0, 6));
}

TEST(TraceTable, LooksAtEntriesThatARangeTouches) {
  const FilledTable table({kBegin, kBegin + 4, kBegin + 8, kBegin + 12});
  EXPECT_THAT(table.seen(kBegin + 4, 4), ElementsAre(2));
  EXPECT_THAT(table.seen(kBegin + 4, 5), ElementsAre(2, 3));
}

TEST(TraceTable, LooksAtARangeOfSeveralChunks) {
  const FilledTable table(
      {kBegin - 8, kBegin - 4, kBegin, kBegin + kChunk - 4, kBegin + kChunk, kBegin + kChunk + 4});
  EXPECT_THAT(table.seen(kBegin - 4, 4 + kChunk + 4), ElementsAre(2, 3, 4, 5));
}

TEST(TraceTable, LooksNoFurtherThanWhatHolds) {
  const FilledTable table({kBegin, kBegin + kChunk});
  int looks = 0;
  EXPECT_TRUE(table.any(kBegin, 2 * kChunk, [&](const Entry& entry) {
    ++looks;
    return entry.value == 1;
  }));
  EXPECT_EQ(looks, 1);
}

TEST(TraceTable, ForgetsAll) {
  FilledTable table({kBegin, kBegin + kChunk - 4, kBegin + kChunk, kBegin << 8});
  table.forget_all();
  EXPECT_THAT(table.values(), Each(0));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::checks::trace_table_test
