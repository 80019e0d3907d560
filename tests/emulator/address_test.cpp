// Conversions of addresses, questions about them, fences and hints to caches.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/emulator/machine/core/window.h"
#include "tests/emulator/memory_bench.h"

namespace warpgauge::emulator::machine::address_test {
namespace {

using Addresses = MemoryInstructions;
WARPGAUGE_FOR_ALL_INSTRUCTION_SETS(Addresses);

TEST_P(Addresses, BecomeGenericAndBack) {
  bench().fill<std::uint64_t>("%rd1", [](int lane) { return 16 + lane; });
  struct Case {
    const char* space;
    std::uint64_t base;
  };
  for (const Case& test :
       {Case{"global", 0}, Case{"const", 0}, Case{"shared", window_base(Window::shared)},
        Case{"local", window_base(Window::local)}, Case{"param", window_base(Window::parameter)}}) {
    const std::string space = test.space;
    bench().fill<std::uint64_t>("%rd2", [](int) { return 5; });
    bench().run("cvta." + space + ".u64 %rd2, %rd1;", 0xffff);
    bench().run("cvta.to." + space + ".u64 %rd3, %rd2;", 0xffff);
    EXPECT_EQ(bench().reg<std::uint64_t>("%rd2")[15], test.base + 31) << space;
    EXPECT_EQ(bench().reg<std::uint64_t>("%rd3")[15], 31u) << space;
    EXPECT_EQ(bench().reg<std::uint64_t>("%rd2")[16], 5u) << space;
  }
}

TEST_P(Addresses, OfVariablesBecomeGeneric) {
  bench().places["tile"] = {Location::Kind::shared, 64, 128, 4};
  bench().places["param0"] = {Location::Kind::local, 8, 8, 8};
  bench().run("cvta.shared.u64 %rd1, tile;");
  EXPECT_EQ(bench().reg<std::uint64_t>("%rd1")[0], window_base(Window::shared) + 64);
  bench().run("cvta.param.u64 %rd1, param0;");
  EXPECT_EQ(bench().reg<std::uint64_t>("%rd1")[0], window_base(Window::local) + 8);
}

TEST_P(Addresses, TellTheirSpace) {
  auto* const data = bench().allocate<std::uint32_t>(32);
  auto* const table = bench().allocate<std::uint32_t>(32);
  bench().make_constant(table);
  const std::uint64_t addresses[] = {reinterpret_cast<std::uint64_t>(data + 1),
                                     window_base(Window::shared) + 4, window_base(Window::local),
                                     reinterpret_cast<std::uint64_t>(table + 31),
                                     window_base(Window::parameter) + 8};
  bench().fill<std::uint64_t>("%rd1", [&](int lane) { return addresses[lane % 5]; });
  int n = 0;
  for (const char* const space : {"global", "shared", "local", "const", "param"}) {
    bench().predicate("%p1") = 0x80000000;
    bench().run(std::string("isspacep.") + space + " %p1, %rd1;", 0x3ff);
    EXPECT_EQ(bench().predicate("%p1"), 0x80000000u | Mask{0x21} << n) << space;
    ++n;
  }
}

TEST_P(Addresses, FencesAndHintsAreAccepted) {
  bench().fill<std::uint64_t>("%rd1", [](int) { return 0; });  // a hint does not fault
  for (const char* const text :
       {"membar.gl;", "membar.cta;", "fence.acq_rel.gpu;", "fence.sc.sys;", "fence.proxy.alias;",
        "prefetch.global.L2 [%rd1];", "prefetchu.L1 [%rd1];",
        "prefetch.global.L2::evict_last [%rd1];"}) {
    EXPECT_NO_THROW(bench().run(text)) << text;
  }
  auto* const data = bench().allocate<std::uint32_t>(32);
  data[0] = 9;
  bench().point("%rd1", data, 0);
  bench().run("createpolicy.fractional.L2::evict_first.b64 %rd2, 1.0;");
  for (const char* const text :
       {"ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.u32 %r1, [%rd1], %rd2;",
        "ld.relaxed.gpu.global.u32 %r2, [%rd1];", "ld.acquire.sys.global.u32 %r3, [%rd1];",
        "ld.volatile.global.u32 %r4, [%rd1];", "ld.global.cv.u32 %r5, [%rd1];",
        "ldu.global.u32 %r6, [%rd1];", "ld.weak.global.cs.u32 %r7, [%rd1];"}) {
    bench().run(text);
    const std::string name(text + std::string(text).find("%r"), 3);
    EXPECT_EQ(bench().reg<std::uint32_t>(name)[31], 9u) << text;
  }
  bench().run("st.release.gpu.global.u32 [%rd1], 10;");
  bench().run("st.global.L2::cache_hint.u32 [%rd1], 11, %rd2;");
  EXPECT_EQ(data[0], 11u);
}

TEST_P(Addresses, WhatIsNotEmulatedIsRefused) {
  for (const char* const text : {"fence.proxy.other;", "cvta.shared.u32 %r1, %r2;"}) {
    EXPECT_THROW(bench().run(text), decode::Unsupported) << text;
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::address_test
