// wgmma and setmaxnreg: forms that do not exist, descriptors that cannot be, and warps that are no
// warpgroup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/emulator/wgmma_product.h"

namespace warpgauge::emulator::machine::wgmma_fault_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint32_t kShared = 96 * 1024, kTile = 8192;
const std::uint64_t kDescriptor = tile_descriptor(kTile, 128, 256, 0);

std::string message(const std::string& text, Shape shape = {}) {
  if (shape.block[0] == 32) shape.block[0] = 128;
  shape.dynamic_shared_bytes = kShared;
  const std::optional<Fault> fault = fault_of(text, shape);
  return fault ? fault->what() : "";
}
/// A kernel with these instructions, behind declarations of registers.
std::string kernel_of(const std::string& instructions) {
  return kernel_text(
      ".reg .b32 %d<128>, %a<4>, %meta;\n.reg .b64 %da, %db;\n.reg .pred %adds;\n"
      "setp.eq.s32 %adds, %r0, %r0;\n" +
          instructions,
      ".extern .shared .align 1024 .b8 tiles[];\n");
}
std::string refusal(const std::string& instructions) { return message(kernel_of(instructions)); }
std::string message(const TileProduct& product, std::uint64_t a = kDescriptor,
                    std::uint64_t b = kDescriptor) {
  return refusal(product.instruction(a, b));
}

TEST(WgmmaFault, FormsThatDoNotExist) {
  const auto why = [](const std::string& form, const std::string& rest) {
    return refusal("mov.u64 %da, 512; mov.u64 %db, 512; wgmma.mma_async." + form +
                   " {%d0, %d1, %d2, %d3}, %da, %db, " + rest + ";");
  };
  EXPECT_EQ(why("sync.aligned.m64n8k16.f32.f16.f16", "%adds, 1, 1, 0, 0"), "");
  EXPECT_THAT(why("aligned.m64n8k16.f32.f16.f16", "%adds, 1, 1, 0, 0"), HasSubstr("without .sync"));
  EXPECT_THAT(why("sync.aligned.m64n12k16.f32.f16.f16", "%adds, 1, 1, 0, 0"), HasSubstr("shape"));
  EXPECT_THAT(why("sync.aligned.m64n264k16.f32.f16.f16", "%adds, 1, 1, 0, 0"), HasSubstr("shape"));
  EXPECT_THAT(why("sync.aligned.m64n8k32.f32.f16.f16", "%adds, 1, 1, 0, 0"), HasSubstr("shape"));
  EXPECT_THAT(why("sync.aligned.m64n40k32.s32.s8.s8", "%adds"), HasSubstr("shape"));
  EXPECT_THAT(why("sync.aligned.m16n8k16.f32.f16.f16", "%adds, 1, 1, 0, 0"), HasSubstr("shape"));
  EXPECT_THAT(why("sync.aligned.m64n16k16.f32.f16.f16", "%adds, 1, 1, 0, 0"),
              HasSubstr("the number of registers"));
  EXPECT_THAT(why("sync.aligned.m64n8k16.f32.f16.bf16", "%adds, 1, 1, 0, 0"), HasSubstr("types"));
  EXPECT_THAT(why("sync.aligned.m64n8k16.f16.bf16.bf16", "%adds, 1, 1, 0, 0"), HasSubstr("types"));
  EXPECT_THAT(why("sync.aligned.m64n8k8.f32.tf32.tf32", "%adds, 1, 1, 0, 0"),
              HasSubstr("the number of operands"));
  EXPECT_THAT(why("sync.aligned.m64n8k16.f32.f16.f16", "%adds, 1, 1, 0"), HasSubstr("operands"));
  EXPECT_THAT(why("sync.aligned.m64n8k16.f32.f16.f16", "%adds, 2, 1, 0, 0"), HasSubstr("scale"));
  EXPECT_THAT(why("sync.aligned.m64n8k256.s32.b1.b1.xor.popc", "%adds"), HasSubstr(".and"));
  EXPECT_THAT(why("sp.sync.aligned.m64n8k64.s32.s8.s8", "%r0, 1, %adds"), HasSubstr("selector"));
  EXPECT_THAT(why("sync.aligned.m64n8k16.f32.f16.f16.satfinite", "%adds, 1, 1, 0, 0"),
              HasSubstr("satfinite"));
}

TEST(WgmmaFault, TheOtherInstructions) {
  EXPECT_EQ(refusal("wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; "
                    "wgmma.wait_group.sync.aligned 7;"),
            "");
  EXPECT_EQ(refusal("setmaxnreg.dec.sync.aligned.u32 40; setmaxnreg.inc.sync.aligned.u32 232;"),
            "");
  EXPECT_THAT(refusal("wgmma.wait_group.sync.aligned 8;"), HasSubstr("number of groups"));
  EXPECT_THAT(refusal("wgmma.fence.aligned;"), HasSubstr("without .sync"));
  EXPECT_THAT(refusal("wgmma.flush.sync.aligned;"), HasSubstr(".flush"));
  EXPECT_THAT(refusal("setmaxnreg.inc.sync.aligned.u32 16;"), HasSubstr("number of registers"));
  EXPECT_THAT(refusal("setmaxnreg.inc.sync.aligned.u32 36;"), HasSubstr("8 does not divide"));
  EXPECT_THAT(refusal("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r3, %r4}, [%r5];"),
              HasSubstr("not emulated: ldmatrix"));
}

