// Executes single arithmetic instructions, written in PTX, on 32 lanes that were made by hand: no
// engine, no kernel. The tests of the arithmetic stand on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/decode/decoder.h"
#include "harness/emulator/machine/isa/isa.h"

namespace warpgauge::emulator::machine {

/// The instruction sets that this CPU has; the last one may be the compiler.
std::vector<const isa::Isa*> arithmetic_instruction_sets();

/// One instruction with its registers.
class AluBench {
 public:
  /// `registers`: as in PTX, ".reg .b32 %d, %a;". Throws Unsupported.
  AluBench(const isa::Isa& isa, const std::string& registers, const std::string& text);
  ~AluBench();

  /// The 32 values of a register, or the one Mask of a predicate.
  template <typename T>
  T* reg(const std::string& name) {
    return reinterpret_cast<T*>(bytes(name));
  }
  Mask& predicate(const std::string& name) { return *reg<Mask>(name); }
  Mask& carry();
  /// A lane's value of any type, as its bits.
  std::uint64_t get(const std::string& name, int lane);
  void set(const std::string& name, int lane, std::uint64_t bits);
  bool has(const std::string& name) const;
  bool is_predicate(const std::string& name) const;
  int bits_of(const std::string& name) const;

  void run(Mask active = kAllLanes);

 private:
  struct Impl;
  std::byte* bytes(const std::string& name);
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgauge::emulator::machine
