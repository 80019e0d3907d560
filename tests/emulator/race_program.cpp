// Draws small kernels at random, and writes them as PTX.
#include "tests/emulator/race_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <random>

namespace warpgauge::emulator::machine {
namespace {

using Kind = Step::Kind;
using Op = Step::Op;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  bool one_in(std::uint32_t count) { return below(count) == 0; }
  std::uint32_t bits() { return static_cast<std::uint32_t>(random_()); }
  template <typename T, std::size_t kCount>
  T one_of(const std::array<T, kCount>& values) {
    return values[below(kCount)];
  }

 private:
  std::mt19937_64 random_;
};

/// The steps of one launch.
class KernelDraw {
 public:
  KernelDraw(Draw& draw, const RaceProgram& program, bool is_dependent)
      : draw_(draw), program_(program), is_dependent_(is_dependent) {}

  std::vector<Step> steps() {
    const std::uint32_t count = 4 + draw_.below(20);
    while (steps_.size() < count) add_step();
    while (!waiting_.empty()) add_second_half();
    return std::move(steps_);
  }

 private:
  std::uint32_t all_warps() const { return (1U << program_.blocks * program_.warps) - 1; }
  std::uint32_t block_bits(std::uint32_t block) const {
    return ((1U << program_.warps) - 1) << block * program_.warps;
  }

  std::uint32_t some_warps() {
    switch (draw_.below(4)) {
      case 0:
        return all_warps();
      case 1:
        return block_bits(draw_.below(program_.blocks));
      case 2:
        return std::max(1U, draw_.bits() & all_warps());
      default:
        return 1U << draw_.below(program_.blocks * program_.warps);
    }
  }
  Mask some_lanes() {
    switch (draw_.below(4)) {
      case 0:
        return Mask{1} << draw_.below(8);
      case 1:
        return draw_.bits() | 1;
      default:
        return kAllLanes;
    }
  }

  void add_step() {
    const std::uint32_t what = draw_.below(24);
    if (what < 15) {
      add_access();
    } else if (what < 18) {
      add({.kind = Kind::barrier,
           .warps = draw_.one_in(3) ? block_bits(draw_.below(program_.blocks)) : all_warps()});
    } else if (what == 18) {
      add_named_barrier();
    } else if (what == 19 && program_.has_lanes) {
      add({.kind = Kind::lane_barrier, .warps = some_warps(), .lanes = some_lanes()});
    } else if (what == 20 && is_dependent_) {
      add({.kind = draw_.one_in(3) ? Kind::let_dependents : Kind::wait_for_others,
           .warps = some_warps()});
    } else if (what == 21 && !waiting_.empty()) {
      add_second_half();
    } else if (what > 21) {
      add({.kind = Kind::fence, .warps = some_warps(), .of_block = draw_.one_in(3)});
    }
  }

  /// Some warps of one block meet. The number belongs to these warps, so that no other ones come to
  /// the barrier. Those that only arrive do so first, and once.
  void add_named_barrier() {
    if (next_number_ == 16) return;
    const std::uint32_t of_block = block_bits(draw_.below(program_.blocks));
    const std::uint32_t warps = draw_.bits() & of_block;
    if (warps == 0) return;
    Step step{.kind = Kind::named_barrier,
              .warps = warps,
              .number = next_number_++,
              .warps_that_meet = static_cast<std::uint32_t>(std::popcount(warps))};
    const std::uint32_t arriving = draw_.bits() & warps;
    if (arriving != 0 && arriving != warps && draw_.one_in(2)) {
      Step arrival = step;
      arrival.kind = Kind::named_arrival;
      arrival.warps = arriving;
      add(arrival);
      step.warps = warps & ~arriving;
      waiting_.push_back(step);
    } else {
      add(step);
      if (draw_.one_in(2)) waiting_.push_back(step);  // the same once more
    }
  }
  void add_second_half() {
    add(waiting_.front());
    waiting_.erase(waiting_.begin());
  }

