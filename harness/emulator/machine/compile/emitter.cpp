// Values, predicates and the frame of a compiled sequence.
#include "harness/emulator/machine/compile/emitter.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "harness/emulator/machine/compile/constants.h"
#include "harness/emulator/machine/compile/lowering.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::compile {
namespace {

using Xbyak::Opmask;
using Xbyak::Ymm;
using Xbyak::Zmm;

// Zmm31 is for what happens between instructions; k0 is no mask, k1 has the lanes that are on, and
// k7 is a half of another mask.
constexpr int kRegisters = 31;
constexpr int kBetween = 31;
constexpr int kFirstOpmask = 2, kLastOpmask = 6;
constexpr int kStack = 128;  // bytes below the stack's end that a function may use as it is

Zmm zmm(int n) { return Zmm(n); }
Opmask opmask(int n) { return Opmask(n); }

}  // namespace

Emitter::Emitter(const std::vector<SlotLife>& lives)
    : Xbyak::CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow), lives_(lives) {
  setDefaultJmpNEAR(true);
}

std::size_t Emitter::function(const std::vector<Step>& steps, const std::optional<Step>& branch) {
  const std::size_t start = getSize();
  last_place_ = steps.back().place;
  flushes_ = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return subnormals_of(*step.operation) == Subnormals::flushed;
  });
  Xbyak::Label some;
  const auto bytes = static_cast<int>(steps.size() * sizeof(Instruction));
  lea(rax, ptr[rsi + bytes]);
  mov(ptr[rdi + offsetof(Warp, next)], rax);
  mov(rax, ptr[rdi + offsetof(Warp, engine)]);
  add(qword[rax + offsetof(control::WarpEngine, counts.steps)], static_cast<int>(steps.size() - 1));
  mov(r8, ptr[rdi + offsetof(Warp, bases)]);
  mov(r9, ptr[rdi + offsetof(Warp, bases) + 8]);
  mov(r10, ptr[rdi + offsetof(Warp, bases) + 16]);
  mov(rsi, ptr[rdi + offsetof(Warp, bases) + 24]);
  mov(r11, reinterpret_cast<std::size_t>(&kConstants));
  mov(edx, ptr[rdi + offsetof(Warp, active)]);
  cmp(edx, -1);
  jne(some);
  body(steps, branch, false);
  L(some);
  body(steps, branch, true);
  return start;
}

void Emitter::body(const std::vector<Step>& steps, const std::optional<Step>& branch,
                   bool partial) {
  partial_ = partial;
  words_ = 0;
  predicates_.clear();
  if (flushes_) set_flushing(true);
  half(steps, 0);
  half(steps, 1);
  if (flushes_) set_flushing(false);
  save_predicates();
  vzeroupper();
  if (branch) go_on(*branch);
  ret();
}

// Warp::next is the branch. It stays so where it is to be executed by itself.
void Emitter::go_on(const Step& branch) {
  if (partial_ && branch.operation->is_watched) return;  // there its lanes are counted
  const Instruction& instruction = *branch.instruction;
  const auto ways = static_cast<int>(instruction.offset * sizeof(control::BranchWays));
  const auto count = [&](std::size_t way) {  // rcx: the engine
    if (!branch.operation->is_watched) return;
    mov(rax, ptr[rcx + offsetof(control::WarpEngine, counts.branches)]);
    add(qword[rax + ways + static_cast<int>(way)], 1);
  };
  Xbyak::Label not_taken, by_itself;
  mov(rcx, ptr[rdi + offsetof(Warp, engine)]);
  if (instruction.guarded || instruction.sees_to_guard) {
    mov(eax, ptr[base(instruction.guard) + static_cast<int>(instruction.guard.offset)]);
    if (instruction.guard_negated) not_(eax);
    and_(eax, edx);
    jz(not_taken);
    cmp(eax, edx);
    jne(by_itself);
  }
  if (branch.operation->is_back) {  // fragments that wait further on may be met again
    cmp(byte[rcx + offsetof(control::WarpEngine, unordered)], 0);
    jne(by_itself);
  }
  count(offsetof(control::BranchWays, warps));
  count(offsetof(control::BranchWays, taken));
  mov(rax, reinterpret_cast<std::size_t>(instruction.detail));
  mov(ptr[rdi + offsetof(Warp, next)], rax);
  add(qword[rcx + offsetof(control::WarpEngine, counts.steps)], 1);
  L(by_itself);
  ret();
  L(not_taken);
  count(offsetof(control::BranchWays, warps));
  add(qword[rdi + offsetof(Warp, next)], static_cast<int>(sizeof(Instruction)));
  add(qword[rcx + offsetof(control::WarpEngine, counts.steps)], 1);
}

