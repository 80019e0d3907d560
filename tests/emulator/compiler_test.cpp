// Compiled sequences do to a warp what the handlers do, instruction by instruction: random kernels
// give the same results and counts with and without the compiler.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/isa/isa.h"
#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::compiler_test {
namespace {

class InstructionSet {
 public:
  explicit InstructionSet(const char* name) { setenv("WARPGAUGE_ISA", name, 1); }
  ~InstructionSet() { unsetenv("WARPGAUGE_ISA"); }
};

/// Instructions; letters are kinds of registers.
constexpr const char* kForms[] = {"add.s32 r r r",
                                  "sub.s32 r r r",
                                  "mul.lo.s32 r r r",
                                  "mad.lo.s32 r r r r",
                                  "mul.hi.u32 r r r",
                                  "mul.hi.s32 r r r",
                                  "mad.hi.s32 r r r r",
                                  "and.b32 r r r",
                                  "or.b32 r r r",
                                  "xor.b32 r r r",
                                  "not.b32 r r",
                                  "shl.b32 r r r",
                                  "shr.u32 r r r",
                                  "shr.s32 r r r",
                                  "min.s32 r r r",
                                  "max.u32 r r r",
                                  "neg.s32 r r",
                                  "mul.wide.u32 R r r",
                                  "mul.wide.s32 R r r",
                                  "mad.wide.s32 R r r R",
                                  "add.s64 R R R",
                                  "sub.s64 R R R",
                                  "mul.lo.s64 R R R",
                                  "mad.lo.s64 R R R R",
                                  "and.b64 R R R",
                                  "xor.b64 R R R",
                                  "shl.b64 R R r",
                                  "shr.s64 R R r",
                                  "shr.u64 R R r",
                                  "min.s64 R R R",
                                  "max.u64 R R R",
                                  "neg.s64 R R",
                                  "mov.u32 r r",
                                  "mov.u64 R R",
                                  "mov.f32 f f",
                                  "mov.f64 d d",
                                  "mov.u16 h h",
                                  "add.s16 h h h",
                                  "mul.lo.s16 h h h",
                                  "shl.b16 h h r",
                                  "sub.s16 h h h",
                                  "and.b16 h h h",
                                  "min.s16 h h h",
                                  "add.f32 f f f",
                                  "sub.f32 f f f",
                                  "mul.f32 f f f",
                                  "fma.rn.f32 f f f f",
                                  "div.rn.f32 f f f",
                                  "sqrt.rn.f32 f f",
                                  "min.f32 f f f",
                                  "max.f32 f f f",
                                  "neg.f32 f f",
                                  "abs.f32 f f",
                                  "add.f64 d d d",
                                  "sub.f64 d d d",
                                  "mul.f64 d d d",
                                  "fma.rn.f64 d d d d",
                                  "div.rn.f64 d d d",
                                  "min.f64 d d d",
                                  "neg.f64 d d",
                                  "abs.f64 d d",
                                  "cvt.rn.f32.s32 f r",
                                  "cvt.rn.f32.u32 f r",
                                  "cvt.rn.f64.s32 d r",
                                  "cvt.rn.f64.u64 d R",
                                  "cvt.rn.f32.s64 f R",
                                  "cvt.rzi.s32.f32 r f",
                                  "cvt.rni.u32.f32 r f",
                                  "cvt.rmi.f32.f32 f f",
                                  "cvt.rpi.f64.f64 d d",
                                  "cvt.f64.f32 d f",
                                  "cvt.rn.f32.f64 f d",
                                  "cvt.s64.s32 R r",
                                  "cvt.u64.u32 R r",
                                  "cvt.u32.u64 r R",
                                  "cvt.s32.s16 r h",
                                  "cvt.u32.u16 r h",
                                  "cvt.u16.u32 h r",
                                  "cvt.s32.s8 r r",
                                  "cvt.u64.u16 R h",
                                  "selp.b32 r r r p",
                                  "selp.b64 R R R p",
                                  "selp.b16 h h h p",
                                  "selp.f32 f f f p",
                                  "setp.lt.s32 p r r",
                                  "setp.ge.u32 p r r",
                                  "setp.ne.s64 p R R",
                                  "setp.lt.f32 p f f",
                                  "setp.neu.f64 p d d",
                                  "setp.geu.f32 p f f",
                                  "setp.eq.s16 p h h",
                                  "setp.lt.and.s32 p r r p",
                                  "setp.gt.xor.f32 p f f p",
                                  "setp.le.or.u64 p R R p",
                                  "and.pred p p p",
                                  "or.pred p p p",
                                  "xor.pred p p p",
                                  "not.pred p p",
                                  "mov.pred p p",
                                  "rcp.rn.f32 f f",
                                  "shf.l.wrap.b32 r r r r",
                                  "shf.r.wrap.b32 r r r r",
                                  "shf.l.clamp.b32 r r r r",
                                  "ex2.approx.f32 f f",
                                  "ex2.approx.ftz.f32 f f",
                                  "rcp.approx.f32 f f",
                                  "rcp.approx.ftz.f32 f f",
                                  "rsqrt.approx.f32 f f",
                                  "rsqrt.approx.ftz.f32 f f",
                                  "sqrt.approx.f32 f f",
                                  "sqrt.approx.ftz.f32 f f",
                                  "div.approx.f32 f f f",
                                  "div.full.f32 f f f",
                                  "div.approx.ftz.f32 f f f",
                                  "div.full.ftz.f32 f f f",
                                  "add.ftz.f32 f f f",
                                  "mul.ftz.f32 f f f",
                                  "fma.rn.ftz.f32 f f f f",
                                  "setp.lt.ftz.f32 p f f",
                                  "shr.s16 h h r",
                                  "shr.u16 h h r",
                                  "cvt.f32.f16 f h",
                                  "cvt.rn.f16.f32 h f",
                                  "cvt.rn.f32.u16 f h",
                                  "cvt.rn.f64.s8 d r",
                                  "shf.r.clamp.b32 r r r r",
                                  "div.s32 r r r",
                                  "div.u32 r r r",
                                  "rem.s32 r r r",
                                  "rem.u32 r r r"};
constexpr const char* kNotCompiled[] = {"abs.s32 r r",      "popc.b32 r r",    "clz.b32 r r",
                                        "prmt.b32 r r r r", "bfe.u32 r r r r", "lg2.approx.f32 f f",
                                        "rem.u64 R R R",    "cvt.u8.u32 c r",  "cvt.u32.u8 r c"};

std::string reg(char kind, int n) {
  switch (kind) {
    case 'r':
      return "%r" + std::to_string(n + 10);
    case 'R':
      return "%rd" + std::to_string(n + 10);
    default:
      return std::string("%") + kind + std::to_string(n);
  }
}

/// An instruction of a form: `operand(kind, is_first)` are its operands.
template <typename Operand>
std::string instruction_of(std::string_view form, Operand operand) {
  const std::size_t space = form.find(' ');
  std::string text(form.substr(0, space));
  for (std::size_t n = space + 1; n < form.size(); n += 2) {
    const bool is_first = n == space + 1;
    text += (is_first ? " " : ", ") + operand(form[n], is_first);
  }
  return text;
}

constexpr const char* kRegisters =
    ".reg .b8 %c<8>; .reg .f64 %d<8>; .reg .b32 %t<4>; .reg .b32 %n<8>;\n";

/// Writes kernels of arithmetic with predicates, branches and loops.
class RandomKernel {
 public:
  explicit RandomKernel(unsigned seed) : random_(seed) {}

