// Of several problems of a launch the one that is reported.
#include "harness/emulator/machine/lowest_problem.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <initializer_list>

namespace warpgauge::emulator::machine::lowest_problem_test {
namespace {

/// The block whose problem is kept of those that met one in this order.
std::uint64_t kept(std::initializer_list<std::uint64_t> blocks) {
  LowestProblem problem;
  EXPECT_FALSE(problem.is_there());
  problem.rethrow();
  for (const std::uint64_t block : blocks) problem.note(block, std::make_exception_ptr(block));
  EXPECT_TRUE(problem.is_there());
  try {
    problem.rethrow();
  } catch (const std::uint64_t block) {
    return block;
  }
  ADD_FAILURE() << "nothing is thrown";
  return ~std::uint64_t{0};
}

TEST(LowestProblem, IsThatOfTheLowestBlock) {
  EXPECT_EQ(kept({5}), 5u);
  EXPECT_EQ(kept({5, 3, 4}), 3u);
  EXPECT_EQ(kept({0, 3}), 0u);
  EXPECT_EQ(kept({7, 1}), 1u);
}

TEST(LowestProblem, IsTheFirstOfABlock) {
  LowestProblem problem;
  problem.note(2, std::make_exception_ptr(1));
  problem.note(2, std::make_exception_ptr(2));
  try {
    problem.rethrow();
    ADD_FAILURE() << "nothing is thrown";
  } catch (const int number) {
    EXPECT_EQ(number, 1);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::lowest_problem_test
