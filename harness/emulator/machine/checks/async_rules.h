// The rules about mbarriers, copies of the async proxy, the memory of clusters and setmaxnreg: what
// is wrong and what mends it.
#pragma once

#include <cstdint>
#include <string>

#include "harness/emulator/machine/checks/findings.h"

namespace warpgauge::emulator::machine::checks {

enum class AsyncRule : std::uint8_t {
  unfenced_source,
  unordered_source,
  early_access,
  early_result,
  overwritten_source,
  refilled_buffer,
  unfenced_refill,
  unawaited_copy,
  wrong_bytes,
  ended_block,
  unordered_mbarrier,
  unfenced_mbarrier,
  unavailable_registers,
};

struct AsyncRuleRow {
  AsyncRule rule;
  const char* name;
  const char* wrong;
  const char* fix;
};
const AsyncRuleRow& row_of(AsyncRule rule);

/// `details` say what is where ("... of 4 bytes at 0x10, which thread (1,0,0) has written at ...");
/// what is wrong with it, and the fix, are of the rule. `other` is the place of the other access.
void report(Findings& findings, const Act& act, AsyncRule rule, const std::string& other,
            const std::string& details);

}  // namespace warpgauge::emulator::machine::checks