  std::string text() {
    body_ = kRegisters;
    make_memory();
    for (int n = 1; n < 8; ++n) line("mov.u32 %n" + std::to_string(n) + ", 0");
    line("setp.ne.u32 %p8, %r1, %r1");
    for (int n = 0; n < kEach; ++n) {
      line("mad.lo.u32 " + reg('r', n) + ", %r1, " + number() + ", " + number());
      line("mul.wide.u32 " + reg('R', n) + ", " + reg('r', n) + ", " + number());
      line("cvt.rn.f32.s32 " + reg('f', n) + ", " + reg('r', n));
      line("cvt.rn.f64.s64 " + reg('d', n) + ", " + reg('R', n));
      line("cvt.u16.u32 " + reg('h', n) + ", " + reg('r', n));
      line("cvt.u8.u32 " + reg('c', n) + ", " + reg('r', n));
      line("setp.gt.s32 " + reg('p', n) + ", " + reg('r', n) + ", " + number());
    }
    block(3);
    line("mov.u32 %t0, 17");
    for (int n = 0; n < kEach; ++n) {
      fold(reg('r', n));
      line("mov.b64 {%t1, %t2}, " + reg('R', n));
      fold("%t1");
      fold("%t2");
      line("mov.b32 %t1, " + reg('f', n));
      fold("%t1");
      // It is undefined which of two NaNs is passed on.
      line("setp.nan.f64 %p9, " + reg('d', n) + ", " + reg('d', n));
      line("selp.f64 %d7, 0d7FF8000000000000, " + reg('d', n) + ", %p9");
      line("mov.b64 {%t1, %t2}, %d7");
      fold("%t1");
      fold("%t2");
      line("cvt.u32.u16 %t1, " + reg('h', n));
      fold("%t1");
      line("selp.u32 %t1, 5, 9, " + reg('p', n));
      fold("%t1");
    }
    line("st.global.u32 [%rd1], %t0");
    return kernel_text(body_, kItems);
  }

