// Programs made at random: what does not depend on the order of threads is the same whatever
// atomics return.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "metrics/machine_code/order_dependence.h"
#include "metrics/machine_code/sass_code.h"
#include "tests/metrics/written_code.h"

namespace warpgauge::metrics::order_of_random_code_test {
namespace {

using Effect = OrderDependence::Effect;

/// An instruction on some of the registers R8 to R13, P0 and P1.
struct Step {
  enum Kind { atomic, constant, sum, compare, set, clear, negate, branch, store, exit };
  Kind kind = exit;
  unsigned guard = SassWord::kAlways;
  unsigned to = 0;  // of a branch: the index of its target
  unsigned a = 0, b = 0;
};
using Program = std::vector<Step>;

SassWord word(const Step& step, std::size_t index) {
  const std::uint64_t to = step.to, a = step.a, b = step.b, guard = step.guard << 12;
  const auto distance = (static_cast<std::int64_t>(to) - static_cast<std::int64_t>(index) - 1) * 4;
  const std::uint64_t backward = distance < 0 ? 0xfffffffc00000000 : 0;
  switch (step.kind) {
    case Step::atomic:
      return {.low = 0x30200038c | guard | to << 16, .high = 0x38e0000};
    case Step::constant:
      return {.low = 0x802 | guard | to << 16 | a << 32, .high = 0xf00};
    case Step::sum:
      return {.low = 0x210 | guard | to << 16 | a << 24 | b << 32, .high = 0x3fee0ff};
    case Step::compare:  // with 0
      return {.low = 0xff0000020c | guard | a << 24, .high = 0x3f05270 | to << 17};
    case Step::set:
      return {.low = 0x81c | guard, .high = 0x3f0f070 | to << 17};
    case Step::clear:
      return {.low = 0x81c | guard, .high = 0x3f0e170 | to << 17};
    case Step::negate:
      return {.low = 0x81c | guard, .high = 0x070e170 | to << 17 | a << 23};
    case Step::branch:
      return {.low = 0x947 | guard | (distance & 0xff) << 16 | backward,
              .high = backward != 0 ? 0x383ffffu : 0x3800000u};
    case Step::store:
      return {.low = 0x2800000386 | guard | a << 24, .high = 0x38e0800};
    case Step::exit:
      break;
  }
  return {.low = 0x94d | guard, .high = 0x3800000};
}

Program random_program(std::mt19937& random) {
  constexpr unsigned kSize = 20;
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto any_register = [&] { return 8 + below(6); };
  constexpr std::array kKinds = {Step::atomic, Step::constant, Step::constant, Step::constant,
                                 Step::sum,    Step::compare,  Step::compare,  Step::set,
                                 Step::clear,  Step::negate,   Step::branch,   Step::branch,
                                 Step::store,  Step::store,    Step::store};
  Program program = {{.kind = Step::atomic, .to = any_register()}};
  while (program.size() < kSize) {
    const unsigned next = static_cast<unsigned>(program.size()) + 1;
    Step step{.kind = kKinds[below(kKinds.size())]};
    if (below(2) == 0 || step.kind == Step::branch) step.guard = below(2) | below(2) << 3;
    switch (step.kind) {
      case Step::compare:
      case Step::set:
      case Step::clear:
        step.to = below(2);
        step.a = any_register();
        break;
      case Step::negate:
        step.to = below(2);
        step.a = below(2);
        break;
      case Step::branch:  // mostly forward
        step.to = below(3) == 0 ? below(kSize) : std::min(next + below(6), kSize);
        break;
      case Step::constant:
        step.to = any_register();
        step.a = below(3);
        break;
      default:
        step.to = any_register();
        step.a = any_register();
        step.b = any_register();
    }
    program.push_back(step);
  }
  program.push_back({.kind = Step::exit});
  return program;
}

/// The effects of each instruction, each time: the address of a store, the target of a branch.
using Trace = std::vector<std::vector<unsigned>>;

/// The trace of a thread; nullopt if it runs for too long.
std::optional<Trace> run(const Program& program, std::mt19937 input, std::mt19937 atomics) {
  std::array<unsigned, 14> registers{};
  std::array<bool, 8> predicates{};
  for (unsigned& value : registers) value = input() % 3;
  for (bool& value : predicates) value = input() % 2 == 0;
  predicates[SassWord::kAlways] = true;
  Trace trace(program.size());
  std::size_t at = 0;
  for (int steps = 0; steps < 500; ++steps) {
    const Step& step = program[at];
    const unsigned returned = atomics() % 3;
    const bool executes = predicates[step.guard & 7] != (step.guard > 7);
    const bool stores = executes && step.kind == Step::store;
    trace[at++].push_back(stores ? 1 + registers[step.a] : step.kind == Step::branch && executes);
    if (!executes) continue;
    switch (step.kind) {
      case Step::atomic:
        registers[step.to] = returned;
        break;
      case Step::constant:
        registers[step.to] = step.a;
        break;
      case Step::sum:
        registers[step.to] = registers[step.a] + registers[step.b];
        break;
      case Step::compare:
        predicates[step.to] = registers[step.a] != 0;
        break;
      case Step::set:
      case Step::clear:
        predicates[step.to] = step.kind == Step::set;
        break;
      case Step::negate:
        predicates[step.to] = !predicates[step.a];
        break;
      case Step::branch:
        at = step.to;
        break;
      case Step::store:
        break;
      case Step::exit:
        return trace;
    }
  }
  return std::nullopt;
}

TEST(OrderOfRandomCode, WhatDoesNotDependOnAtomicsIsTheSameWhateverTheyReturn) {
  int compared = 0, may_differ = 0, differ = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const Program program = random_program(random);
    Written code;
    for (std::size_t i = 0; i < program.size(); ++i) code(word(program[i], i));
    std::map<std::size_t, Effect> effects;
    for (const OrderDependence& dependence : code.found()) {
      effects[dependence.pc / SassWord::kBytes] = dependence.effect;
    }
    for (unsigned input = 0; input < 4; ++input) {
      const auto first = run(program, std::mt19937(input), std::mt19937(0));
      for (unsigned atomics = 1; first && atomics < 5; ++atomics) {
        const auto other = run(program, std::mt19937(input), std::mt19937(atomics));
        if (!other) continue;
        for (std::size_t i = 0; i < program.size(); ++i) {
          const auto effect = effects.find(i);
          const auto& a = (*first)[i];
          const auto& b = (*other)[i];
          if (effect == effects.end()) {
            ++compared;
            ASSERT_EQ(a, b) << "program " << seed << ", instruction " << i;
          } else if (effect->second != Effect::execution) {
            ASSERT_EQ(a.size(), b.size()) << "program " << seed << ", instruction " << i;
          }
          may_differ += effect != effects.end();
          differ += a != b;
        }
      }
    }
  }
  EXPECT_GT(compared, 100'000);
  EXPECT_GT(differ, may_differ / 10) << "what is called dependent seldom is";
}

}  // namespace
}  // namespace warpgauge::metrics::order_of_random_code_test
