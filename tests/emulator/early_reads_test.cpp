// Instructions that may read the sums of a product too early, as the decoder finds them.
#include "harness/emulator/machine/decode/early_reads.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::machine::decode::early_reads_test {
namespace {

/// Of a product (0), a wait (1) and a sum (2).
EarlyReads with_wait(const std::string& groups) {
  const ptx::Function function = ptx::parse_body(R"(
    .reg .f32 %d<4>; .reg .f32 %x; .reg .b64 %rd<2>;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %rd0, %rd1, 1, 1, 1,
        0, 0;
    wgmma.wait_group.sync.aligned )" + groups +
                                                 R"(;
    add.f32 %x, %d0, %d3;
    ret;
  )");
  return early_reads(function, block_graph(function));
}

TEST(EarlyReads, EndWithTheWaitForAllGroups) {
  EXPECT_EQ(with_wait("0"), EarlyReads());
  EXPECT_EQ(with_wait("1"), EarlyReads({{2, {0}}}));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::decode::early_reads_test