 private:
  static constexpr const char* kItems = R"(
.shared .align 8 .b8 columns[2048];
.shared .align 8 .b8 rows[4096];
.global .align 8 .b8 global_columns[4096];
.global .align 8 .b8 global_rows[4096];
.const .align 16 .b32 table[8] = {1, 20, 300, 4000, 50000, 6, 70, 800};
)";

  /// Gives each thread 8 words that are interleaved with those of the other threads of its warp,
  /// and 64 bytes in one piece, in shared and in global memory.
  void make_memory() {
    for (const char* const text :
         {"mov.u32 %r3, columns", "mad.lo.u32 %r3, %r0, 4, %r3", "mov.u32 %r4, rows",
          "mad.lo.u32 %r4, %r0, 64, %r4", "mov.u64 %rd5, global_columns",
          "mad.wide.u32 %rd5, %r0, 8, %rd5", "mov.u64 %rd6, global_rows",
          "mad.wide.u32 %rd6, %r0, 64, %rd6", "mov.u64 %rd7, 0"}) {
      line(text);
    }
    for (int n = 0; n < 8; ++n) {
      line("st.shared.u32 [%r3 + " + std::to_string(256 * n) + "], %r0");
      line("st.shared.u64 [%r4 + " + std::to_string(8 * n) + "], %rd7");
      line("st.global.u64 [%rd5 + " + std::to_string(512 * n) + "], %rd7");
      line("st.global.u64 [%rd6 + " + std::to_string(8 * n) + "], %rd7");
    }
  }

  /// A load or a store of the thread's own memory, or of the constants.
  void access() {
    const std::string guard = one_in(5) ? "@" + any('p') + " " : "";
    const auto move = [&](const std::string& space, const std::string& address) {
      static const char* const kForms[] = {"u32 r", "u64 R", "f32 f", "u16 h", "s8 r"};
      const bool wide_fits = space != "shared" || address.find("%r4") == 0;
      std::string form = choice(kForms);
      while (!wide_fits && form == "u64 R") form = choice(kForms);
      const std::string type = space + "." + form.substr(0, form.find(' ')) + " ";
      const std::string value = any(form.back());
      line(guard + (one_in(2) ? "ld." + type + value + ", [" + address + "]"
                              : "st." + type + "[" + address + "], " + value));
    };
    const auto behind = [&](unsigned step) { return " + " + std::to_string(step * below(8)); };
    switch (below(6)) {
      case 0:
        return move("shared", "%r3" + behind(256));
      case 1:
        return move("shared", "%r4" + behind(8));
      case 2:
        return move("global", "%rd5" + behind(512));
      case 3:
        return move("global", "%rd6" + behind(8));
      case 4:  // lanes at places of their own
        line("and.b32 %t3, " + any('r') + ", 7");
        line("mad.lo.u32 %t3, %t3, 256, %r3");
        return line(guard + (one_in(2) ? "ld.shared.u32 " + any('r') + ", [%t3]"
                                       : "st.shared.u32 [%t3], " + any('r')));
      default:
        return line(guard + "ld.const.v4.u32 {" + reg('r', 0) + ", " + reg('r', 1) + ", " +
                    reg('r', 2) + ", " + reg('r', 3) + "}, [table + " +
                    std::to_string(16 * below(2)) + "]");
    }
  }

