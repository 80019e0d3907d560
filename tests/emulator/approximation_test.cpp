// The approximate functions against what an H100 gave for all arguments, by recorded sums
// (tests/data/approximation). Some ranges of arguments; all, on the best instruction set, if
// WARPGAUGE_EXHAUSTIVE is set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/emulator/alu_bench.h"
#include "tests/support/result_sum.h"

namespace warpgauge::emulator::machine::approximation_test {
namespace {

using support::sum_term;

bool exhaustive() { return std::getenv("WARPGAUGE_EXHAUSTIVE") != nullptr; }

std::vector<std::uint64_t> recorded(const std::string& form) {
  std::ifstream in(WARPGAUGE_TEST_DATA "/approximation/" + form + ".sums", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  EXPECT_FALSE(bytes.empty()) << form;
  std::vector<std::uint64_t> sums(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  return sums;
}

using Numbers = std::vector<std::size_t>;

/// Some of 1024 ranges of floats: those from 1/2 to 8, which cover most segments, and others.
const Numbers kRanges = {0, 252, 254, 255, 256, 257, 765, 1023};

/// Calls check(isa, n) from several threads: for `some` n and each instruction set, or for all n
/// below `count` and the best one.
template <typename Check>
void for_some(std::size_t count, Numbers some, const Check& check) {
  auto sets = arithmetic_instruction_sets();
  if (exhaustive()) {
    sets = {sets.back()};
    some.resize(count);
    std::iota(some.begin(), some.end(), 0);
  }
  for (const isa::Isa* const isa : sets) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      SCOPED_TRACE(isa->name);
      for (std::size_t i = next++; i < some.size(); i = next++) check(*isa, some[i]);
    };
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  }
}

struct Form {
  const char* name;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

class ApproximationOf : public testing::TestWithParam<Form> {
 protected:
  const std::string form_ = GetParam().name;
};
std::string test_name(const testing::TestParamInfo<Form>& form) {
  std::string name = form.param.name;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

class OfAFloat : public ApproximationOf {};
TEST_P(OfAFloat, HasTheRecordedSums) {
  const auto sums = recorded(form_);
  ASSERT_EQ(sums.size(), 1024u);
  for_some(sums.size(), kRanges, [&](const isa::Isa& isa, std::size_t n) {
    AluBench bench(isa, ".reg .f32 %d, %a;", form_ + " %d, %a;");
    auto* const a = bench.reg<std::uint32_t>("%a");
    const auto* const d = bench.reg<std::uint32_t>("%d");
    std::uint64_t sum = 0;
    const std::uint64_t begin = std::uint64_t{n} << 22, end = begin + (1 << 22);
    for (std::uint64_t x = begin; x < end; x += kLanes) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        a[lane] = static_cast<std::uint32_t>(x) + lane;
      }
      bench.run();
      for (int lane = 0; lane < kLanes; ++lane) sum += sum_term(a[lane], d[lane]);
    }
    EXPECT_EQ(sum, sums[n]) << "arguments from " << begin;
  });
}
INSTANTIATE_TEST_SUITE_P(All, OfAFloat,
                         testing::Values(Form{"rcp.approx.f32"}, Form{"rcp.approx.ftz.f32"},
                                         Form{"rsqrt.approx.f32"}, Form{"rsqrt.approx.ftz.f32"},
                                         Form{"sqrt.approx.f32"}, Form{"sqrt.approx.ftz.f32"},
                                         Form{"ex2.approx.f32"}, Form{"ex2.approx.ftz.f32"},
                                         Form{"lg2.approx.f32"}, Form{"lg2.approx.ftz.f32"},
                                         Form{"sin.approx.f32"}, Form{"sin.approx.ftz.f32"},
                                         Form{"cos.approx.f32"}, Form{"cos.approx.ftz.f32"},
                                         Form{"tanh.approx.f32"}),
                         test_name);

/// Warps with special arguments are computed in another way than those without.
TEST_P(OfAFloat, IsTheSameBesideASpecialArgument) {
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    AluBench bench(*isa, ".reg .f32 %d, %a;", form_ + " %d, %a;");
    auto* const a = bench.reg<std::uint32_t>("%a");
    const auto* const d = bench.reg<std::uint32_t>("%d");
    for (std::uint32_t first = 0x3b000000; first < 0x42000000; first += 0x00012345) {
      const auto run = [&](std::uint32_t last) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) a[lane] = first + lane * 0x00023457;
        a[kLanes - 1] = last;
        bench.run();
        return std::vector<std::uint32_t>(d, d + kLanes - 1);
      };
      const auto alone = run(0x3f800000);
      for (const std::uint32_t special : {0u, 1u, 0x80000000u, 0x7f800000u, 0x7fc00000u}) {
        ASSERT_EQ(run(special), alone) << isa->name << ": beside " << special;
      }
    }
  }
}

