// How a warp runs: its fragments (lanes that are at the same place), the frames of the functions
// they are in, and the services for handlers of control flow. The order is: deepest frame first,
// then the lowest place in the code; fragments that meet are merged. For compiled code that is
// where a GPU reconverges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/emulator/machine/control/product_groups.h"
#include "harness/emulator/machine/core/act.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/outcome.h"
#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine {
struct CallSite;
struct Code;
}  // namespace warpgauge::emulator::machine

namespace warpgauge::emulator::machine::control {

struct Block;

/// A function that lanes of a warp are in: one call of one fragment.
struct Frame {
  Frame* caller = nullptr;  ///< nullptr: the kernel's
  const Code* code = nullptr;
  std::byte* registers = nullptr;
  const CallSite* site = nullptr;
  const Instruction* return_to = nullptr;
  std::uint64_t local = 0;   ///< where it begins in each lane's local memory, bytes
  std::uint64_t serial = 0;  ///< later frames have higher numbers
  std::uint32_t depth = 0;   ///< 0: the kernel's
  Mask lanes = 0;            ///< lanes that have not returned
};

/// Lanes that are at the same place.
struct Fragment {
  enum class State : std::uint8_t {
    ready,
    yielded,           ///< polls: others go first
    waits_for_lanes,   ///< at a warp-level instruction that lanes have not reached yet
    waits_in_warp,     ///< likewise, in bar.warp.sync
    waits_in_block,    ///< at a barrier of the block; already counted there
    waits_in_cluster,  ///< at the barrier of the cluster
    waits_for_phase,   ///< for a phase of an mbarrier
    waits_for_groups,  ///< for products of other warps of its warpgroup
    waits_for_warps,   ///< for those of its warpgroup, in front of a product
  };
  const Instruction* pc = nullptr;
  Frame* frame = nullptr;
  Mask mask = 0;
  Mask members = 0;  ///< whom a fragment that waits for lanes waits for
  State state = State::ready;
  /// What it waits for, which depends on the state:
  /// - waits_in_block: the number of the barrier
  /// - waits_for_phase: the offset of the mbarrier in shared memory
  /// - waits_for_groups, waits_for_warps: the count of groups, or of products, to be reached
  std::uint32_t waits_on = 0;
};

/// Why run() came back.
enum class Pause : std::uint8_t {
  finished,  ///< all lanes have exited
  waits,     ///< every fragment waits
  yields,    ///< polls memory: others should go first
  slice,     ///< has used up what it was given
};

/// Executions by Code::number and place in Code::instructions.
using CodeHits = std::vector<std::vector<InstructionHits>>;

/// The numbers of a branch for BranchTotals, since the launch began.
struct BranchWays {
  std::uint64_t divided = 0;  ///< times that lanes of a warp parted
  // Only of the branches in AccessPlans::watched.
  std::uint64_t warps = 0, taken = 0;  ///< times that a warp came, and that lanes of it took it
  /// Groups of 8 lanes that were missing from full warps, added up over the warps that came, that
  /// took the branch, and that did not take it. The launcher subtracts them from those of full
  /// warps.
  std::uint64_t lacking = 0, lacking_taken = 0, lacking_untaken = 0;
};

/// The loops of a warp that wait for memory to change.
struct Polling {
  int rounds = 0;         ///< since a lane last left such a loop
  Mask lanes = 0;         ///< of the last round
  bool rotating = false;  ///< some fragments have yielded
  bool yields = false;    ///< the whole warp is to give way
};

/// The numbers that a warp counts up.
struct WarpCounts {
  std::uint64_t steps = 0;         ///< warp instructions since the launch began
  std::uint64_t executed = 0;      ///< the same, with those that do not count
  std::uint64_t clock_reads = 0;   ///< looks at a clock since the launch began
  BranchWays* branches = nullptr;  ///< by place in KernelCode::branches
  CodeHits* hits = nullptr;        ///< executions; nullptr: they are not counted
};

/// The scheduler of a warp. The running fragment is (Warp::next, Warp::mask, frame).
struct WarpEngine {
  Block* block = nullptr;
  std::uint32_t index = 0;  ///< the warp's place in its block
  Mask live = 0;            ///< lanes that have not exited
  Mask at_cluster = 0;      ///< lanes that have arrived at the barrier of the cluster
  Frame* frame = nullptr;   ///< the running fragment's
  Fragment others[kLanes];  ///< fragments that do not run at the moment
  int count = 0;            ///< entries of `others`
  bool unordered = false;   ///< some of `others` may lie before the running one, as they cannot run
  Polling polling;
  WarpCounts counts;
  ProductGroups products;          ///< asynchronous products of matrices
  std::uint32_t registers = 0;     ///< a thread's, by setmaxnreg; 0: the launch's
  std::uint64_t frame_serial = 0;  ///< Frame::serial of the latest frame
  Frame kernel_frame;              ///< where all lanes begin; others are of calls
};

/// A limit that no instruction reaches.
inline const Instruction* no_limit() {
  return reinterpret_cast<const Instruction*>(~std::uintptr_t{0});
}

/// Runs the warp for at most `steps` instructions. Throws Fault.
Pause run(Warp& warp, std::uint64_t steps);
/// Whether some of its lanes wait for nothing.
bool can_go_on(const Warp& warp);
/// The instruction that run() begins with; none if that gives way, or is not known.
Act next_act(Warp& warp);

/// Chooses the fragment to run next and merges others that are at the same place with it; false if
/// none can run now.
bool reschedule(Warp& warp);
/// Puts `lanes` of the running fragment aside: they go on at `pc` of the running frame when it is
/// their turn. The running fragment may be left empty.
void set_aside(Warp& warp, Mask lanes, const Instruction* pc,
               Fragment::State state = Fragment::State::ready, Mask members = 0);
/// Makes the scheduler choose before the next instruction.
inline void ask_scheduler(Warp& warp) { warp.limit = nullptr; }
/// The active lanes, all of the running fragment, go once more round a loop that waits for memory
/// to change: after many rounds others get their turn.
void poll(Warp& warp);
/// Fragments that wait for lanes look again, as lanes have exited.
void wake_waiting_for_lanes(Warp& warp);
/// Makes the frame the running one.
void switch_to(Warp& warp, Frame& frame);

}  // namespace warpgauge::emulator::machine::control