  static constexpr int kEach = 6;  // registers of a kind

  unsigned below(unsigned n) { return random_() % n; }
  bool one_in(unsigned n) { return below(n) == 0; }
  void line(const std::string& text) { body_ += text + ";\n"; }
  std::string number() { return std::to_string(static_cast<int>(random_()) % 100'000); }

  std::string any(char kind) { return reg(kind, static_cast<int>(below(kEach))); }
  std::string value(char kind) {
    return kind == 'r' && one_in(4) ? std::to_string(below(64)) : any(kind);
  }

  void fold(const std::string& value) {
    line("mul.lo.u32 %t0, %t0, 31");
    line("xor.b32 %t0, %t0, " + value);
  }

  template <std::size_t kSize>
  std::string choice(const char* const (&of)[kSize]) {
    return of[below(kSize)];
  }

  /// One to some instructions. Letters of a form are kinds of registers.
  void arithmetic() {
    if (one_in(12)) {
      line("lop3.b32 " + any('r') + ", " + any('r') + ", " + any('r') + ", " + any('r') + ", " +
           std::to_string(below(256)));
      return;
    }
    if (one_in(14)) return line("mov.b64 " + any('R') + ", {" + any('r') + ", " + any('r') + "}");
    if (one_in(14)) {
      const unsigned first = below(kEach - 1);
      return line("mov.b64 {" + reg('r', static_cast<int>(first)) + ", " +
                  reg('r', static_cast<int>(first + 1)) + "}, " + any('R'));
    }
    if (one_in(14)) {
      return line("mov.b64 {" + reg('h', 3) + ", " + reg('h', 0) + ", " + reg('h', 5) + ", " +
                  reg('h', 1) + "}, " + any('R'));
    }
    if (one_in(14)) {
      return line("setp.lt.u32 " + reg('p', 0) + "|" + reg('p', 1) + ", " + any('r') + ", " +
                  any('r'));
    }
    const std::string form = one_in(20) ? choice(kNotCompiled) : choice(kForms);
    const std::string guard = one_in(4) ? (one_in(2) ? "@" : "@!") + any('p') + " " : "";
    line(guard + instruction_of(form, [&](char kind, bool is_first) {
           return is_first ? any(kind) : value(kind);
         }));
  }

  void some() {
    for (unsigned n = 1 + below(12); n > 0; --n) one_in(4) ? access() : arithmetic();
  }

  /// Statements with branches over some of them, loops, and jumps that move blocks.
  void block(int depth) {
    some();
    if (depth == 0) return;
    for (unsigned n = 1 + below(2); n > 0; --n) {
      const std::string id = std::to_string(labels_++);
      switch (below(4)) {
        case 0:
          line("@" + any('p') + " bra AFTER" + id);
          block(depth - 1);
          body_ += "AFTER" + id + ":\n";
          break;
        case 1:
          line("@!" + any('p') + " bra ELSE" + id);
          block(depth - 1);
          line("bra END" + id);
          body_ += "ELSE" + id + ":\n";
          block(depth - 1);
          body_ += "END" + id + ":\n";
          break;
        case 2: {
          const std::string counter = "%n" + std::to_string(depth);
          line("mov.u32 " + counter + ", 0");
          body_ += "LOOP" + id + ":\n";
          block(depth - 1);
          line("add.u32 " + counter + ", " + counter + ", 1");
          line("setp.lt.u32 %p8, " + counter + ", " + std::to_string(2 + below(3)));
          line("@%p8 bra LOOP" + id);
          break;
        }
        default: {  // entered in its middle
          const std::string counter = "%n" + std::to_string(depth + 3);
          line("mov.u32 " + counter + ", 0");
          line("bra TEST" + id);
          body_ += "BODY" + id + ":\n";
          block(depth - 1);
          line("add.u32 " + counter + ", " + counter + ", 1");
          body_ += "TEST" + id + ":\n";
          some();
          line("setp.lt.u32 %p8, " + counter + ", " + std::to_string(1 + below(3)));
          line("@%p8 bra BODY" + id);
          break;
        }
      }
      some();
    }
  }

  std::mt19937 random_;
  std::string body_;
  int labels_ = 0;
};

/// The costs of the accesses of a launch, by line.
std::vector<std::array<std::uint64_t, 6>> counts(const LaunchOutcome& outcome) {
  std::vector<std::array<std::uint64_t, 6>> result;
  for (const InstructionTotals& of : outcome.totals) {
    result.push_back({static_cast<std::uint64_t>(of.text_line), of.access.requests,
                      of.access.wavefronts, of.access.sectors, of.access.tags,
                      of.access.lane_groups});
  }
  return result;
}

bool compiles() { return std::string_view(isa::best_isa().name) == "compiled"; }
constexpr const char* kNoCompiler = "there is no compiler for this CPU";

TEST(Compiler, RandomKernelsGiveTheSame) {
  if (!compiles()) GTEST_SKIP() << kNoCompiler;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    const std::string text = RandomKernel(seed).text();
    Shape shape;
    shape.block = {seed % 3 == 0 ? 20u : 64u, 1, 1};
    const auto run = [&](const char* name) {
      const InstructionSet chosen(name);
      return run_kernel(text, shape);
    };
    const KernelRun plain = run("avx512"), compiled = run("compiled");
    ASSERT_EQ(plain.output, compiled.output) << "seed " << seed << "\n" << text;
    ASSERT_EQ(plain.outcome.warp_instructions, compiled.outcome.warp_instructions) << seed;
    ASSERT_EQ(divergent(plain.outcome), divergent(compiled.outcome)) << seed;
    ASSERT_EQ(counts(plain.outcome), counts(compiled.outcome)) << seed << "\n" << text;
  }
}

/// Positions in the body of a kernel's instructions that are compiled.
std::set<std::uint32_t> compiled_of(const std::string& text) {
  LoadedKernel kernel(text);
  std::vector<FunctionHits> hits;
  Launch launch = kernel.launch();
  launch.hits = &hits;
  kernel.run(launch);
  const std::vector<Instruction>& code = hits.front().code->instructions;
  std::set<std::uint32_t> positions;
  for (std::size_t first = 0; first < code.size(); ++first) {
    for (std::size_t n = 0; n < code[first].fused; ++n) positions.insert(code[first + n].index);
  }
  return positions;
}

TEST(Compiler, TakesTheseForms) {
  if (!compiles()) GTEST_SKIP() << kNoCompiler;
  const auto is_compiled = [](const char* form) {
    const std::string text =
        instruction_of(form, [](char kind, bool is_first) { return reg(kind, is_first ? 0 : 1); });
    return compiled_of(kernel_text(kRegisters + text + ";")).contains(kPrologue);
  };
  for (const char* const form : kForms) EXPECT_TRUE(is_compiled(form)) << form;
  for (const char* const form : kNotCompiled) EXPECT_FALSE(is_compiled(form)) << form;
}

TEST(Compiler, SubnormalNumbersAreFlushedUpToTheEndOfASequence) {
  // The sequence has as many predicates as one may have, and all are read behind it.
  std::string body = R"(
    .reg .pred %q<30>;
    mov.f32 %f1, 0f00400000;
    add.ftz.f32 %f2, %f1, %f1;
  )";
  std::string behind = "bar.sync 0; mov.u32 %r3, 0;\n";
  for (int n = 0; n < 30; n += 2) {
    const std::string less = "%q" + std::to_string(n), not_less = "%q" + std::to_string(n + 1);
    body += "setp.lt.u32 " + less + "|" + not_less + ", %r0, 5;\n";
    behind += "@" + less + " add.u32 %r3, %r3, 1; @" + not_less + " add.u32 %r3, %r3, 100;\n";
  }
  behind += R"(
    add.f32 %f3, %f1, %f1;
    add.f32 %f3, %f3, %f2;
    mov.b32 %r4, %f3;
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%rd1], %r3;
  )";
  EXPECT_EQ(run_body(body + behind).output,
            words(32, [](auto n) { return 0x00800000 + (n < 5 ? 15 : 1500); }));
}

}  // namespace
}  // namespace warpgauge::emulator::machine::compiler_test