TEST(WgmmaFault, ATileThatLeavesSharedMemory) {
  TileProduct product;
  product.n = 16;
  EXPECT_THAT(message(product, tile_descriptor(kShared - 1024, 128, 256, 0)),
              AllOf(HasSubstr("thread (96,0,0)"), HasSubstr("PTX line"),
                    HasSubstr("invalid shared read of 16 bytes at 0x18200 by wgmma, of row 48 of "
                              "A: the block has 98304 bytes of shared memory")));
  EXPECT_THAT(message(product, kDescriptor, tile_descriptor(kShared - 256 - 16, 128, 256, 0)),
              HasSubstr("at 0x18000 by wgmma, of column 9 of B"));
  product.b_place.is_mn_major = true;
  EXPECT_THAT(message(product, kDescriptor, tile_descriptor(kShared - 64, 128, 256, 0)),
              HasSubstr("at 0x18000 by wgmma, of row 4 of B"));
}

TEST(WgmmaFault, DescriptorsThatCannotBe) {
  const TileProduct product;
  EXPECT_THAT(message(product, kDescriptor | std::uint64_t{1} << 15),
              HasSubstr("the matrix descriptor of A, 0x1000088200, has bits that must be 0: bits "
                        "0x8000"));
  EXPECT_THAT(message(product, kDescriptor, kDescriptor | std::uint64_t{1} << 52),
              HasSubstr("the matrix descriptor of B"));
  EXPECT_THAT(message(product, kDescriptor | std::uint64_t{1} << 49),
              HasSubstr("has a base offset without swizzling"));
}

TEST(WgmmaFault, OperandsThatDifferBetweenLanes) {
  TileProduct product;
  const std::string text = product.instruction(kDescriptor, kDescriptor);
  const auto with = [&](const std::string& change) {
    std::string changed = text;
    return refusal(changed.insert(changed.find("wgmma.mma_async"), change));
  };
  EXPECT_EQ(with(""), "");
  EXPECT_THAT(with("cvt.u64.u32 %da, %r0;\n"), HasSubstr("descriptor of A differs between lanes"));
  EXPECT_THAT(with("cvt.u64.u32 %db, %r0;\n"), HasSubstr("descriptor of B differs between lanes"));
  EXPECT_THAT(with("setp.eq.s32 %adds, %r0, 5;\n"), HasSubstr("scale-d differs between lanes"));
}

TEST(WgmmaFault, WarpsThatAreNoWarpgroup) {
  const std::string product = TileProduct().instruction(kDescriptor, kDescriptor);
  for (const std::uint32_t threads : {64u, 100u, 192u}) {
    Shape shape;
    shape.block = {threads, 1, 1};
    EXPECT_THAT(message(kernel_of(product), shape),
                HasSubstr("which is four whole warps: the block has " + std::to_string(threads) +
                          " threads"));
  }
  Shape two;
  two.block = {64, 4, 1};
  EXPECT_EQ(message(kernel_text("wgmma.fence.sync.aligned;"), two), "");
  EXPECT_THAT(refusal("setp.eq.s32 %p3, %r0, 40;\n@%p3 exit;\n" + product),
              HasSubstr("without all lanes of a warp"));
  EXPECT_THAT(refusal("setp.eq.s32 %p3, %r0, 40;\n@%p3 wgmma.fence.sync.aligned;\nbar.sync 0;"),
              HasSubstr("deadlock"));
}

TEST(WgmmaFault, AWarpgroupDoesNotWaitForAnother) {
  Shape two;
  two.block = {256, 1, 1};
  EXPECT_EQ(message(kernel_of("setp.lt.u32 %p3, %r0, 128;\n@%p3 exit;\n" +
                              TileProduct().instruction(kDescriptor, kDescriptor)),
                    two),
            "");
}

TEST(WgmmaFault, OneLaneMaySetTheNumberOfRegisters) {
  EXPECT_EQ(refusal("setp.eq.s32 %p3, %r0, 64;\n@%p3 setmaxnreg.dec.sync.aligned.u32 40;"), "");
  EXPECT_EQ(refusal("setp.ne.s32 %p3, %r0, 64;\n@%p3 exit;\nsetmaxnreg.dec.sync.aligned.u32 40;"),
            "");
  Shape shape;
  shape.block = {64, 1, 1};
  EXPECT_THAT(message(kernel_of("setmaxnreg.dec.sync.aligned.u32 40;"), shape),
              HasSubstr("which is four whole warps: the block has 64 threads"));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::wgmma_fault_test
