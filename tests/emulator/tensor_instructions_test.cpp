// Tensor copies as instructions: operands, mbarriers, tensor maps that kernels change, and what is
// reported of wrong ones. tensor_box_test.cpp and tensor_copies_test.cpp look at the boxes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>

#include "harness/emulator/machine/memory/tensor_map.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::tensor_instructions_test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMapWords = memory::kTensorMapBytes / 4;
constexpr std::size_t kWidth = 16, kHeight = 8;  // of the tensor, in words

/// A map of 16 x 8 words; a copy moves 8 x 4 of them.
memory::TensorMap small_map() {
  memory::TensorMap map;
  map.type = memory::TensorMap::Type::u32;
  map.rank = 2;
  map.size = {kWidth, kHeight, 1, 1, 1};
  map.stride = {4 * kWidth, 0, 0, 0};
  map.box = {8, 4, 1, 1, 1};
  return map;
}

/// Input: the map, without an address, and behind it a tensor that counts from 1000.
Words with_tensor(const memory::TensorMap& map) {
  Words input(kMapWords + kWidth * kHeight);
  memory::write_tensor_map(map, reinterpret_cast<std::byte*>(input.data()));
  for (std::size_t n = 0; n < kWidth * kHeight; ++n) {
    input[kMapWords + n] = 1000 + static_cast<std::uint32_t>(n);
  }
  return input;
}

/// A block with 128 bytes of shared memory at %r11 that hold 9, %r12 the word of each thread, an
/// mbarrier at %r10; the tensor behind the map, whose address thread 0 writes into it.
std::string with_map(const std::string& body) {
  return R"(
    .shared .align 128 .b32 s[32];
    .shared .align 8 .b64 bar[1];
    mov.u32 %r10, bar;
    mov.u32 %r11, s;
    mad.lo.u32 %r12, %r0, 4, %r11;
    st.shared.u32 [%r12], 9;
    setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [%r10], 1;
    add.u64 %rd3, %rd2, 128;
    @%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd3;
    fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
    fence.proxy.async;
    bar.sync 0;
    mov.u32 %r20, 4;
    mov.u32 %r21, 2;
)" + body;
}

constexpr const char* kLoad = R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 128;
    @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%r11], [%rd2, {%r20, %r21}], [%r10];
  wait:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0;
    @!%p2 bra wait;
    ld.shared.u32 %r14, [%r12];
    st.global.u32 [%rd1], %r14;
    ret;)";

TEST(TensorInstructions, LoadABox) {
  const KernelRun run = run_body(with_map(kLoad), {}, with_tensor(small_map()));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 1000 + (2 + n / 8) * kWidth + 4 + n % 8; }));
}

TEST(TensorInstructions, AnotherBoxAfterAnotherReplacement) {
  const KernelRun run = run_body(with_map(std::string(R"(
    prefetch.tensormap [%rd2];
    @%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 0, 4;
    @%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 1, 8;
    mov.u32 %r21, -1;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd2, {%r20, %r21}];
)") + kLoad),
                                 {}, with_tensor(small_map()));
  EXPECT_EQ(run.output,
            words(32, [](auto n) { return n < 4 ? 0 : 1000 + (n / 4 - 1) * kWidth + 4 + n % 4; }));
}

/// The tile of the only access of 4 bytes that a warp makes to shared memory and that is a load.
std::optional<metrics::CopiedTile> tile_read(const KernelRun& run) {
  for (const InstructionRecord& record : run.outcome.records) {
    if (record.access.kind == metrics::AccessKind::shared_load && record.access.width == 4) {
      return record.access.tile;
    }
  }
  return std::nullopt;
}

TEST(TensorInstructions, AReaderIsToldTheTileThatACopyWrote) {
  const auto tile = tile_read(run_body(with_map(kLoad), {}, with_tensor(small_map())));
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rows, 4u);
  EXPECT_EQ(tile->row_bytes, 32u);
  EXPECT_EQ(tile->swizzle, metrics::Swizzle::none);
  memory::TensorMap swizzled = small_map();
  swizzled.swizzle = memory::Swizzle::span_32;
  const auto other = tile_read(run_body(with_map(kLoad), {}, with_tensor(swizzled)));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->swizzle, metrics::Swizzle::span_32);
}

