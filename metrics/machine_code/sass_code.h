// The instructions of a kernel's machine code as undecoded numbers.
//
// NVIDIA does not document the encoding; it is as nvdisasm 13 shows it for sm_75 to sm_121. An
// instruction has 16 bytes. Bits 0 to 11 of the low half are the opcode, of which 9 to 11 give the
// form of the operands, and bits 12 to 15 the predicate that guards it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {

/// An instruction of 16 bytes. `pc` is its offset into Cubin::code().
struct SassWord {
  static constexpr std::uint64_t kOpcodeMask = 0x1ff;
  static constexpr std::uint64_t kBytes = 16;
  static constexpr unsigned kAlways = 0x7, kNever = 0xf;  ///< values of guard(): PT, !PT

  std::uint64_t pc = 0, low = 0, high = 0;

  unsigned opcode() const { return low & kOpcodeMask; }
  unsigned form() const { return low >> 9 & 7; }
  unsigned guard() const { return low >> 12 & 0xf; }  ///< predicate register; bit 3 negates it
};

/// True for code of an architecture before those whose machine code is known here.
bool is_before_known(const Cubin& cubin);
/// The first of those: "sm_75".
std::string first_known_arch();

/// The architecture of the cubin. Throws CubinError if its machine code is not known here.
int known_sm(const Cubin& cubin);

/// The targets of the indexed branches (BRX) of a kernel: offset of the branch -> offsets of its
/// targets.
using BranchTargets = std::map<std::uint64_t, std::vector<std::uint64_t>>;
BranchTargets branch_targets(const Cubin& cubin, std::string_view kernel);

/// The offsets of the instructions of `kernel` that spill a register to local memory or load it
/// again. ptxas marks them since CUDA 13.
std::set<std::uint64_t> spills_and_refills(const Cubin& cubin, std::string_view kernel);

/// All instructions of `kernel`, in the order of the code. Empty for an unknown kernel.
std::vector<SassWord> machine_code(const Cubin& cubin, std::string_view kernel);

}  // namespace warpgauge::metrics
