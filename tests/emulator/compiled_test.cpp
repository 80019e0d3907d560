// Kernels as nvcc compiles them, for four architectures: tests/data/machine/kernels.cu.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/retarget.h"

namespace warpgauge::emulator::machine::compiled_test {
namespace {

/// An architecture, and the one whose recorded PTX is the same but for `.target`.
struct Target {
  const char *arch, *recorded;
};

class Compiled : public ::testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    const auto& [arch, recorded] = GetParam();
    const auto path = std::filesystem::path(WARPGAUGE_TEST_DATA) / "machine" /
                      ("kernels." + std::string(recorded) + ".ptx");
    std::ifstream in(path);
    ASSERT_TRUE(in) << path;
    const std::string text = retarget((std::stringstream() << in.rdbuf()).str(), arch);
    machine_ = std::make_unique<Machine>(Architecture{}, limited());
    program_ = &machine_->load(ptx::parse(text, path.string()));
    std::mt19937 random(17);
    for (Words::value_type& word : input_) word = random();
  }

  /// Runs a kernel on the input; `words` words of output, 0 before.
  KernelRun run(const std::string& name, const Shape& shape, std::size_t words, int n) {
    Kernel* const kernel = machine_->find_kernel(*program_, name);
    if (kernel == nullptr) throw std::logic_error("there is no kernel " + name);
    std::byte *const input = device(input_.size()), *const output = device(words);
    std::memcpy(input, input_.data(), 4 * input_.size());
    std::memset(output, 0, 4 * words);
    struct {
      std::byte* output;
      std::byte* input;
      int n;
    } const parameters = {output, input, n};
    KernelRun run;
    run.outcome = machine_->run(*kernel, {shape.grid, shape.block, 0, shape.cooperative,
                                          std::as_bytes(std::span(&parameters, 1))});
    run.output.resize(words);
    std::memcpy(run.output.data(), output, 4 * words);
    return run;
  }

  Words input_ = Words(40'000);

 private:
  std::byte* device(std::size_t words) {
    return machine_->memory().allocate(4 * words, memory::Memory::Kind::device, "test");
  }
  std::unique_ptr<Machine> machine_;
  Program* program_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Architectures, Compiled,
                         ::testing::Values(Target{"sm_75", "sm_75"}, Target{"sm_90", "sm_75"},
                                           Target{"sm_100", "sm_100"}, Target{"sm_120", "sm_100"}),
                         [](const auto& info) { return std::string(info.param.arch); });

TEST_P(Compiled, Reduce) {
  const KernelRun result = run("reduce", {{40, 1, 1}, {256, 1, 1}}, 40, 10'001);
  EXPECT_EQ(result.output, words(40, [&](auto block) {
              const auto begin = input_.begin() + static_cast<int>(block) * 256;
              return std::accumulate(begin, std::min(begin + 256, input_.begin() + 10'001), 0u);
            }));
  EXPECT_EQ(stores(result.outcome), 40u);
}

TEST_P(Compiled, Transpose) {
  constexpr std::size_t kEdge = 150;
  const KernelRun result = run("transpose", {{5, 5, 1}, {32, 8, 1}}, kEdge * kEdge, kEdge);
  EXPECT_EQ(result.output,
            words(kEdge * kEdge, [&](auto n) { return input_[n % kEdge * kEdge + n / kEdge]; }));
  // Each row of each tile that lies in the matrix is stored by one warp instruction.
  EXPECT_EQ(stores(result.outcome), kEdge * 5);
  const AccessTotals shared = totals_of(result.outcome, AccessTotals::Space::shared);
  EXPECT_EQ(shared.requests, 2 * kEdge * 5);
  EXPECT_EQ(shared.wavefronts, shared.requests);  // free of bank conflicts
}

TEST_P(Compiled, Histogram) {
  const KernelRun result = run("histogram", {{7, 1, 1}, {200, 1, 1}}, 256, 39'000);
  Words expected(256);
  for (int n = 0; n < 39'000; ++n) ++expected[input_[static_cast<std::size_t>(n)] & 255];
  EXPECT_EQ(result.output, expected);
}

TEST_P(Compiled, Collatz) {
  const KernelRun result = run("collatz", {{1, 1, 1}, {100, 1, 1}}, 100, 0);
  EXPECT_EQ(result.output, words(100, [&](auto n) {
              std::uint32_t value = input_[n] % 1000 + 1, steps = 0;
              for (; value != 1; ++steps) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
              return steps;
            }));
  EXPECT_EQ(stores(result.outcome), 4u);
}

TEST_P(Compiled, Choose) {
  const KernelRun result = run("choose", {{1, 1, 1}, {256, 1, 1}}, 256, 0);
  EXPECT_EQ(result.output, words(256, [&](auto n) -> std::size_t {
              const auto i = static_cast<std::uint32_t>(n);
              const std::size_t results[] = {i * 3,
                                             i + 77,
                                             i ^ 5,
                                             i / 3,
                                             static_cast<std::size_t>(std::popcount(i)),
                                             static_cast<std::size_t>(std::countl_zero(i)),
                                             i * i,
                                             i << 3,
                                             12345};
              return results[input_[n] % 9];
            }));
  EXPECT_EQ(stores(result.outcome), 8u);
}

TEST_P(Compiled, Quicksort) {
  const KernelRun result = run("quicksort", {{1, 1, 1}, {70, 1, 1}}, 70 * 16, 0);
  Words expected(input_.begin(), input_.begin() + 70 * 16);
  for (int n = 0; n < 70; ++n) {
    std::sort(expected.begin() + n * 16, expected.begin() + n * 16 + 16);
  }
  EXPECT_EQ(result.output, expected);
}

TEST_P(Compiled, Shapes) {
  const KernelRun result = run("shapes", {{1, 1, 1}, {100, 1, 1}}, 100, 0);
  EXPECT_EQ(result.output,
            words(100, [&](auto n) { return input_[n] % 3 == 0 ? n * 25 : n + 20; }));
}

TEST_P(Compiled, Tickets) {
  const KernelRun result = run("tickets", {{6, 1, 1}, {64, 1, 1}}, 1 + 6 * 64, 0);
  EXPECT_EQ(result.output[0], 6u * 64);
  Words tickets(result.output.begin() + 1, result.output.end());
  std::sort(tickets.begin(), tickets.end());
  EXPECT_EQ(tickets, words(6 * 64, [](auto n) { return n; }));
}

TEST_P(Compiled, Rounds) {
  const KernelRun result = run("rounds", {{12, 1, 1}, {64, 1, 1}, 0, true}, 24, 5);
  EXPECT_EQ(result.output, words(24, [](auto n) { return n < 12 ? 15 : 12 * 15; }));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::compiled_test