TEST(TensorInstructions, AReaderOfWhatThreadsWroteSinceIsToldOfNoTile) {
  std::string text = kLoad;
  text.replace(text.find("ld.shared"), 0, "st.shared.u32 [%r12], %r0;\n    ");
  EXPECT_FALSE(tile_read(run_body(with_map(text), {}, with_tensor(small_map()))));
}

TEST(TensorInstructions, StoreAndReduceABox) {
  const memory::TensorMap map = [] {
    memory::TensorMap map = small_map();
    map.size = {8, 4, 1, 1, 1};
    map.stride = {32, 0, 0, 0};
    return map;
  }();
  const std::string body = R"(
    mov.u32 %r20, 4;
    mov.u32 %r21, 1;
    @!%p1 ret;
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd0;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r20, %r21}], [%r11];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    mov.u32 %r21, 2;
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group
        [%rd2, {%r20, %r21}], [%r11];
    ret;)";
  const KernelRun run = run_body(with_map(body), {}, with_tensor(map));
  EXPECT_EQ(run.output, words(32, [](auto n) {
              if (n % 8 < 4 || n < 8) return 0;
              return n < 16 ? 9 : 18;
            }));
}

TEST(TensorInstructions, TheMapMayComeFromSharedMemory) {
  const std::string body = R"(
    .shared .align 128 .b32 copy[32];
    mov.u32 %r30, copy;
    mad.lo.u32 %r31, %r0, 4, %r30;
    mul.wide.u32 %rd10, %r0, 4;
    add.u64 %rd10, %rd2, %rd10;
    ld.global.u32 %r32, [%rd10];
    st.shared.u32 [%r31], %r32;
    bar.sync 0;
    @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r30], 1, 2;
    bar.warp.sync 0xffffffff;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
        [%rd2], [%r30], 128;
)";
  const std::string half = [] {
    std::string text = kLoad;
    return text.replace(text.find("128;"), 4, "64;");
  }();
  const std::string kernel = with_map(body + half);
  const KernelRun run = run_body(kernel, {}, with_tensor(small_map()));
  EXPECT_EQ(run.output,
            words(32, [](auto n) { return n < 16 ? 1000 + (2 + n / 8) * kWidth + 4 + n % 8 : 9; }));
}

/// A map of one row of 8 words.
memory::TensorMap row_map() {
  memory::TensorMap map = small_map();
  map.box = {8, 1, 1, 1, 1};
  return map;
}

constexpr const char* kRows = R"(
    mov.u32 %r22, 7;
    mov.u32 %r23, -1;
    mov.u32 %r24, 2;
    mov.u32 %r25, 0;
)";

TEST(TensorInstructions, GatherFourRows) {
  std::string load = kLoad;
  load.replace(load.find(".tile."), 6, ".tile::gather4.");
  load.replace(load.find("{%r20, %r21}"), 12, "{%r20, %r22, %r23, %r24, %r25}");
  const KernelRun run = run_body(with_map(kRows + load), {}, with_tensor(row_map()));
  EXPECT_EQ(run.output, words(32, [](auto n) -> std::uint32_t {
              constexpr std::uint32_t kOf[] = {7, 0, 2, 0};
              if (n / 8 == 1) return 0;  // row -1: beside the tensor
              return 1000 + kOf[n / 8] * kWidth + 4 + n % 8;
            }));
}

TEST(TensorInstructions, ScatterFourRows) {
  memory::TensorMap map = row_map();
  map.size = {8, 4, 1, 1, 1};
  map.stride = {32, 0, 0, 0};
  const std::string body = std::string(kRows) + R"(
    st.shared.u32 [%r12], %r0;
    bar.sync 0;
    fence.proxy.async;
    mov.u32 %r20, 4;
    mov.u32 %r23, 3;
    @!%p1 ret;
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd0;
    cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group
        [%rd2, {%r20, %r24, %r23, %r22, %r25}], [%r11];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;)";
  const KernelRun run = run_body(with_map(body), {}, with_tensor(map));
  EXPECT_EQ(run.output, words(32, [](auto n) -> std::uint32_t {
              constexpr int kFrom[] = {3, -1, 0, 1};  // row 7 of the box is beside the tensor
              const int from = kFrom[n / 8];
              return n % 8 < 4 || from < 0 ? 0 : static_cast<std::uint32_t>(8 * from) + n % 8 - 4;
            }));
}

