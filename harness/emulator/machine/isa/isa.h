// The instruction sets of the host that the machine's inner loops are compiled for, and the choice
// between them. The files of machine/isa/ are compiled once for each.
#pragma once

#include "harness/emulator/machine/core/execute.h"

namespace warpgauge::emulator::machine {
struct MemoryKey;
struct TransferKey;
}  // namespace warpgauge::emulator::machine
namespace warpgauge::emulator::machine::control {
struct WarpOpKey;
}  // namespace warpgauge::emulator::machine::control

namespace warpgauge::emulator::machine::isa {

// The keys that select a handler; each is defined by its family (alu.h, core/access_details.h,
// ...).
struct AluKey;
struct ConvertKey;
struct MatrixKey;

/// The selection functions of one instruction set; each returns nullptr for a key that it has no
/// function for (decoding then refuses the instruction).
struct Isa {
  const char* name;  ///< "baseline", "avx2", "avx512" or "compiled"
  bool compiles;     ///< sequences that only compute (see compile/); the rest as avx512 does
  Execute (*alu)(const AluKey&);
  Execute (*convert)(const ConvertKey&);
  Execute (*matrix)(const MatrixKey&);
  Execute (*memory)(const MemoryKey&);
  Execute (*atomic)();
  Execute (*transfer)(const TransferKey&);
  Execute (*warp_op)(const control::WarpOpKey&);
};

/// The best one that this CPU can do, or the one that the environment variable WARPGAUGE_ISA names.
/// Throws std::invalid_argument if that is unknown or the CPU cannot do it.
const Isa& best_isa();

// Files of machine/isa/ define these in `namespace
// warpgauge::emulator::machine::isa::WARPGAUGE_ISA`; all else in them is in an anonymous namespace
// within.
#define WARPGAUGE_DECLARE_ISA(isa)                    \
  namespace isa {                                     \
  Execute alu_handler(const AluKey&);                 \
  Execute convert_handler(const ConvertKey&);         \
  Execute matrix_handler(const MatrixKey&);           \
  Execute memory_handler(const MemoryKey&);           \
  Execute atomic_handler();                           \
  Execute transfer_handler(const TransferKey&);       \
  Execute warp_op_handler(const control::WarpOpKey&); \
  }
WARPGAUGE_DECLARE_ISA(baseline)
WARPGAUGE_DECLARE_ISA(avx2)
WARPGAUGE_DECLARE_ISA(avx512)
#undef WARPGAUGE_DECLARE_ISA

}  // namespace warpgauge::emulator::machine::isa
