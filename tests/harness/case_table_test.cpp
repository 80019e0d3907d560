// The table of all cases, as the gate prints it.
#include "harness/outcome/case_table.h"

#include <gtest/gtest.h>

#include "tests/harness/outcome_facts.h"

namespace warpgauge::outcome::case_table_test {
namespace {

using metrics::Verdict;

TEST(CaseTable, HasEveryCaseWithWhatIsJudgedAndWhatIsNot) {
  const Outcome outcome =
      outcome_of({counted("global.excess_sectors", 300, Verdict::unbudgeted),
                  counted("global.sectors_ideal", 100, Verdict::unbudgeted),
                  counted("shared.bank_conflicts", 0, Verdict::pass),
                  counted("registers", 32, Verdict::unbudgeted),
                  counted("shared.bank_conflicts", 992, Verdict::waived, "tiled"),
                  on(beyond(16, 0, "spill.store_bytes"), "sm_90")});
  EXPECT_EQ(case_table(outcome),
            "case                      arch     registers   spilled occupancy conflicts wavefronts "
            "excess sectors ideal sectors local sectors\n"
            "transpose.naive.f32@64x64 sm_90         (32)         -         -         0          - "
            "         (300)         (100)             -\n"
            "transpose.tiled.f32@64x64 sm_90            -       16!         -       992          - "
            "             -             -             -\n"
            "(no budget judges it), ! wrong, - not measured\n\n");
}

}  // namespace
}  // namespace warpgauge::outcome::case_table_test
