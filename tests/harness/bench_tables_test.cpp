// Tables of times, speeds and accuracy: whole tables, literally.
#include "harness/bench/bench_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpgauge::bench_tables_test {
namespace {

using testing::HasSubstr;
using testing::Not;

bench::Timing timing(const std::string& variant, const std::string& size, double us) {
  return {.id = {"transpose", variant, "f32", size}, .estimate = {.median = us}};
}

TEST(TimesTable, HasVariantsDownAndSizesAcross) {
  EXPECT_EQ(bench::times_table({timing("naive", "1000x700", 12.344), timing("naive", "64", 1.5),
                                timing("padded", "64", 12345.6)}),
            "## transpose\n\n"
            "| median µs | 1000x700 | 64 |\n"
            "|---|---:|---:|\n"
            "| naive.f32 | 12.34 | 1.50 |\n"
            "| padded.f32 |  | 12346 |\n\n");
}

TEST(TimesTable, SizesThatSpanAGridAreDrawnAsOne) {
  std::vector<bench::Timing> sweep;
  for (const int y : {1, 2, 4, 8}) {
    for (const int x : {8, 16, 32, 64}) {
      if (y == 8 && x == 64) continue;  // not every place needs to be there
      sweep.push_back(timing("naive", std::to_string(y) + "x" + std::to_string(x), y + x));
    }
  }
  const std::string table = bench::times_table(sweep);
  EXPECT_THAT(table, HasSubstr("### naive.f32, median µs by size\n"));
  EXPECT_THAT(table, HasSubstr("across | 8 | 16 | 32 | 64 |\n"));
  EXPECT_THAT(table, HasSubstr("| 4 | 12.00 | 20.00 | 36.00 | 68.00 |\n"));
  EXPECT_THAT(table, HasSubstr("| 8 | 16.00 | 24.00 | 40.00 |  |\n"));
}

TEST(SpeedsTable, LeavesOutWhatACaseDoesNotHave) {
  bench::Timing padded = timing("padded", "64", 2);
  padded.bytes_per_second = 2.85e12;
  padded.percent_of_peak = 85.04;
  padded.yardstick = "copy";
  padded.relative_to = 0.951;
  padded.sequential_ms = 4;
  EXPECT_THAT(
      bench::speeds_table({padded}),
      HasSubstr("| transpose.padded.f32@64 | 2.00 | 2.85 TB/s | 85.0 % | - | - | copy | 0.951 | "
                "4000 | 2e+03 |\n"));
  EXPECT_THAT(bench::speeds_table({timing("naive", "64", 2)}),
              HasSubstr("| 2.00 | - | - | - | - | - | - | - | - |\n"));
  bench::Timing product = timing("tiled", "64", 2);
  product.flops_per_second = 3.01e13;
  product.percent_of_arithmetic_peak = 44.98;
  EXPECT_THAT(bench::speeds_table({product}),
              HasSubstr("| 2.00 | - | - | 30.1 TFLOP/s | 45.0 % | - |"));
}

TEST(Tables, MarkTimesInWhichTheGpuWaitedForTheHost) {
  bench::Timing slow = timing("naive", "64", 112);
  slow.why_not_held = "its launches wait for the GPU";
  slow.max_error = 1e-7;
  const std::vector<bench::Timing> timings = {slow, timing("padded", "64", 2)};
  const std::string note = "\n\n\\* the GPU waited for the host: its launches wait for the GPU\n";
  for (const std::string& table : {bench::times_table(timings), bench::speeds_table(timings),
                                   bench::accuracy_table(timings)}) {
    EXPECT_THAT(table, HasSubstr("| 112.00 \\* |"));
    EXPECT_THAT(table, testing::EndsWith(note));
  }
  EXPECT_THAT(bench::times_table(timings), HasSubstr("| padded.f32 | 2.00 |"));
  EXPECT_THAT(bench::times_table({timing("padded", "64", 2)}), Not(HasSubstr("\\*")));
}

TEST(AccuracyTable, HasTheCasesThatWereComparedWithinATolerance) {
  EXPECT_EQ(bench::accuracy_table({timing("exact", "64", 2)}), "");
  bench::Timing close = timing("fast_sine", "64", 2);
  close.max_error = 5e-7;
  close.mean_absolute_error = 1.25e-8;
  const std::string table = bench::accuracy_table({timing("exact", "64", 2), close});
  EXPECT_THAT(table, HasSubstr("| transpose.fast_sine.f32@64 | 1.25e-08 | - | 5e-07 | 2.00 |\n"));
  EXPECT_THAT(table, Not(HasSubstr("exact")));
}

}  // namespace
}  // namespace warpgauge::bench_tables_test