// The two words of the stack that predicates leave free.
void Emitter::set_flushing(bool on) {
  constexpr int kDenormalsAreZeros = 0x40, kFlushToZero = 0x8000;
  const Xbyak::Address before = ptr[rsp - 8], now = ptr[rsp - 4];
  if (!on) return ldmxcsr(before);
  stmxcsr(before);
  mov(eax, before);
  or_(eax, kDenormalsAreZeros | kFlushToZero);
  mov(now, eax);
  ldmxcsr(now);
}

void Emitter::half(const std::vector<Step>& steps, int half) {
  half_ = half;
  held_.clear();
  for (Predicate& predicate : predicates_) {
    predicate.opmask = -1;
    predicate.written = false;
  }
  if (partial_) {
    mov(eax, edx);
    if (half != 0) shr(eax, 16);
    kmovw(k1, eax);
  }
  for (const Step& step : steps) {
    step_ = &step;
    place_ = step.place;
    locked_ = locked_opmasks_ = 0;
    if (step.lower != nullptr) step.lower(*this, step);
  }
  flush();
}

void Emitter::flush() {
  locked_ = locked_opmasks_ = 0;
  for (Held& held : held_) {
    if (held.dirty && !held.ends) store(held);
  }
}

Xbyak::Reg64 Emitter::base(OperandSlot slot) const {
  switch (slot.base) {
    case OperandSlot::frame:
      return r8;
    case OperandSlot::constants:
      return r9;
    case OperandSlot::specials:
      return r10;
    default:
      return rsi;
  }
}

Xbyak::Address Emitter::at(OperandSlot slot, int bytes, int part) const {
  return ptr[base(slot) + static_cast<int>(slot.offset) + half_ * 16 * bytes + part * 64];
}

Xbyak::Address Emitter::constant(std::size_t offset) { return ptr[r11 + static_cast<int>(offset)]; }
Xbyak::Address Emitter::in_each_lane(std::size_t offset) {
  return ptr_b[r11 + static_cast<int>(offset)];
}

Emitter::Held* Emitter::find(OperandSlot slot, int bytes) {
  for (Held& held : held_) {
    if (held.slot.base == slot.base && held.slot.offset == slot.offset && held.bytes == bytes) {
      return &held;
    }
  }
  return nullptr;
}

int Emitter::take_register() {
  std::uint32_t taken = locked_;
  for (const Held& held : held_) {
    for (const int n : held.registers) {
      if (n >= 0) taken |= std::uint32_t{1} << n;
    }
  }
  int free = std::countr_one(taken);
  if (free >= kRegisters) {
    if (std::popcount(locked_) == kRegisters) {
      throw std::logic_error("an instruction needs too many registers");
    }
    // It is none that the present instruction uses: those are the youngest.
    const auto oldest = std::ranges::min_element(held_, {}, &Held::used);
    if (oldest->dirty) store(*oldest);
    free = oldest->registers[0];
    held_.erase(oldest);
  }
  locked_ |= std::uint32_t{1} << free;
  return free;
}

