// Writes the machine code of a sequence (AVX-512). It goes through the sequence twice for each set
// of lanes that may be on (all of them, or some): for the lower 16 lanes and for the upper ones, so
// that a vector of 32-bit values is one register of the host. Values come from the warp's registers
// when they are first read, and go there at the end, if they are still needed.
#pragma once

#include <xbyak/xbyak.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/emulator/machine/compile/compiler.h"
#include "harness/emulator/machine/compile/constants.h"

namespace warpgauge::emulator::machine::compile {

class Emitter;
struct Step;
/// Writes the code of an instruction.
using Lowering = void (*)(Emitter&, const Step&);

/// An instruction of a sequence.
struct Step {
  const Instruction* instruction;
  const Operation* operation;
  std::uint32_t place;
  Lowering lower = nullptr;  ///< nullptr for branches, and if it does nothing
};

/// 16 lanes of a value: two registers if a lane has 8 bytes. Values of 2 bytes fill half of one.
struct Lanes {
  Xbyak::Zmm part[2];
  int parts = 1;
  int bytes = 4;  ///< a lane has so many
};

/// The bits that an f32 which is a NaN may have.
enum class Nan : std::uint8_t {
  canonical,  ///< those that arithmetic of a GPU gives
  any,        ///< all: the reader does not see them
};

class Emitter : public Xbyak::CodeGenerator {
 public:
  explicit Emitter(const std::vector<SlotLife>& lives);

  /// Writes the function of a sequence and of the branch behind it, as far as all lanes take it or
  /// none (else the branch is executed by itself); its offset in the code. If instructions of it
  /// flush subnormal numbers, it has the host do so: like a GPU that takes for subnormal what would
  /// be so if exponents had no limit.
  std::size_t function(const std::vector<Step>& steps, const std::optional<Step>& branch);

  // These are for the lowering of one instruction.
  Lanes read(OperandSlot slot, int bytes, Nan nan = Nan::canonical);
  /// Registers for a result or for something in between.
  Lanes fresh(int bytes);
  /// One for something in between.
  Xbyak::Zmm fresh() { return Xbyak::Zmm(take_register()); }
  /// The instruction's destination becomes `value`, where its guard holds.
  void write(OperandSlot slot, const Lanes& value, Nan nan = Nan::canonical);
  Xbyak::Opmask read_predicate(OperandSlot slot, bool negated);
  Xbyak::Opmask fresh_predicate();
  void write_predicate(OperandSlot slot, Xbyak::Opmask value);
  /// The mask of the lanes in a part of a value of 8 bytes. Holds until it is asked for again.
  Xbyak::Opmask of_part(Xbyak::Opmask mask, int part);
  /// A member of Constants, by its offset.
  Xbyak::Address constant(std::size_t offset);
  Xbyak::Address in_each_lane(std::size_t offset);
  template <typename T>
  Xbyak::Address constant(T Constants::*member) {
    return constant(offset_of(member));
  }
  template <typename T>
  Xbyak::Address in_each_lane(T Constants::*member) {
    return in_each_lane(offset_of(member));
  }

 private:
  struct Held {  // a value in registers
    OperandSlot slot{};
    int bytes = 0;
    int registers[2] = {-1, -1};
    bool dirty = false;  // not yet in the warp's register
    Nan nan = Nan::canonical;
    bool ends = false;  // nothing behind the sequence needs it
    std::uint64_t used = 0;
  };
  struct Predicate {
    OperandSlot slot{};
    int opmask = -1;       // where it is, if in a register
    int saved = -1;        // number of the word on the stack that has it, if it was written
    bool written = false;  // in this half
    bool ends = false;
    std::uint64_t used = 0;
  };

  void body(const std::vector<Step>& steps, const std::optional<Step>& branch, bool partial);
  void go_on(const Step& branch);
  void set_flushing(bool on);
  void half(const std::vector<Step>& steps, int half);
  void flush();
  void store(Held& held);
  void save_predicates();
  void make_canonical(Held& held);
  void make_canonical(const Xbyak::Zmm& value);
  int take_register();
  int take_opmask();
  Held* find(OperandSlot slot, int bytes);
  Predicate& predicate(OperandSlot slot);
  bool ends_in_sequence(OperandSlot slot) const;
  Xbyak::Address at(OperandSlot slot, int bytes, int part) const;
  Xbyak::Reg64 base(OperandSlot slot) const;

  const std::vector<SlotLife>& lives_;
  std::vector<Held> held_;
  std::vector<Predicate> predicates_;
  std::uint32_t locked_ = 0;          // registers that the present instruction uses
  std::uint32_t locked_opmasks_ = 0;  // likewise
  std::uint64_t clock_ = 0;
  std::uint32_t place_ = 0, last_place_ = 0;
  int half_ = 0;
  int words_ = 0;  // on the stack
  bool partial_ = false;
  bool flushes_ = false;
  const Step* step_ = nullptr;
};

}  // namespace warpgauge::emulator::machine::compile
