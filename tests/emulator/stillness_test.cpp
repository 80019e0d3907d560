// When the workers of a launch wait in vain.
#include "harness/emulator/machine/stillness.h"

#include <gtest/gtest.h>

namespace warpgauge::emulator::machine::stillness_test {
namespace {

constexpr int kEnough = 20;  // looks

/// Whether the last of so many looks finds that nothing changes.
bool look(Stillness& stillness, const int& worker, std::uint64_t fingerprint, int looks = kEnough) {
  bool still = false;
  for (int n = 0; n < looks; ++n) still = stillness.look(&worker, fingerprint);
  return still;
}

TEST(Stillness, IsFoundAfterSomeLooksAtTheSame) {
  Stillness stillness;
  const int worker = 0;
  stillness.begin();
  EXPECT_FALSE(look(stillness, worker, 7, 1));
  EXPECT_TRUE(look(stillness, worker, 7));
  EXPECT_FALSE(look(stillness, worker, 8, 1)) << "something has changed";
}

TEST(Stillness, IsThatOfAllWorkers) {
  Stillness stillness;
  const int first = 0, second = 0;
  stillness.begin();
  stillness.begin();
  EXPECT_FALSE(look(stillness, first, 7)) << "the second has not looked";
  look(stillness, second, 9, 1);
  EXPECT_FALSE(look(stillness, first, 7)) << "the second has changed something just now";
  EXPECT_TRUE(look(stillness, second, 9));
}

TEST(Stillness, BeginsAnewWhenAWorkerEnds) {
  Stillness stillness;
  const int first = 0, second = 0;
  stillness.begin();
  stillness.begin();
  look(stillness, first, 7);
  look(stillness, second, 9);
  stillness.end(&second);
  EXPECT_FALSE(look(stillness, first, 7, 1));
  EXPECT_TRUE(look(stillness, first, 7));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::stillness_test
