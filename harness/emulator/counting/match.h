// A kernel's accesses in the PTX, each with the instructions of the machine code made of it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/emulator/counting/oracle_answer.h"
#include "harness/emulator/counting/ptx_accesses.h"
#include "metrics/facts/confidence.h"
#include "metrics/machine_code/sass.h"

namespace warpgauge::emulator::counting {

/// The architecture on which counts of wmma and values of approximate functions were compared with
/// the emulator's.
constexpr int kComparedOn = 90;

/// Where what was found of an access stands, against the access.
struct Standing {
  std::string difference;              // why it may count something else; empty: it does not
  std::set<int> undivided;             // branches, by line, at which no warp may divide for that
  std::map<int, std::string> untaken;  // those that no lane may take, and what would differ
  bool decided = true;                 // by every branch that decides the access; loops aside
  bool once = true;          // stands for one execution of the access, not for several of a loop
  bool by_lane = false;      // ptxas made a loop around it in which the lanes take turns
  bool in_own_loop = false;  // in the loops of the access, of which no round ends before it
};

/// An instruction of the machine code at one place of local memory in all lanes, without a guard.
struct StackAccess {
  metrics::SourceLine source;
  metrics::MemoryInstruction instruction;
};

/// A kernel's accesses and what was found for each.
struct Match {
  const PtxAccess* access;
  std::vector<metrics::MemoryInstruction> found;  // that match
  std::vector<StackAccess> on_stack;              // of these
  std::vector<metrics::SourceLine> sources;       // of these, each line once
  bool has_loop = false;     // of compare and swap; all at its line is of the loop
  std::ptrdiff_t votes = 0;  // of the warp at its line: an atomic by one lane for all
  Standing standing;
  int block = 0, loop = 0;  // of the PTX, that the access is in: lines of it; 0: in no loop
  std::optional<metrics::Trust> order;   // not exact, because the order of threads decides
  std::optional<metrics::Trust> memory;  // not exact where memory is unsettled
};

/// The instructions of the machine code, each at the access that it was made of.
struct Comparison {
  std::vector<Match> matches;  // in the order of the text
  std::vector<ExtraAccess> extras;
  /// Accesses that the order of threads may let execute another time.
  std::vector<KernelTrust::Uncounted> another_time;
  std::vector<KernelTrust::Uncounted> another_time_by_memory;  // what unsettled memory may let
  bool unsettles_memory = false;
  int sm = 0;  ///< the machine code's architecture
  ExecutionModel executions{"it calls functions"};
  /// Why executions are not exact: the order of threads decides, or unsettled memory may.
  std::optional<metrics::Trust> execution_order, execution_memory;
  std::set<ptx::Space> spaces;  // that the machine code accesses
  bool allocates = false;       // calls malloc
};

/// How the accesses count, by what was found for each.
OracleAnswer conclude(Comparison comparison);

}  // namespace warpgauge::emulator::counting