  void add_access() {
    Step step{.warps = some_warps(), .lanes = some_lanes(), .of_block = draw_.one_in(4)};
    step.is_global = draw_.one_in(2);
    step.op = draw_.one_of(std::array{Op::load, Op::load, Op::load, Op::store, Op::store, Op::store,
                                      Op::add, Op::exchange});
    const bool weak = !draw_.one_in(3);
    if (step.is_atomic()) {
      step.width = draw_.one_in(4) ? 8 : 4;
      step.order = weak ? ""
                        : draw_.one_of(std::array<std::string, 4>{".relaxed", ".acquire",
                                                                  ".release", ".acq_rel"});
    } else {
      step.width = draw_.one_of(std::array{1U, 2U, 4U, 4U, 4U, 8U, 16U});
      if (!weak) {
        step.order = draw_.one_of(std::array<std::string, 3>{
            ".volatile", ".relaxed", step.op == Op::load ? ".acquire" : ".release"});
      }
      if (step.op == Op::load && weak && step.is_global && draw_.one_in(6)) {
        step.op = Op::read_only_load;
      }
    }
    if (step.order == ".volatile") step.of_block = false;
    step.offset = draw_.below(draw_.one_in(3) ? 64 : 12) / step.width * step.width;
    if (draw_.one_in(3)) step.offset = 0;
    step.stride = draw_.one_of(std::array{0U, 1U, 1U, 2U, 3U}) * step.width;
    if (draw_.one_in(5)) step.stride = 32;
    step.value = draw_.one_in(3) ? draw_.below(2) : 1000 + 37 * draw_.below(1000);
    // Which of several values stays is not defined.
    const bool in_one_place = step.stride == 0 || kLanes * step.stride > kRegionBytes;
    step.adds_thread = (step.is_atomic() || !in_one_place) && draw_.one_in(2);
    add(step);
  }

  void add(Step step) {
    step.line = 0;
    steps_.push_back(std::move(step));
  }

  Draw& draw_;
  const RaceProgram& program_;
  const bool is_dependent_;
  std::vector<Step> steps_, waiting_;
  std::uint32_t next_number_ = 1;
};

/// Launches in two streams, of which one now and then waits for the other.
void draw_order(Draw& draw, RaceProgram& program) {
  std::array<std::uint32_t, 2> known{};  // by stream: the launches that its next one comes behind
  for (std::size_t n = 0; n < program.launches.size(); ++n) {
    const std::uint32_t stream = draw.below(2);
    if (draw.one_in(4)) known[stream] |= known[1 - stream];
    for (std::size_t other = 0; other < n; ++other) {
      if ((known[stream] >> other & 1) == 0) program.launches[n].concurrent.push_back(other);
    }
    known[stream] |= 1U << n;
  }
}

const char* suffix(std::uint32_t width) {
  switch (width) {
    case 1:
      return ".u8";
    case 2:
      return ".u16";
    case 4:
      return ".u32";
    case 8:
      return ".v2.u32";
    default:
      return ".v4.u32";
  }
}

std::string access_text(const Step& step) {
  std::string text = "mad.lo.u32 %r10, %r3, " + std::to_string(step.stride) + ", " +
                     std::to_string(step.offset) + "; and.b32 %r10, %r10, " +
                     std::to_string(kRegionBytes - 1) + ";\n";
  text += step.is_global ? "cvt.u64.u32 %rd3, %r10; add.u64 %rd3, %rd3, %rd0;"
                         : "add.u32 %r11, %r6, %r10;";
  text += " mad.lo.u32 %r12, %r1, " + std::to_string(step.adds_thread ? 1 : 0) + ", " +
          std::to_string(step.value) + "; cvt.u64.u32 %rd4, %r12;\n";
  const std::string at = step.is_global ? "[%rd3]" : "[%r11]";
  std::string name = step.order;
  if (step.order != "" && step.order != ".volatile") name += step.of_block ? ".cta" : ".gpu";
  if (step.is_atomic() && step.order == "" && step.of_block) name += ".cta";
  name += step.is_global ? ".global" : ".shared";
  const bool is_wide = step.width == 8;
  if (step.op == Op::store) {
    const char* const values = step.width <= 4   ? "%r12"
                               : step.width == 8 ? "{%r12, %r12}"
                                                 : "{%r12, %r12, %r12, %r12}";
    return text + "@%p0 st" + name + suffix(step.width) + " " + at + ", " + values + ";\n";
  }
  if (step.is_atomic()) {
    name += step.op == Op::add ? ".add.u" : ".exch.b";
    return text + "@%p0 atom" + name + (is_wide ? "64 %rd5, " : "32 %r13, ") + at +
           (is_wide ? ", %rd4;\n" : ", %r12;\n");
  }
  if (step.op == Op::read_only_load) name += ".nc";
  const char* const values = step.width <= 4   ? "%r13"
                             : step.width == 8 ? "{%r13, %r14}"
                                               : "{%r13, %r14, %r15, %r16}";
  text += "@%p0 ld" + name + suffix(step.width) + " " + values + ", " + at + ";\n";
  for (std::uint32_t n = 0; n < std::max(1U, step.width / 4); ++n) {
    text += "xor.b32 %r30, %r30, %r" + std::to_string(13 + n) + "; ";
  }
  return text + "\n";
}

std::string step_text(const Step& step) {
  std::string text = ".loc 1 " + std::to_string(step.line) + " 0\nshr.u32 %r8, " +
                     std::to_string(step.warps) + ", %r4; shr.u32 %r9, " +
                     std::to_string(step.lanes) +
                     ", %r3; and.b32 %r8, %r8, %r9; and.b32 %r8, %r8, 1; setp.ne.u32 %p0, %r8, "
                     "0;\n";
  const std::string barrier =
      std::to_string(step.number) + ", " + std::to_string(step.warps_that_meet * kLanes) + ";\n";
  switch (step.kind) {
    case Kind::access:
      return text + access_text(step);
    case Kind::barrier:
      return text + "@%p0 bar.sync 0;\n";
    case Kind::named_barrier:
      return text + "@%p0 bar.sync " + barrier;
    case Kind::named_arrival:
      return text + "@%p0 bar.arrive " + barrier;
    case Kind::lane_barrier:
      return text + "@%p0 bar.warp.sync " + std::to_string(step.lanes) + ";\n";
    case Kind::fence:
      return text + (step.of_block ? "@%p0 membar.cta;\n" : "@%p0 membar.gl;\n");
    case Kind::let_dependents:
      return text + "@%p0 griddepcontrol.launch_dependents;\n";
    case Kind::wait_for_others:
      return text + "@%p0 griddepcontrol.wait;\n";
  }
  return text;
}

}  // namespace