int Emitter::take_opmask() {
  std::uint32_t taken = locked_opmasks_;
  Predicate* oldest = nullptr;
  for (Predicate& predicate : predicates_) {
    if (predicate.opmask < 0) continue;
    taken |= std::uint32_t{1} << predicate.opmask;
    if ((locked_opmasks_ >> predicate.opmask & 1) != 0) continue;
    if (oldest == nullptr || predicate.used < oldest->used) oldest = &predicate;
  }
  int free = -1;
  for (int n = kFirstOpmask; n <= kLastOpmask && free < 0; ++n) {
    if ((taken >> n & 1) == 0) free = n;
  }
  if (free < 0) {
    if (oldest == nullptr) throw std::logic_error("an instruction needs too many masks");
    free = std::exchange(oldest->opmask, -1);
  }
  locked_opmasks_ |= std::uint32_t{1} << free;
  return free;
}

Lanes Emitter::fresh(int bytes) {
  Lanes result;
  result.bytes = bytes;
  result.parts = bytes == 8 ? 2 : 1;
  for (int part = 0; part < result.parts; ++part) result.part[part] = fresh();
  return result;
}

Lanes Emitter::read(OperandSlot slot, int bytes, Nan nan) {
  Held* held = find(slot, bytes);
  if (held == nullptr) {
    const Lanes loaded = fresh(bytes);
    for (int part = 0; part < loaded.parts; ++part) {
      if (bytes == 2) {
        vmovdqa32(Ymm(loaded.part[part].getIdx()), at(slot, bytes, part));
      } else {
        vmovdqa64(loaded.part[part], at(slot, bytes, part));
      }
    }
    Held added;
    added.slot = slot;
    added.bytes = bytes;
    for (int part = 0; part < loaded.parts; ++part) {
      added.registers[part] = loaded.part[part].getIdx();
    }
    held_.push_back(added);
    held = &held_.back();
  }
  if (nan == Nan::canonical) make_canonical(*held);
  held->used = ++clock_;
  Lanes result;
  result.bytes = bytes;
  result.parts = bytes == 8 ? 2 : 1;
  for (int part = 0; part < result.parts; ++part) {
    result.part[part] = zmm(held->registers[part]);
    locked_ |= std::uint32_t{1} << held->registers[part];
  }
  return result;
}

void Emitter::make_canonical(Held& held) {
  if (held.nan == Nan::any) make_canonical(zmm(held.registers[0]));
  held.nan = Nan::canonical;
}

void Emitter::make_canonical(const Zmm& value) {
  vcmpps(k7, value, value, 3);
  vpbroadcastd(value | k7, constant(&Constants::nan));
}

void Emitter::write(OperandSlot slot, const Lanes& value, Nan nan) {
  if (value.bytes != 4) nan = Nan::canonical;
  if (step_->instruction->guarded) {
    const Opmask guard =
        read_predicate(step_->instruction->guard, step_->instruction->guard_negated);
    const Lanes old = read(slot, value.bytes, nan);
    if (nan == Nan::any && find(slot, value.bytes)->nan == Nan::canonical) {
      make_canonical(value.part[0]);  // of the old value the bits count, of NaNs too
      nan = Nan::canonical;
    }
    for (int part = 0; part < value.parts; ++part) {
      const Zmm& to = value.part[part];
      if (value.bytes == 2) {
        vpblendmw(to | guard, old.part[part], to);
      } else if (value.bytes == 4) {
        vpblendmd(to | guard, old.part[part], to);
      } else {
        vpblendmq(to | of_part(guard, part), old.part[part], to);
      }
    }
  }
  if (const Held* const before = find(slot, value.bytes)) {
    held_.erase(held_.begin() + (before - held_.data()));
  }
  Held held;
  held.slot = slot;
  held.bytes = value.bytes;
  for (int part = 0; part < value.parts; ++part) held.registers[part] = value.part[part].getIdx();
  held.dirty = true;
  held.nan = nan;
  held.ends = ends_in_sequence(slot);
  held.used = ++clock_;
  held_.push_back(held);
}

