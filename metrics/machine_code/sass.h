// Finds the instructions of a kernel's machine code that access memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {

/// Memory instructions by their names in nvdisasm, without accesses to constant memory (LDC).
enum class MemoryOp : std::uint8_t {
  ldg,         ///< load from global memory
  stg,         ///< store to global memory
  lds,         ///< load from shared memory
  sts,         ///< store to shared memory
  ldl,         ///< load from local memory
  stl,         ///< store to local memory
  ld,          ///< load through a generic pointer
  st,          ///< store through a generic pointer
  atoms,       ///< atomic on shared memory: ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH
  atoms_popc,  ///< ATOMS.POPC.INC: adds the number of lanes at an address
  atoms_cas,   ///< ATOMS.CAS and ATOMS.CAST.SPIN: compare and swap on shared memory
  atomg,       ///< atomic on global memory
  atomg_cas,   ///< compare and swap on global memory
  atom,        ///< atomic through a generic pointer
  atom_cas,    ///< compare and swap through a generic pointer
  red,         ///< RED, REDG: atomic on global memory with no result
  ldgsts,      ///< copy from global to shared memory (cp.async)
  ldsm,        ///< load of 8x8 matrices from shared memory (ldmatrix)
  stsm,        ///< store of 8x8 matrices to shared memory (stmatrix)
  wgmma,       ///< HGMMA, IGMMA, BGMMA, QGMMA: multiplies tiles of shared memory
  bulk,     ///< bulk copies, and stores to other blocks that arrive at a barrier: UBLKCP, UBLKRED,
            ///< UTMALDG, UTMASTG, UTMAREDG, STAS, REDAS
  barrier,  ///< SYNCS, ATOMS.ARRIVE: initialises a barrier in memory, arrives or waits
  other,    ///< textures and surfaces
};

/// Memory as metrics name it in their first part.
enum class MemorySpace : std::uint8_t { shared, global, local };

/// An instruction that accesses memory.
/// What the lanes of an LDGSTS read.
enum class CopyReads : std::uint8_t {
  all,           ///< as many bytes as they write
  by_p0,         ///< these, or nothing where P0 does not hold (!P0: does); they write zeros then
  by_predicate,  ///< the same with another predicate
  by_size,       ///< a number of bytes that is known when they run (ZFILL)
};

struct MemoryInstruction {
  std::uint64_t pc = 0;  ///< offset into Cubin::code()
  MemoryOp op = MemoryOp::other;
  /// Bytes that each lane accesses: 1, 2, 4, 8, 16, 32; for ldsm and stsm 4 for each matrix of the
  /// warp, for wgmma the columns of the product. 0 from `bulk` on, and for a value that nvdisasm
  /// does not decode either.
  int width = 0;
  bool executes = true;  ///< false: its predicate is "never" (@!PT)
  bool guarded = false;  ///< it has a predicate other than "always"
  CopyReads reads = CopyReads::all;

  bool operator==(const MemoryInstruction&) const = default;
};

/// Decodes an instruction for `sm`; nullopt if it does not access memory.
std::optional<MemoryInstruction> memory_instruction(const SassWord& word, int sm);

/// True for a wgmma of floats: HGMMA, QGMMA.
bool multiplies_floats(const SassWord& word);

/// All memory instructions of `kernel`, in the order of the code. Empty for an unknown kernel.
/// Knows sm_75 to sm_121; throws CubinError for another architecture.
std::vector<MemoryInstruction> memory_instructions(const Cubin& cubin, std::string_view kernel);

/// The offsets in the code of `kernel` of votes and reductions of a warp (VOTE, VOTEU, REDUX).
/// Throws as memory_instructions().
std::vector<std::uint64_t> warp_votes(const Cubin& cubin, std::string_view kernel);

/// The numbers of registers that `kernel` changes to (USETMAXREG), in the order of the code.
std::vector<std::uint32_t> register_changes(const Cubin& cubin, std::string_view kernel);

/// "LDS.128": operation and width in bits, as nvdisasm writes loads and stores.
std::string name_of(const MemoryInstruction& instruction);

/// The spaces that an instruction may access, in their order: all through a generic pointer, shared
/// and global memory for ldgsts and `other`. None for `bulk`, where its word says it, and for
/// `barrier`.
std::span<const MemorySpace> spaces_of(MemoryOp op);
std::string_view to_string(MemorySpace space);

bool is_local(MemoryOp op);         ///< ldl, stl
bool is_load(MemoryOp op);          ///< loads to registers: ldg, lds, ldl, ld, ldsm
bool returns_a_value(MemoryOp op);  ///< an atomic whose result can be used
bool is_generic(MemoryOp op);       ///< ld, st, atom, atom_cas: the space is known only at run time

}  // namespace warpgauge::metrics