RaceProgram random_program(std::uint64_t seed) {
  Draw draw(seed);
  RaceProgram program;
  program.blocks = 1 + draw.below(3);
  program.warps = 1 + draw.below(4);
  program.threads = program.warps * kLanes - (draw.one_in(3) ? draw.below(kLanes) : 0);
  program.has_lanes = draw.one_in(3);
  program.has_uninitialised = draw.one_in(2);
  program.is_unwritten = draw.one_in(3);
  program.launches.resize(draw.one_in(3) ? 2 + draw.below(2) : 1);
  const bool is_dependent = program.launches.size() == 2 && draw.one_in(2);
  int line = 0;
  for (RaceProgram::Launch& launch : program.launches) {
    launch.steps = KernelDraw(draw, program, is_dependent).steps();
    for (Step& step : launch.steps) step.line = ++line;
  }
  if (is_dependent) {
    program.launches[1].concurrent = {0};
    program.launches[1].until_wait = true;
  } else {
    draw_order(draw, program);
  }
  return program;
}

std::string ptx_of(const RaceProgram& program) {
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n";
  for (std::size_t n = 0; n < program.launches.size(); ++n) {
    text += ".visible .entry k" + std::to_string(n) +
            R"((.param .u64 region, .param .u64 output) {
  .reg .pred %p<2>; .reg .b32 %r<32>; .reg .b64 %rd<8>;
  .shared .align 16 .b8 tile[)" +
            std::to_string(kRegionBytes) + R"(];
  ld.param.u64 %rd0, [region];
  ld.param.u64 %rd1, [output];
  mov.u32 %r0, %tid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r1, %r5, %r2, %r0;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  and.b32 %r3, %r0, 31;
  shr.u32 %r4, %r0, 5;
  mad.lo.u32 %r4, %r5, )" +
            std::to_string(program.warps) + R"(, %r4;
  mov.u32 %r6, tile;
  mov.u32 %r30, 0;
)";
    for (const Step& step : program.launches[n].steps) text += step_text(step);
    text += "st.global.u32 [%rd1], %r30;\n}\n";
  }
  return text + ".file 1 \"f.cu\"\n";
}

}  // namespace warpgauge::emulator::machine
