// The mbarriers of a block: their operations, and what bulk copies have still to bring them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/emulator/machine/checks/async_checks.h"
#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/core/warp.h"
#include "harness/emulator/machine/memory/cluster_memory.h"
#include "harness/emulator/machine/memory/mbarrier.h"

namespace warpgauge::emulator::machine::control {

struct Block;

/// The operations; in Instruction::flags, with the flags below.
enum class MbarrierOp : std::uint16_t {
  init,  ///< source 1: the count of arrivals
  invalidate,
  arrive,          ///< source 1: how many (kCounted), or bytes to expect (kExpectsBytes)
  arrive_drop,     ///< likewise; later phases expect fewer
  expect_bytes,    ///< source 1
  complete_bytes,  ///< source 1
  wait_state,      ///< test_wait, try_wait: source 1 is the state that arrive gave
  wait_parity,     ///< source 1: parity of the phase that is waited for
};

namespace mbarrier_flag {
inline constexpr std::uint16_t kOperationMask = 0xf;    ///< the bits of the MbarrierOp
inline constexpr std::uint16_t kShortAddress = 1 << 4;  ///< source 0 has 32 bits
inline constexpr std::uint16_t kCounted = 1 << 5;       ///< source 1 says how many arrive
inline constexpr std::uint16_t kExpectsBytes = 1 << 6;  ///< source 1: bytes, before the arrival
inline constexpr std::uint16_t kReturnsState = 1 << 7;  ///< destination: .b64
inline constexpr std::uint16_t kNoCompletion = 1 << 8;  ///< the arrival must not end the phase
inline constexpr std::uint16_t kReleases = 1 << 9;      ///< orders what is before
inline constexpr std::uint16_t kNoIncrement = 1 << 10;  ///< the barrier's count has the arrival
inline constexpr std::uint16_t kOfCluster = 1 << 11;    ///< it does so for other blocks, too
}  // namespace mbarrier_flag

/// mbarrier.*: the address is source 0 plus the offset.
void execute_mbarrier(Warp& warp, const Instruction& instruction);
/// mbarrier.pending_count: source 0: .b64 state; destination: .u32.
void execute_pending_count(Warp& warp, const Instruction& instruction);
/// cp.async.mbarrier.arrive: without kNoIncrement the present phase expects one arrival more.
void execute_arrive_copied(Warp& warp, const Instruction& instruction);

/// Bytes on their way into shared memory, whose arrival an mbarrier counts.
struct Sent {
  memory::SharedPlace to, barrier;
  std::uint32_t bytes = 0;
  bool reduces = false;        ///< others may be on their way to the same place
  std::function<void()> make;  ///< writes the bytes: the copy as such
};

/// The mbarriers of a block.
struct Mbarriers {
  using Use = checks::MbarrierUse;
  /// Bytes arrive when a thread looks at the barrier, not sooner.
  struct InFlight {
    Sent sent;
    checks::History::CopyNumber number;  ///< in the history, where there is one
    Act act;
  };

  void reset() {
    uses.clear();
    in_flight.clear();
  }

  std::map<std::uint32_t, Use> uses;  ///< by the barrier's offset in the block's shared memory
  std::vector<InFlight> in_flight;    ///< in the order of issue
};

/// Lets the bytes arrive at their mbarrier later. Throws Fault if it is none.
void send(Warp& warp, const Instruction& instruction, int lane, Sent sent);
/// The threads of the block that wait for a phase with a time limit wait no longer. False if there
/// are none.
bool give_up_waiting(Block& block);
/// Reports a finding for each mbarrier of the block that waits for bytes of which none is on its
/// way. Only when the block has ended, or no thread of its cluster can go on: else some may still
/// be sent.
void report_missing_bytes(Block& block);
/// "phase 2 of the mbarrier at byte 16 of shared memory (initialised at f.cu:12), where ..."
std::string phase_text(const Block& block, std::uint32_t offset);

}  // namespace warpgauge::emulator::machine::control