TEST(TensorInstructions, TheMapMayBeMadeFromZeros) {
  const std::string body = R"(
    .shared .align 128 .b32 made[32];
    mov.u32 %r30, made;
    mad.lo.u32 %r31, %r0, 4, %r30;
    st.shared.u32 [%r31], 0;
    bar.sync 0;
    @!%p1 bra made_;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r30], %rd3;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r30], 1;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r30], 0, 8;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r30], 1, 4;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r30], 0, 16;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r30], 1, 8;
    mov.u64 %rd10, 64;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r30], 0, %rd10;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r30], 0, 1;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r30], 1, 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r30], 2;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r30], 0;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r30], 0;
  made_:
    bar.warp.sync 0xffffffff;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
        [%rd2], [%r30], 128;
)";
  const KernelRun run = run_body(with_map(body + kLoad), {}, with_tensor(small_map()));
  EXPECT_EQ(run.output, words(32, [](auto n) { return 1000 + (2 + n / 8) * kWidth + 4 + n % 8; }));
}

struct Wrong {
  const char* name;
  const char* body;  ///< before kLoad
  const char* what;
};

class TensorFault : public ::testing::TestWithParam<Wrong> {};

TEST_P(TensorFault, IsReported) {
  std::optional<Fault> fault;
  try {
    run_body(with_map(std::string(GetParam().body) + kLoad), {}, with_tensor(small_map()));
  } catch (const Fault& caught) {
    fault = caught;
  }
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->what(), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorFault,
    ::testing::Values(
        Wrong{"NoMap", "@%p1 st.global.u64 [%rd2], 0;", "tensor map of cp.async.bulk.tensor: "},
        Wrong{"OtherRank",
              "@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::"
              "bytes [%r11], [%rd2, {%r20}], [%r10];",
              "the instruction is .1d.tile, the tensor map is one of .2d.tile"},
        Wrong{"RowsOfABox",
              "@%p1 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::"
              "complete_tx::bytes [%r11], [%rd2, {%r20, %r21, %r21, %r21, %r21}], [%r10];",
              "whose box is one row, not 4"},
        Wrong{"RowsOfAVolume",
              "@%p1 cp.async.bulk.tensor.3d.shared::cta.global.tile::gather4.mbarrier::"
              "complete_tx::bytes [%r11], [%rd2, {%r20, %r21, %r21, %r21, %r21}], [%r10];",
              "four rows of other than 2d"},
        Wrong{"OtherMode",
              "@%p1 cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
              "bytes [%r11], [%rd2, {%r20, %r21, %r21}], [%r10], {%h1};",
              "the instruction is .3d.im2col, the tensor map is one of .2d.tile"},
        Wrong{"BrokenRule", "@%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 0, 3;",
              "cp.async.bulk.tensor: "},
        Wrong{"DimensionInARegister",
              "@%p1 tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], %r20, 8;",
              "tensormap.replace.tile.box_dim.global.b1024.b32: a number is missing"},
        Wrong{"MapOfAnotherSize",
              "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync."
              "aligned [%rd2], [%r11], 64;",
              "of this size"},
        Wrong{"MisalignedBox", "add.u32 %r11, %r11, 16;",
              "box of cp.async.bulk.tensor: byte 144 of shared memory is misaligned: it must be a "
              "multiple of 128"},
        Wrong{"BesideItsMemory",
              "@%p1 tensormap.replace.tile.global_dim.global.b1024.b32 [%rd2], 1, 100;"
              "mov.u32 %r21, 6;",
              "box of cp.async.bulk.tensor, 32 bytes: "},
        Wrong{"MisalignedMap", "add.u64 %rd2, %rd2, 16;", "its address must be a multiple of 64"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warpgauge::emulator::machine::tensor_instructions_test