void Emitter::store(Held& held) {
  make_canonical(held);
  const int parts = held.bytes == 8 ? 2 : 1;
  for (int part = 0; part < parts; ++part) {
    Zmm value = zmm(held.registers[part]);
    const Xbyak::Address to = at(held.slot, held.bytes, part);
    const Zmm between = zmm(kBetween);
    if (held.bytes == 2) {
      if (partial_) {
        vmovdqa32(Ymm(kBetween), to);
        vmovdqu16(Ymm(kBetween) | k1, Ymm(value.getIdx()));
        value = between;
      }
      vmovdqa32(to, Ymm(value.getIdx()));
      continue;
    }
    // The values of the lanes that are off are loaded first: a load that follows gets its values
    // from a store of the whole vector, but waits for a masked one to reach the cache.
    if (partial_) {
      vmovdqa64(between, to);
      if (held.bytes == 4) {
        vmovdqa32(between | k1, value);
      } else {
        vmovdqa64(between | of_part(k1, part), value);
      }
      value = between;
    }
    vmovdqa64(to, value);
  }
  held.dirty = false;
}

bool Emitter::ends_in_sequence(OperandSlot slot) const {
  if (slot.base != OperandSlot::frame) return false;
  const auto behind = std::ranges::upper_bound(
      lives_, std::pair(std::uint32_t{slot.offset}, place_), {},
      [](const SlotLife& life) { return std::pair(life.offset, life.first); });
  if (behind == lives_.begin()) return false;
  const SlotLife& life = *std::prev(behind);
  // A life that ends with the sequence may be one that goes on elsewhere, behind a jump.
  return life.offset == slot.offset && place_ <= life.last && life.last < last_place_;
}

Emitter::Predicate& Emitter::predicate(OperandSlot slot) {
  for (Predicate& known : predicates_) {
    if (known.slot.base == slot.base && known.slot.offset == slot.offset) return known;
  }
  Predicate added;
  added.slot = slot;
  return predicates_.emplace_back(added);
}

Opmask Emitter::read_predicate(OperandSlot slot, bool negated) {
  if (predicate(slot).opmask < 0) {
    const int taken = take_opmask();
    Predicate& known = predicate(slot);
    known.opmask = taken;
    kmovw(opmask(taken), known.written
                             ? ptr[rsp - kStack + 4 * known.saved + 2 * half_]
                             : ptr[base(slot) + static_cast<int>(slot.offset) + 2 * half_]);
  }
  Predicate& known = predicate(slot);
  known.used = ++clock_;
  locked_opmasks_ |= std::uint32_t{1} << known.opmask;
  const Opmask value = opmask(known.opmask);
  if (!negated) return value;
  const Opmask result = fresh_predicate();
  knotw(result, value);
  locked_opmasks_ &= ~(std::uint32_t{1} << value.getIdx());
  return result;
}

Opmask Emitter::fresh_predicate() { return opmask(take_opmask()); }

void Emitter::write_predicate(OperandSlot slot, Opmask value) {
  if (step_->instruction->guarded) {
    const Opmask guard =
        read_predicate(step_->instruction->guard, step_->instruction->guard_negated);
    const Opmask old = read_predicate(slot, false);
    kandw(value, value, guard);
    kandnw(k7, guard, old);
    korw(value, value, k7);
  }
  Predicate& known = predicate(slot);
  known.opmask = value.getIdx();
  known.written = true;
  known.used = ++clock_;
  known.ends = ends_in_sequence(slot);
  if (known.saved < 0) known.saved = words_++;
  kmovw(ptr[rsp - kStack + 4 * known.saved + 2 * half_], value);
}

Opmask Emitter::of_part(Opmask mask, int part) {
  if (part == 0) return mask;
  kshiftrw(k7, mask, 8);
  return k7;
}

void Emitter::save_predicates() {
  for (const Predicate& predicate : predicates_) {
    if (!predicate.written || predicate.ends) continue;
    const int from = 4 * predicate.saved - kStack;
    const Xbyak::Address to = ptr[r8 + static_cast<int>(predicate.slot.offset)];
    movzx(eax, word[rsp + from]);
    movzx(ecx, word[rsp + from + 2]);
    shl(ecx, 16);
    or_(eax, ecx);
    if (partial_) {  // where a lane is on, the new bit
      mov(ecx, to);
      xor_(eax, ecx);
      and_(eax, edx);
      xor_(eax, ecx);
    }
    mov(to, eax);
  }
}

}  // namespace warpgauge::emulator::machine::compile
