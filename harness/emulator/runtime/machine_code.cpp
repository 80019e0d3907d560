// What the machine code of the same compilation tells of the kernels of a module.
#include "harness/emulator/runtime/machine_code.h"

#include <utility>
#include <vector>

#include "harness/emulator/runtime/cubin_registers.h"

namespace warpgauge::emulator {
namespace {

using metrics::MemoryOp;

/// The metrics that lack an access of this kind.
std::vector<std::string> groups_of(MemoryOp op) {
  if (metrics::is_local(op)) return {"local"};
  if (metrics::is_generic(op)) return {"shared", "global", "local"};
  switch (op) {
    case MemoryOp::ldg:
    case MemoryOp::stg:
    case MemoryOp::atomg:
    case MemoryOp::atomg_cas:
    case MemoryOp::red:
      return {"global"};
    case MemoryOp::ldgsts:
      return {"shared", "global"};
    default:
      return {"shared"};
  }
}

KernelTrust trust_of(OracleAnswer& answer) {
  KernelTrust out = std::move(answer.trust);
  for (const ExtraAccess& extra : answer.extras) {
    const metrics::SourceLine at = extra.source.value_or(metrics::SourceLine{});
    for (const std::string& group : groups_of(extra.instruction.op)) {
      out.uncounted.push_back(
          {at.file, at.line, group, {metrics::Confidence::estimate, extra.reason}});
    }
  }
  return out;
}

}  // namespace

MachineCode::MachineCode(const ptx::Module& module, const SelectedCode& code)
    : oracle_(module, code.ptx, code.cubin), registers_(registers_of_kernels(code.cubin)) {}

MachineCode::Answer MachineCode::about(const std::string& kernel) const {
  OracleAnswer answer = oracle_.about(kernel);
  const auto registers = registers_.find(kernel);
  return {.plans = std::move(answer.plans),
          .trust = trust_of(answer),
          .registers = registers == registers_.end() ? 0 : registers->second};
}

}  // namespace warpgauge::emulator
