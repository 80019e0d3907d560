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

/// How the place of an access in the machine code differs from its place in the PTX. Lines are
/// those of the PTX text, and a branch is named by its line.
struct Standing {
  /// Why the machine code may count something else than the access; empty where it does not.
  std::string difference;
  /// The counts are those of the access where no warp divides at any of these branches: lanes that
  /// part there come to it apart, or to copies of it.
  std::set<int> branches_undivided;
  /// The counts are those of the access where no lane takes any of these branches; for each, what
  /// would differ.
  std::map<int, std::string> branches_untaken;
  /// Every branch that decides the access decides the machine code's too; exits of loops aside.
  bool decided = true;
  /// An execution in the machine code stands for one of the access, not for several of a loop.
  bool once = true;
  /// ptxas made a loop around it in which the lanes take turns.
  bool by_lane = false;
  /// The machine code has it in the innermost loop of the access, and no round of the loops around
  /// the access ends before it.
  bool in_own_loop = false;

  /// Takes in the standing of the copies that another function of the machine code has.
  void merge(const Standing& other) {
    if (difference.empty()) difference = other.difference;
    branches_undivided.insert(other.branches_undivided.begin(), other.branches_undivided.end());
    branches_untaken.insert(other.branches_untaken.begin(), other.branches_untaken.end());
    decided &= other.decided;
    once &= other.once;
    by_lane |= other.by_lane;
    in_own_loop |= other.in_own_loop;
  }
};

/// An instruction of the machine code at one place of local memory in all lanes, without a guard.
struct StackAccess {
  metrics::SourceLine source;
  metrics::MemoryInstruction instruction;
};

/// An access of the PTX and what the machine code has for it. compare() (sass_match.h) sets all
/// members.
struct Match {
  const PtxAccess* access = nullptr;  ///< borrowed from the caller of compare()

  // From the machine code's functions, one after the other.

  /// The instructions of the machine code that the access was made into.
  std::vector<metrics::MemoryInstruction> found;
  /// Those of `found` that lie at one place in all lanes.
  std::vector<StackAccess> on_stack;
  /// The lines of source of `found`, each once.
  std::vector<metrics::SourceLine> sources;
  /// ptxas made a loop of compare and swap of an atomic: all instructions at its line are the
  /// loop's.
  bool is_in_cas_loop = false;
  /// The votes of a warp at the line of an atomic. With one vote for each of `found`, one lane does
  /// the atomic for all.
  std::ptrdiff_t votes = 0;

  Standing standing;  ///< compare_places() (match_position.h) sets it

  // From the PTX alone, before the machine code is searched.

  /// The last line of the PTX's block that the access is in.
  int block_last_line = 0;
  /// The last line of the header of the innermost loop that the access is in; 0: it is in no loop.
  int loop_header_last_line = 0;

  // From the dependences of the machine code (metrics::OrderOfThreads).

  /// Why its counts are not exact: the order of threads decides them.
  std::optional<metrics::Trust> order;
  /// Why its counts are not exact where memory is unsettled.
  std::optional<metrics::Trust> memory;
};

/// The accesses of a kernel beside its machine code, as compare() returns them.
struct Comparison {
  std::vector<Match> matches;  ///< in the order of the text
  std::vector<ExtraAccess> extras;
  /// Accesses that the order of threads may let execute another time.
  std::vector<KernelTrust::Uncounted> another_time;
  /// Accesses that unsettled memory may let execute another time.
  std::vector<KernelTrust::Uncounted> another_time_by_memory;
  /// The kernel stores to global memory what the order of threads decides, for launches behind it.
  bool unsettles_memory = false;
  int sm = 0;  ///< the machine code's architecture
  /// A model of the kernel's function, which is known where that is all of its machine code. The
  /// model of a kernel that calls functions stays unknown, with this reason.
  ExecutionModel executions{"it calls functions"};
  /// Why executions are not exact: the order of threads decides them.
  std::optional<metrics::Trust> execution_order;
  /// Why executions are not exact where memory is unsettled.
  std::optional<metrics::Trust> execution_memory;
  std::set<ptx::Space> spaces;  ///< those that the machine code accesses
  bool allocates = false;       ///< the kernel calls malloc; set by the caller of compare()
};

}  // namespace warpgauge::emulator::counting
