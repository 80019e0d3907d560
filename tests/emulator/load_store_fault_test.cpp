// ld and st: what they refuse to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/emulator/machine/core/window.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::load_store_fault_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using Kind = Fault::Kind;

using LoadStoreFault = MemoryInstructions;
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(LoadStoreFault);

TEST_P(LoadStoreFault, GlobalAccessesAreCheckedByteByByte) {
  auto* const data = bench().allocate<std::uint32_t>(100, "cudaMalloc #7");
  const auto inside = [&](const std::string& text, int lane, std::int64_t byte) {
    bench().point("%rd1", data, 4);
    bench().reg<std::uint64_t>("%rd1")[lane] =
        reinterpret_cast<std::uint64_t>(data) + static_cast<std::uint64_t>(byte);
    return text;
  };
  bench().run(inside("ld.global.u32 %r1, [%rd1];", 31, 396));
  const Fault behind = bench().fault_of(inside("ld.global.u32 %r1, [%rd1];", 31, 400));
  EXPECT_EQ(behind.kind(), Kind::illegal_address);
  EXPECT_THAT(behind.what(), HasSubstr("invalid global read of 4 bytes at 0x"));
  EXPECT_THAT(behind.what(), EndsWith(": right past the end of cudaMalloc #7 (400 bytes)"));
  EXPECT_THAT(bench().fault_of(inside("st.global.u32 [%rd1], %r1;", 5, -4)).what(),
              EndsWith("4 bytes before cudaMalloc #7 (400 bytes)"));
  EXPECT_THAT(bench().fault_of(inside("ld.global.u64 %rd2, [%rd1];", 0, 640), 1).what(),
              EndsWith("240 bytes past the end of cudaMalloc #7 (400 bytes)"));
  // Far away on either side, where sums of addresses and distances overflow.
  for (const std::uint64_t far : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{7},
                                  std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 8}) {
    for (const int lane : {0, 17}) {
      inside("", lane, 0);
      bench().reg<std::uint64_t>("%rd1")[lane] = far;
      EXPECT_EQ(bench().fault_of("ld.global.u32 %r1, [%rd1];").kind(), Kind::illegal_address)
          << far;
    }
  }
  // A lane that is off may point anywhere.
  bench().run("ld.global.u32 %r1, [%rd1];", ~(Mask{1} << 17));
}

TEST_P(LoadStoreFault, EveryByteOfAWideAccessMustBeInside) {
  auto* const data = bench().allocate<std::uint32_t>(3, "odd");
  for (const int stride : {0, 8}) {  // all lanes at the end; the second lane only
    bench().point("%rd1", stride == 0 ? data + 2 : data, stride);
    EXPECT_THAT(bench().fault_of("ld.global.v2.u32 {%r1, %r2}, [%rd1];", 0x3).what(),
                EndsWith("the last 4 bytes are past the end of odd (12 bytes)"));
  }
}

TEST_P(LoadStoreFault, FreedMemoryFaultsAtOnce) {
  auto* const data = bench().allocate<std::uint32_t>(32, "cudaMalloc #2");
  bench().point("%rd1", data, 4);
  bench().run("ld.global.u32 %r1, [%rd1];");
  bench().memory.free(reinterpret_cast<std::byte*>(data));
  EXPECT_THAT(bench().fault_of("ld.global.u32 %r1, [%rd1];").what(),
              EndsWith("byte 0 of cudaMalloc #2 (128 bytes), which was freed"));
}

TEST_P(LoadStoreFault, NullPointersAreCalledSo) {
  bench().point("%rd1", nullptr, 0);
  EXPECT_THAT(bench().fault_of("ld.global.u32 %r1, [%rd1];").what(), EndsWith(": a null pointer"));
  EXPECT_THAT(bench().fault_of("st.f32 [%rd1+12], %f1;").what(),
              EndsWith("at 0xc: a null pointer plus 12 bytes"));
  // The last bytes of all addresses: the sum of address and bytes is 0.
  EXPECT_THAT(bench().fault_of("ld.global.u32 %r1, [%rd1+-4];").what(),
              EndsWith("at 0xfffffffffffffffc: not a valid address"));
  EXPECT_THAT(bench().fault_of("st.global.v2.f32 [%rd1+-8], {%f1, %f2};").what(),
              EndsWith("at 0xfffffffffffffff8: not a valid address"));
}

TEST_P(LoadStoreFault, LanesMayUseDifferentAllocations) {
  auto* const a = bench().allocate<std::uint32_t>(1);
  auto* const b = bench().allocate<std::uint32_t>(1);
  *a = 1;
  *b = 2;
  const auto set = [&] {
    bench().fill<std::uint64_t>(
        "%rd1", [&](int lane) { return reinterpret_cast<std::uint64_t>(lane % 2 == 0 ? a : b); });
  };
  for (int repetition = 0; repetition < 3; ++repetition) {
    set();
    bench().run("ld.global.u32 %r1, [%rd1];");
    EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[30], 1u);
    EXPECT_EQ(bench().reg<std::uint32_t>("%r1")[31], 2u);
  }
  // The bytes between the two belong to no allocation.
  bench().reg<std::uint64_t>("%rd1")[3] = reinterpret_cast<std::uint64_t>(a) + 4;
  EXPECT_EQ(bench().fault_of("ld.global.u32 %r1, [%rd1];").kind(), Kind::illegal_address);
}

