// The cost of one memory access of a warp, as CUPTI's SASS metrics count it: pure functions of the
// kind of instruction, its width, the lanes' addresses and the active lanes.
//
// Words. `width` is the bytes per lane of the machine instruction (1, 2, 4, 8 or 16; global
// accesses also 32). A word is 4 bytes, a bank is word mod 32, a line 128 bytes, a sector 32 bytes,
// a row a line of shared memory. A is the set of lanes that are on, `mask` (bit l is lane l).
// passes(G) of some lanes is the most distinct words that they touch in one bank; hits(G) the most
// lanes on one bank, equal words counted each time.
//
// Source. All rules are fitted to the rows of tests/data/calibration (H100, cc 9.0, CUPTI 13.0),
// named below by their `op`, and give every row exactly. Kinds and widths without rows follow the
// rule of similar ones, and their `exact` is false; estimate_reason() says why.
//
// All functions expect addresses that are multiples of the width, as the machine does, and read
// only those of lanes that are on. They neither allocate nor throw. Costs do not change when all
// addresses grow by the same multiple of 128 bytes (local memory: 16 bytes; copies: either side on
// its own). An access without lanes costs nothing, as measured for LDS.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpgauge::metrics {

/// Instructions on shared memory, by the rule that counts them.
enum class AccessKind : std::uint8_t {
  shared_load,            ///< LDS
  shared_store,           ///< STS
  shared_atomic,          ///< ATOMS and REDS, except the next two
  shared_popc_increment,  ///< ATOMS.POPC.INC: adds 1, result unused
  shared_cas,             ///< ATOMS.CAS, one execution
  ldmatrix,               ///< LDSM; addresses are those of the rows, see shared_cost()
  stmatrix,               ///< STSM; the same
  async_copy,             ///< LDGSTS (cp.async.ca): its store to shared memory
  async_copy_bypass,      ///< LDGSTS.BYPASS (cp.async.cg): its store to shared memory
};

/// The cost of an access to shared memory. `ideal` is the cost of conflict-free addresses;
/// wavefronts - ideal are bank conflicts.
struct SharedCost {
  std::uint32_t wavefronts = 0;
  std::uint32_t ideal = 0;
  bool exact = false;
  bool operator==(const SharedCost&) const = default;
};

/// Wavefronts of an access to shared memory. With s the width, groups the runs of 128/s lanes (all
/// 32 for s <= 4), W the sum over the groups, n = |A| and I = min(W, ceil(n s/128)):
/// | kind                    | a group costs | wavefronts, ideal | rows |
/// | shared_store            | passes        | W, I              | sts_u8 .. sts_v4 |
/// | shared_load             | passes, less for lanes in pairs (below) | W, I | lds_u8 .. lds_v4 |
/// | shared_atomic           | hits          | W, I              | atoms_add, _exch*, reds_* |
/// | shared_popc_increment   | passes        | W, I              | atoms_inc1 |
/// | shared_cas              | hits          | 2 W, 2 I          | atoms_cas, atoms_cas64 |
/// | ldmatrix, stmatrix      | passes        | W, I              | ldsm_*, stsm_* |
///
/// ldmatrix and stmatrix: width 16, lane l the address of row l, and as mask the lanes whose
/// addresses count: 0xff for .x1, 0xffff for .x2, all for .x4.
///
/// Loads of 8 and 16 bytes return two groups (lanes 0 to 31; 0 to 15 and 16 to 31) in one wavefront
/// if the lanes of both touch no bank twice (passes 1) and are paired: a(l) = a(l^1) for all l of
/// which both lanes are on, or a(l) = a(l^2) for all. Lanes 0 to 15 of a 16-byte load are an
/// exception: with lane 31 off they need no pairs, with lane 31 on their pairs must be complete,
/// that is no lane on whose partner is off. A 16-byte load of one address costs ceil(n/16).
///
/// Copies need their global addresses too: async_cost(). This function takes the shared ones for
/// both, and is never exact for them.
SharedCost shared_cost(AccessKind kind, int width, const std::uint32_t* addresses,
                       std::uint32_t mask);

