// Readable bytes of memory that is mapped for the test.
#include "metrics/base/mapped_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace warpgauge::metrics::mapped_memory_test {
namespace {

/// Four pages: the outer ones cannot be read, so that nothing else lies beside the inner ones.
class MappedPages : public testing::Test {
 protected:
  MappedPages()
      : begin_(static_cast<std::byte*>(
            mmap(nullptr, 4 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~MappedPages() override { munmap(begin_, 4 * page_); }

  std::byte* page(std::size_t number) const { return begin_ + number * page_; }
  void allow(std::size_t number, int rights) const {
    ASSERT_EQ(mprotect(page(number), page_, rights), 0);
  }

  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* const begin_;
};

TEST_F(MappedPages, AreReadableToTheEndOfTheirMapping) {
  ASSERT_NE(begin_, MAP_FAILED);
  allow(1, PROT_READ);
  EXPECT_EQ(readable_bytes(page(1)), page_);
  EXPECT_EQ(readable_bytes(page(1) + 100), page_ - 100);
  EXPECT_EQ(readable_bytes(page(2) - 1), 1u);
}

TEST_F(MappedPages, OfSeveralMappingsInARowAreReadableOnAndOn) {
  ASSERT_NE(begin_, MAP_FAILED);
  allow(1, PROT_READ);
  allow(2, PROT_READ | PROT_WRITE);
  EXPECT_EQ(readable_bytes(page(1)), 2 * page_);
}

TEST_F(MappedPages, WithoutTheRightToReadHaveNothing) {
  ASSERT_NE(begin_, MAP_FAILED);
  allow(2, PROT_READ);
  EXPECT_EQ(readable_bytes(page(0)), 0u);
  EXPECT_EQ(readable_bytes(page(3)), 0u);
}

}  // namespace
}  // namespace warpgauge::metrics::mapped_memory_test