TEST_P(LoadStoreFault, SharedAccessesAreCheckedAgainstTheBlocksSize) {
  bench().context.shared_bytes = 100;
  bench().fill<std::uint32_t>("%r1", [](int) { return 0; });
  bench().reg<std::uint32_t>("%r1")[9] = 96;
  bench().run("ld.shared.u32 %r2, [%r1];");
  bench().reg<std::uint32_t>("%r1")[9] = 100;
  EXPECT_THAT(
      bench().fault_of("ld.shared.u32 %r2, [%r1];").what(),
      EndsWith("invalid shared read of 4 bytes at 0x64: the block has 100 bytes of shared memory"));
  for (const std::uint32_t far : {0xfffffffcu, 0x80000000u, 0x7ffffffcu, 0x40000000u}) {
    for (const int lane : {0, 9, 31}) {
      bench().fill<std::uint32_t>("%r1", [](int) { return 0; });
      bench().reg<std::uint32_t>("%r1")[lane] = far;
      EXPECT_EQ(bench().fault_of("st.shared.u32 [%r1], %r2;").kind(), Kind::illegal_address) << far;
    }
  }
  bench().context.shared_bytes = 0;
  EXPECT_THAT(bench().fault_of("ld.shared.u32 %r2, [%r1];", 1).what(),
              EndsWith("the block has no shared memory"));
}

TEST_P(LoadStoreFault, LongSharedAddressesDoNotWrapAround) {
  bench().fill<std::uint64_t>("%rd1", [](int) { return std::uint64_t{1} << 32; });
  EXPECT_EQ(bench().fault_of("ld.shared.u32 %r2, [%rd1];").kind(), Kind::illegal_address);
  bench().fill<std::uint64_t>(
      "%rd1", [](int) { return window_base(Window::shared) + (std::uint64_t{1} << 32); });
  EXPECT_EQ(bench().fault_of("ld.u32 %r2, [%rd1];").kind(), Kind::illegal_address);
}

TEST_P(LoadStoreFault, LocalAccessesAreCheckedAgainstTheFrame) {
  bench().fill<std::uint64_t>("%rd1", [](int) { return MemoryBench::kLocalBytes - 4; });
  bench().run("ld.local.u32 %r1, [%rd1];");
  EXPECT_THAT(
      bench().fault_of("st.local.u32 [%rd1+4], %r1;").what(),
      EndsWith("invalid local write of 4 bytes at 0x100: the thread's local memory ends at 0x100"));
  bench().fill<std::uint64_t>("%rd1", [](int lane) { return lane == 3 ? -4 : 0; });
  EXPECT_EQ(bench().fault_of("ld.local.u32 %r1, [%rd1];").kind(), Kind::illegal_address);
}

TEST_P(LoadStoreFault, MisalignedAccessesFault) {
  auto* const data = bench().allocate<std::byte>(4096);
  struct Case {
    const char* text;
    int width;
  };
  const Case cases[] = {{"ld.global.u16 %rs1, [%rd1];", 2},
                        {"ld.global.u32 %r1, [%rd1];", 4},
                        {"st.global.u64 [%rd1], %rd2;", 8},
                        {"ld.global.v2.u32 {%r1, %r2}, [%rd1];", 8},
                        {"st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};", 16},
                        {"ld.u32 %r1, [%rd1];", 4}};
  for (const Case& test : cases) {
    bench().point("%rd1", data, 64);
    bench().run(test.text);
    bench().reg<std::uint64_t>("%rd1")[6] += static_cast<std::uint64_t>(test.width) / 2;
    const Fault fault = bench().fault_of(test.text);
    EXPECT_EQ(fault.kind(), Kind::misaligned_address) << test.text;
    EXPECT_THAT(fault.what(), EndsWith("must be a multiple of " + std::to_string(test.width)));
    bench().point("%rd1", data + test.width / 2,
                  64);  // all lanes alike: the distances are the same
    EXPECT_EQ(bench().fault_of(test.text).kind(), Kind::misaligned_address) << test.text;
  }
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 8 * lane; });
  bench().run("ld.shared.u64 %rd2, [%r1];");
  bench().fill<std::uint32_t>("%r1", [](int lane) { return 8 * lane + 4; });
  EXPECT_THAT(
      bench().fault_of("ld.shared.u64 %rd2, [%r1];").what(),
      EndsWith("misaligned shared read of 8 bytes at 0x4: the address must be a multiple of 8"));
}

TEST_P(LoadStoreFault, UnknownFormsAreRefused) {
  for (const char* const text :
       {"ld.global.what.u32 %r1, [%rd1];", "ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];",
        "ld.global.u64 %r1, [%rd1];", "ld.global.u32 %r1, [%r2];",
        "ld.shared.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%r9];",
        "st.const.u32 [%rd1], %r1;"}) {
    EXPECT_THROW(bench().run(text), decode::Unsupported) << text;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::load_store_fault_test