/// Why costs of this kind and width can be inexact; empty if they never are.
std::string_view estimate_reason(AccessKind kind, int width);

/// The cost of an access to global memory. `ideal` is never above `sectors`: equal addresses share
/// their sectors.
struct GlobalCost {
  std::uint32_t sectors = 0;
  std::uint32_t ideal = 0;
  std::uint32_t tags = 0;  ///< lookups of L1 cache lines
  bool exact = true;
  bool operator==(const GlobalCost&) const = default;
};

/// Sectors of an access to global memory, independent of caches; loads, stores, atomics and
/// reductions alike: sectors are the distinct address/32, tags the distinct address/128, ideal is
/// min(sectors, ceil(n s/32)). Rows ldg_*, stg_*, atomg_add, redg_*; 32 bytes per lane (sm_100 and
/// later) by the same rule, without rows. The base of an allocation must be a multiple of 256, as
/// cudaMalloc's is.
GlobalCost global_cost(int width, const std::uint64_t* addresses, std::uint32_t mask);

/// The cost of cp.async on both sides: `shared` of its writes, `global` of its reads.
struct AsyncCost {
  SharedCost shared;
  GlobalCost global;
};

/// The cost of a copy; `kind` is async_copy or async_copy_bypass.
///
/// async_copy (rows ldgsts_4, _8, _16ca): the global side as global_cost(). A group costs the most
/// lanes that conflict with one of its lanes l (itself included), by using its bank on either side:
/// max over l of |{k: to(k) = to(l) mod 128 or from(k) = from(l) mod 128}|; W, I as
/// shared_cost().
///
/// async_copy_bypass (16 bytes; rows ldgsts_16): of lanes with equal shared addresses only the
/// first counts; let D be the number left. Pieces are 16 bytes, numbered by address/16, and sectors
/// pairs of pieces. A lane's request is (sector to, sector from, x), x = (piece to ^ piece from)
/// & 1. The sectors are the distinct requests, their ideal is ceil(D/2), and that of the wavefronts
/// ceil(D/8). Lanes that read one piece into one row with one x take turns, the last lane first;
/// let t count the lanes before. Lanes of one request and one t make a store, of one or two pieces.
/// A wavefront is stores of one t, row and line that agree in (piece to ^ piece from) & 3 and in
/// which pieces of a sector (first, second, both) they write.
///
/// tags are the distinct lines read. Their rows have the same offsets on both sides.
AsyncCost async_cost(AccessKind kind, int width, const std::uint32_t* shared,
                     const std::uint64_t* global, std::uint32_t mask);

/// The predicate on the sources of a copy (LDGSTS [to], [from], P0): lanes where it does not hold
/// read nothing, and write zeros.
enum class CopyMask : std::uint8_t { none, p0, other };

/// Lanes of a copy: those that write, and of these those that read.
struct CopyLanes {
  std::uint32_t written = 0, read = 0;
};

/// The same for a copy with a predicate, as CUPTI and Nsight Compute count it (rows of
/// h200_masked_copies.csv). The global side is that of the lanes that read. The shared side is as
/// if each lane read where it writes: past L1 with P0, which hides where a copy reads from them,
/// and of all copies of which no lane reads. It is as async_cost() has it if all lanes read. Else
/// it is not exact.
AsyncCost masked_async_cost(AccessKind kind, int width, const std::uint32_t* shared,
                            const std::uint64_t* global, CopyMask mask, CopyLanes lanes);

/// Sectors of an access to local memory. `offsets` are bytes from the start of each lane's own
/// local memory, of which a warp's words are interleaved: word j of 8 neighbouring lanes (l/8 the
/// same) is one sector. Distinct (j, l/8), rows ldl_u8 .. ldl_v4.
std::uint32_t local_sectors(int width, const std::uint32_t* offsets, std::uint32_t mask);

}  // namespace warpgauge::metrics
