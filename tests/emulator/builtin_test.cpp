// Functions that the engine itself executes for kernels: printf, malloc, free, assertions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdio>
#include <map>

#include "harness/emulator/machine/control/device_text.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::builtin_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kFunctions = R"(
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func free(.param .b64 pointer);
.extern .func (.param .b32 error) __cudaCDP2GetDevice(.param .b64 device);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
)";

std::string text_variable(const std::string& name, const std::string& text) {
  std::string bytes;
  for (const char c : text) bytes += std::to_string(static_cast<int>(c)) + ", ";
  return ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" + bytes +
         "0};\n";
}

// Formats arguments that lie one behind the other, aligned to their sizes.
class Arguments {
 public:
  Arguments& integer(std::uint32_t value) { return add(value, 4); }
  Arguments& wide(std::uint64_t value) { return add(value, 8); }
  Arguments& real(double value) { return add(std::bit_cast<std::uint64_t>(value), 8); }
  Arguments& text(const std::string& value) {
    texts_[next_text_] = value;
    return add(next_text_++, 8);
  }
  control::Printed print(const std::string& format) const {
    return control::format_text(format, {[&](std::uint64_t offset, int bytes) {
                                           EXPECT_EQ(sizes_.at(offset), bytes);
                                           return values_.at(offset);
                                         },
                                         [&](std::uint64_t address, std::size_t most) {
                                           return texts_.at(address).substr(0, most);
                                         }});
  }

 private:
  Arguments& add(std::uint64_t value, int bytes) {
    const auto size = static_cast<std::uint64_t>(bytes);
    end_ = (end_ + size - 1) / size * size;
    values_[end_] = value;
    sizes_[end_] = bytes;
    end_ += size;
    return *this;
  }
  std::map<std::uint64_t, std::uint64_t> values_;
  std::map<std::uint64_t, int> sizes_;
  std::map<std::uint64_t, std::string> texts_;
  std::uint64_t end_ = 0, next_text_ = 0x1000;
};

template <typename... Values>
std::string host(const char* format, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

TEST(Printf, WritesWhatTheHostsWrites) {
  EXPECT_EQ(Arguments().integer(5).integer(-7u).print("a %d, b %i\n").text, "a 5, b -7\n");
  EXPECT_EQ(Arguments().integer(-1u).wide(-1ull).print("%u %llu").text,
            host("%u %llu", -1u, -1ull));
  EXPECT_EQ(Arguments().integer(255).wide(1ull << 40).print("%#x %lX").text,
            host("%#x %lX", 255, 1ul << 40));
  EXPECT_EQ(Arguments().wide(-5ull).wide(7).print("%lld|%5zu|").text, "-5|    7|");
  EXPECT_EQ(Arguments().real(1.5).real(1e300).print("%f %g").text, host("%f %g", 1.5, 1e300));
  EXPECT_EQ(Arguments().real(-0.1).real(3).print("%+10.3e|%-8.2f|").text,
            host("%+10.3e|%-8.2f|", -0.1, 3.0));
  EXPECT_EQ(Arguments().integer('x').text("word").print("%c %s %%").text, "x word %");
  EXPECT_EQ(Arguments().text("word").print("%.2s|").text, "wo|");
  EXPECT_EQ(Arguments().integer(6).integer(3).real(3.14159).print("%*.*f").text, " 3.142");
  EXPECT_EQ(Arguments().wide(0xabc).print("%p").text, "0xabc");
}

TEST(Printf, CountsItsArguments) {
  EXPECT_EQ(Arguments().print("none %%").arguments, 0);
  EXPECT_EQ(Arguments().integer(1).real(2).print("%d %f").arguments, 2);
}

TEST(Printf, LeavesWhatItDoesNotKnow) {
  EXPECT_EQ(Arguments().print("100%").text, "100%");
  EXPECT_EQ(Arguments().print("%y %").text, "%y %");
}

// Prints "block B thread T\n" in threads below 3, and stores what printf returned.
std::string printing_kernel(const std::string& pattern = "block %d: %s\n") {
  return kernel_text(
      R"(
    .local .align 8 .b8 arguments[16];
    .param .b64 format; .param .b64 list; .param .b32 result;
    mov.u64 %rd4, arguments;
    mov.u32 %r3, %ctaid.x;
    st.local.u32 [%rd4], %r3;
    mov.u64 %rd6, word;
    st.local.u64 [%rd4+8], %rd6;
    cvta.local.u64 %rd5, %rd4;
    mov.u64 %rd7, pattern;
    st.param.b64 [format], %rd7;
    st.param.b64 [list], %rd5;
    setp.ge.u32 %p1, %r0, 3;
    @%p1 exit;
    call (result), vprintf, (format, list);
    ld.param.b32 %r4, [result];
    st.global.u32 [%rd1], %r4;
  )",
      kFunctions + text_variable("word", "hello") + text_variable("pattern", pattern));
}