class StartingValue : public ApproximationOf {};
TEST_P(StartingValue, HasTheRecordedSumsOfUpperHalves) {
  const auto sums = recorded(form_);
  ASSERT_EQ(sums.size(), 1024u);
  for_some(sums.size(), kRanges, [&](const isa::Isa& isa, std::size_t n) {
    AluBench bench(isa, ".reg .f64 %d, %a;", form_ + " %d, %a;");
    auto* const a = bench.reg<std::uint64_t>("%a");
    const auto* const d = bench.reg<std::uint64_t>("%d");
    std::uint64_t sum = 0, lower = 0;
    const std::uint64_t begin = std::uint64_t{n} << 22, end = begin + (1 << 22);
    for (std::uint64_t x = begin; x < end; x += kLanes) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t upper = static_cast<std::uint32_t>(x) + lane;
        a[lane] = std::uint64_t{upper} << 32 | upper * 2654435761u;  // the lower half is ignored
      }
      bench.run();
      for (int lane = 0; lane < kLanes; ++lane) {
        lower |= d[lane] & 0xffffffff;
        sum += sum_term(static_cast<std::uint32_t>(a[lane] >> 32),
                        static_cast<std::uint32_t>(d[lane] >> 32));
      }
    }
    EXPECT_EQ(sum, sums[n]) << "upper halves from " << begin;
    EXPECT_EQ(lower, 0u);
  });
}
INSTANTIATE_TEST_SUITE_P(All, StartingValue,
                         testing::Values(Form{"rcp.approx.ftz.f64"}, Form{"rsqrt.approx.ftz.f64"}),
                         test_name);

class OfAHalf : public ApproximationOf {};
TEST_P(OfAHalf, HasTheRecordedSum) {
  const auto sums = recorded(form_);
  ASSERT_EQ(sums.size(), 1u);
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(isa->name);
    AluBench single(*isa, ".reg .b16 %d, %a;", form_ + " %d, %a;");
    AluBench pair(*isa, ".reg .b32 %d, %a;", form_ + "x2 %d, %a;");
    std::uint64_t sum = 0, lower = 0, upper = 0;
    for (std::uint32_t x = 0; x < 65536; x += kLanes) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        single.reg<std::uint16_t>("%a")[lane] = static_cast<std::uint16_t>(x + lane);
        pair.reg<std::uint32_t>("%a")[lane] = (x + lane) | (65535 - (x + lane)) << 16;
      }
      single.run();
      pair.run();
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t both = pair.reg<std::uint32_t>("%d")[lane];
        sum += sum_term(x + lane, single.reg<std::uint16_t>("%d")[lane]);
        lower += sum_term(x + lane, both & 0xffff);
        upper += sum_term(65535 - (x + lane), both >> 16);
      }
    }
    EXPECT_EQ(sum, sums[0]);
    EXPECT_EQ(lower, sums[0]);
    EXPECT_EQ(upper, sums[0]);
  }
}
INSTANTIATE_TEST_SUITE_P(All, OfAHalf,
                         testing::Values(Form{"ex2.approx.f16"}, Form{"ex2.approx.ftz.bf16"},
                                         Form{"tanh.approx.f16"}, Form{"tanh.approx.bf16"}),
                         test_name);

class Quotient : public ApproximationOf {};
TEST_P(Quotient, HasTheRecordedSums) {
  const auto sums = recorded(form_);
  ASSERT_EQ(sums.size(), 512u);
  // The last of them has a quotient that is rounded to the smallest normal number.
  for_some(sums.size(), {0, 1, 127, 128, 200, 254, 255, 256 + 73},
           [&](const isa::Isa& isa, std::size_t n) {
             AluBench bench(isa, ".reg .f32 %d, %a, %b;", form_ + " %d, %a, %b;");
             auto* const a = bench.reg<std::uint32_t>("%a");
             auto* const b = bench.reg<std::uint32_t>("%b");
             const auto* const d = bench.reg<std::uint32_t>("%d");
             const std::uint32_t dividend = static_cast<std::uint32_t>(n % 256);
             const std::uint32_t pairs = n < 256 ? support::kFewPairs : support::kManyPairs;
             std::uint64_t sum = 0;
             for (std::uint32_t divisor = 0; divisor < 256; ++divisor) {
               const std::uint32_t exponents = dividend << 8 | divisor;
               for (std::uint32_t i = 0; i < pairs; i += kLanes) {
                 for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                   const support::FloatPair pair = support::float_pair(exponents, i + lane);
                   a[lane] = pair.a;
                   b[lane] = pair.b;
                 }
                 bench.run();
                 for (std::uint32_t lane = 0; lane < kLanes; ++lane)
                   sum += sum_term(i + lane, d[lane]);
               }
             }
             EXPECT_EQ(sum, sums[n]) << pairs << " dividends with exponent " << dividend;
           });
}
INSTANTIATE_TEST_SUITE_P(All, Quotient,
                         testing::Values(Form{"div.approx.f32"}, Form{"div.approx.ftz.f32"},
                                         Form{"div.full.f32"}, Form{"div.full.ftz.f32"}),
                         test_name);

TEST(Approximation, TheInverseRootOfADoubleHasTheRecordedSums) {
  const auto sums = recorded("rsqrt.approx.f64");
  ASSERT_EQ(sums.size(), 16u);
  for_some(sums.size(), {0, 3, 4, 7, 15}, [&](const isa::Isa& isa, std::size_t n) {
    AluBench bench(isa, ".reg .f64 %d, %a;", "rsqrt.approx.f64 %d, %a;");
    auto* const a = bench.reg<std::uint64_t>("%a");
    const auto* const d = bench.reg<std::uint64_t>("%d");
    std::uint64_t sum = 0;
    for (std::uint32_t upper = 0; upper < 256; ++upper) {
      for (std::uint32_t i = 0; i < 4096; i += kLanes) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          a[lane] = support::double_with(static_cast<std::uint32_t>(n) << 8 | upper, i + lane);
        }
        bench.run();
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          sum += support::sum_term_64(i + lane, d[lane]);
        }
      }
    }
    EXPECT_EQ(sum, sums[n]) << "signs and exponents from " << n * 256;
  });
}

}  // namespace
}  // namespace warpgauge::emulator::machine::approximation_test
