// Decoded memory instructions: the keys and the details of their handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/lanes.h"
#include "harness/emulator/machine/core/operand_slot.h"
#include "harness/emulator/machine/core/scope.h"

namespace warpgauge::emulator::machine {

/// ld, st: the address is sources[0].
struct MoveDetail {
  static constexpr int kMostElements = 8;
  Access access;
  std::uint8_t element_bytes = 4;   ///< in memory
  std::uint8_t register_bytes = 4;  ///< at least element_bytes
  bool sign_extends = false;
  OperandSlot elements[kMostElements]{};  ///< destinations of ld, sources of st
};

/// Instruction::flags of ld, st and atom; the scope is in those of fences, too.
namespace memory_flag {
inline constexpr std::uint16_t kAcquire = 1 << 0;
inline constexpr std::uint16_t kRelease = 1 << 1;
inline constexpr int kScopeAt = 2;  ///< two bits
constexpr std::uint16_t of_scope(Scope scope) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(scope) << kScopeAt);
}
constexpr Scope scope_in(std::uint16_t flags) { return static_cast<Scope>(flags >> kScopeAt & 3); }
}  // namespace memory_flag

/// Names a handler of ld or st.
struct MemoryKey {
  bool store = false;
  AccessSpace space = AccessSpace::generic;
  std::uint8_t element_bytes = 4;
  std::uint8_t elements = 1;
  bool converts = false;  ///< registers are wider than the elements in memory
};

/// An atomic operation on the lanes' addresses, in the order of the lanes: old values go to
/// `result` (null: not wanted); `b` and `c` (null: has none) are the operands' vectors.
/// `global`: of global memory, which other threads may access at the same time.
using AtomicOperation = void (*)(const std::uint64_t* addresses, Mask lanes, bool global,
                                 const std::byte* b, const std::byte* c, std::byte* result);

/// atom, red: the address is sources[0]. One handler does them all: it finds the addresses, and
/// `operation` does the rest.
struct AtomicDetail {
  static constexpr int kMostElements = 8;
  Access access;
  AtomicOperation operation = nullptr;
  std::uint8_t element_bytes = 4;
  std::uint8_t elements = 1;
  bool returns = false;
  bool has_c = false;
  OperandSlot b[kMostElements]{}, c{}, results[kMostElements]{};
};

/// Names a handler of cp.async, ldmatrix, stmatrix, wmma.load, wmma.store.
struct TransferKey {
  enum class Op : std::uint8_t {
    copy,
    load_matrix,
    store_matrix,
    load_fragment,
    store_fragment,
  } op = Op::copy;
};

/// cp.async: the shared address is sources[0], the global one sources[1].
struct CopyDetail {
  Access to, from;
  std::uint8_t bytes = 4;
  metrics::CopyMask mask = metrics::CopyMask::none;  ///< in the machine code
  enum class Source : std::uint8_t { all, sized, ignorable } source = Source::all;
  OperandSlot size{};     ///< if sized: .u32, bytes to read
  OperandSlot ignored{};  ///< if ignorable: predicate; true: zeros
  bool ignored_negated = false;
  std::int64_t to_offset = 0, from_offset = 0;
};

/// ldmatrix, stmatrix of 8x8 matrices of 16-bit elements: the address is sources[0].
struct MatrixMoveDetail {
  Access access;
  std::uint8_t matrices = 1;  ///< 1, 2 or 4
  bool transposed = false;
  OperandSlot registers[4]{};
};

/// wmma.load, wmma.store: the accesses that the machine code makes of one. The address is
/// sources[0], the stride (in elements, of 32 bits) sources[1].
struct FragmentDetail {
  struct Part {
    enum class Form : std::uint8_t {
      values,           ///< `count` values that lie next to each other, a register each
      transposed,       ///< two of 16 bits of an 8x8 matrix whose transpose is in the register
      byte,             ///< one value of 8 bits, byte `number` of a register
      rows,             ///< LDSM: `count` 8x8 matrices of 16 bits, a register each
      transposed_rows,  ///< LDSM.T
    } form = Form::values;
    Access access;
    std::uint8_t count = 1;
    std::uint8_t number = 0;
    OperandSlot registers[4]{};
    /// Lane l accesses the row outer[l] of the matrix in memory, inner_bytes[l] behind its start.
    std::uint8_t outer[kLanes] = {};
    std::uint8_t inner_bytes[kLanes] = {};
  };
  struct Copy {
    OperandSlot from, to;
  };
  std::uint8_t element_bits = 16;
  std::vector<Part> parts;
  std::vector<Copy> copies;  ///< registers that hold again what others do
};

}  // namespace warpgauge::emulator::machine