TEST(Printf, OfKernelsComesInTheOrderOfBlocks) {
  std::string expected;
  for (int block = 0; block < 40; ++block) {
    for (int thread = 0; thread < 3; ++thread) expected += host("block %d: hello\n", block);
  }
  for (const int threads : {1, 3}) {
    std::string printed;
    Options options = limited();
    options.threads = threads;
    options.print = [&](std::string_view text) { printed += text; };
    const KernelRun run = run_kernel(printing_kernel(), {{40, 1, 1}, {32, 1, 1}}, {}, options);
    EXPECT_EQ(printed, expected);
    EXPECT_EQ(run.output[0], 2u);
  }
}

TEST(Printf, OfAKernelThatFaultsIsNotLost) {
  std::string printed;
  Options options = limited();
  options.threads = 1;
  options.print = [&](std::string_view text) { printed += text; };
  std::string text = printing_kernel();
  text.insert(text.rfind('}'), "trap;");
  EXPECT_TRUE(fault_of(text, {}, options).has_value());
  EXPECT_EQ(printed, "block 0: hello\nblock 0: hello\nblock 0: hello\n");
}

/// The kernel with "hello" without its zero byte.
std::string without_zero(std::string text) {
  text.replace(text.find("word[6]"), 7, "word[5]");
  return text.replace(text.rfind(", 0};", text.find("pattern[")), 5, "};");
}

TEST(Printf, NamesANullPointerToAText) {
  std::string printed;
  Options options = limited();
  options.print = [&](std::string_view text) { printed += text; };
  std::string text = printing_kernel();
  text.replace(text.find("mov.u64 %rd6, word;"), 19, "mov.u64 %rd6, 0;");
  run_kernel(text, {{1, 1, 1}, {1, 1, 1}}, {}, options);
  EXPECT_EQ(printed, "block 0: (null)\n");
}

TEST(Printf, OfATextWithoutItsZeroByteIsAFault) {
  const auto fault = fault_of(without_zero(printing_kernel()), {});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
  EXPECT_THAT(fault->what(), AllOf(HasSubstr("a text without its zero byte: it begins at 0x"),
                                   HasSubstr(", byte 0 of word (5 bytes)")));
}

TEST(Printf, NeedsNoZeroByteBehindThePrecision) {
  std::string printed;
  Options options = limited();
  options.print = [&](std::string_view text) { printed += text; };
  run_kernel(without_zero(printing_kernel("%d %.5s\n")), {{1, 1, 1}, {1, 1, 1}}, {}, options);
  EXPECT_EQ(printed, "0 hello\n");
  EXPECT_TRUE(fault_of(without_zero(printing_kernel("%d %.6s\n")), {}).has_value());
}

TEST(Printf, OfAnArgumentOutOfBoundsIsAFault) {
  std::string text = printing_kernel();
  const std::string list = "cvta.local.u64 %rd5, %rd4;";
  text.insert(text.find(list) + list.size(), "add.u64 %rd5, %rd5, 4;");
  const auto fault = fault_of(text, {});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
  EXPECT_THAT(fault->what(), HasSubstr("invalid local read of 8 bytes at 0xc: the thread's local "
                                       "memory ends at 0x10"));
}

/// The fault of a function that stores its result at %rd4, which `place` sets.
std::string fault_of_store(const std::string& place) {
  const auto fault =
      fault_of(kernel_text(".param .b64 to; .param .b32 error;" + place +
                               "st.param.b64 [to], %rd4;"
                               "call (error), __cudaCDP2GetDevice, (to);",
                           std::string(kFunctions) + ".const .align 4 .b32 fixed = 7;"
                                                     ".global .align 4 .b8 half[2] = {1, 2};"),
               {});
  return fault ? fault->what() : "";
}

TEST(Results, AreStoredWhereTheKernelMayWriteOnly) {
  EXPECT_EQ(fault_of_store("mov.u64 %rd4, %rd1;"), "");
  EXPECT_THAT(fault_of_store("mov.u64 %rd4, fixed; cvta.const.u64 %rd4, %rd4;"),
              AllOf(HasSubstr("invalid global write of 4 bytes at 0x"),
                    HasSubstr("byte 0 of fixed (4 bytes), which is constant")));
  EXPECT_THAT(
      fault_of_store("mov.b64 %rd4, output; cvta.param.u64 %rd4, %rd4;"),
      HasSubstr(
          "invalid parameter write of 4 bytes at 0x0: kernels may only read their parameters"));
  EXPECT_THAT(fault_of_store("mov.u64 %rd4, half;"),
              HasSubstr("the last 2 bytes are past the end of half (2 bytes)"));
  EXPECT_THAT(fault_of_store("mov.u64 %rd4, 0;"), HasSubstr("a null pointer"));
  EXPECT_THAT(fault_of_store("mov.u64 %rd4, 0; cvta.shared.u64 %rd4, %rd4;"),
              HasSubstr("the block has no shared memory"));
}

constexpr const char* kAllocate = R"(
    .param .b64 size; .param .b64 memory; .param .b64 released;
    st.param.b64 [size], SIZE;
    call (memory), malloc, (size);
    ld.param.b64 %rd4, [memory];
    setp.eq.u64 %p1, %rd4, 0;
    @%p1 bra NONE;
    st.u32 [%rd4+4], %r0;
    ld.u32 %r3, [%rd4+4];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    AGAIN
    st.param.b64 [released], %rd4;
    call free, (released);
  NONE:
    ret;
)";

std::string allocating_kernel(const std::string& size, const std::string& again = "") {
  std::string text = kAllocate;
  text.replace(text.find("SIZE"), 4, size);
  text.replace(text.find("AGAIN"), 5, again);
  return kernel_text(text, kFunctions);
}

TEST(Malloc, GivesEachThreadItsOwnMemory) {
  const KernelRun run = run_kernel(allocating_kernel("24"), {{3, 1, 1}, {64, 1, 1}});
  EXPECT_EQ(run.output, words(192, [](auto n) { return n % 64 + 1; }));
}

TEST(Malloc, GivesNullWhereTheHeapIsFull) {
  Options options = limited();
  options.heap_bytes = 100 * 5;
  options.threads = 1;
  const KernelRun run = run_kernel(allocating_kernel("100"), {}, {}, options);
  EXPECT_EQ(run.output, words(32, [](auto n) { return n < 5 ? n + 1 : 0; }));
  EXPECT_EQ(run_kernel(allocating_kernel("501"), {}, {}, options).output, Words(32, 0));
}

TEST(Malloc, OfWhatFitsSucceedsWhileAnotherAsksForTooMuch) {
  Options options = limited();
  options.heap_bytes = 10000;
  options.threads = 2;
  // Each block keeps 60 bytes. Then those with even numbers ask for 100 again and again, the others
  // for 9950.
  const KernelRun run = run_kernel(kernel_text(R"(
    .param .b64 size; .param .b64 memory; .param .b64 released;
    st.param.b64 [size], 60;
    call (memory), malloc, (size);
    mov.u32 %r3, %ctaid.x;
    and.b32 %r3, %r3, 1;
    setp.eq.u32 %p1, %r3, 0;
    selp.b64 %rd5, 100, 9950, %p1;
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
  AGAIN:
    st.param.b64 [size], %rd5;
    call (memory), malloc, (size);
    ld.param.b64 %rd4, [memory];
    setp.eq.u64 %p2, %rd4, 0;
    @%p2 bra NONE;
    st.param.b64 [released], %rd4;
    call free, (released);
    bra NEXT;
  NONE:
    add.u32 %r4, %r4, 1;
  NEXT:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p3, %r5, 3000;
    @%p3 bra AGAIN;
    st.global.u32 [%rd1], %r4;
  )",
                                               kFunctions),
                                   {{40, 1, 1}, {1, 1, 1}}, {}, options);
  EXPECT_EQ(run.output, words(40, [](auto n) { return n % 2 == 0 ? 0 : 3000; })) << "failures";
}

TEST(Malloc, FreeTwiceIsAFault) {
  const auto fault =
      fault_of(allocating_kernel("24", "st.param.b64 [released], %rd4; call free, (released);"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
  EXPECT_THAT(fault->what(), HasSubstr("free of a pointer that malloc"));
}

TEST(Malloc, FreeOfOtherMemoryIsAFault) {
  for (const std::string place : {"mov.u64 %rd4, %rd0;", "cvta.shared.u64 %rd4, 0;"}) {
    const auto fault =
        fault_of(kernel_text(".param .b64 released; .shared .align 8 .b64 word;" + place +
                                 "st.param.b64 [released], %rd4; call free, (released);",
                             kFunctions));
    ASSERT_TRUE(fault.has_value()) << place;
    EXPECT_THAT(fault->what(), HasSubstr("free of a pointer that malloc")) << place;
  }
}

TEST(Malloc, UseAfterFreeIsAFault) {
  const auto fault = fault_of(allocating_kernel(
      "24", "st.param.b64 [released], %rd4; call free, (released); ld.global.u32 %r3, [%rd4];"));
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
  EXPECT_THAT(fault->what(), HasSubstr("freed"));
}

TEST(Assert, SaysWhatCudaSays) {
  const auto fault = fault_of(kernel_text(R"(
    .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    setp.lt.u32 %p1, %r0, 5;
    @%p1 bra FINE;
    mov.u64 %rd4, condition;
    mov.u64 %rd5, file;
    mov.u64 %rd6, function;
    st.param.b64 [a], %rd4;
    st.param.b64 [b], %rd5;
    st.param.b32 [c], 42;
    st.param.b64 [d], %rd6;
    st.param.b64 [e], 1;
    call __assertfail, (a, b, c, d, e);
  FINE:
    ret;
  )",
                                          kFunctions + text_variable("condition", "i < n") +
                                              text_variable("file", "kernel.cu") +
                                              text_variable("function", "void k(int)")),
                              {{1, 1, 1}, {8, 1, 1}});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind(), Fault::Kind::assertion);
  EXPECT_THAT(fault->what(), HasSubstr("kernel.cu:42: void k(int): block: [0,0,0], thread: [5,0,0] "
                                       "Assertion `i < n` failed."));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::builtin_test
