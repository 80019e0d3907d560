// Compares the PTX of a kernel with the machine code of the same compilation.
#include "harness/emulator/counting/oracle.h"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/ptx_accesses.h"
#include "harness/emulator/counting/ptx_flow.h"
#include "harness/emulator/counting/same_ptx.h"
#include "harness/emulator/counting/sass_match.h"
#include "harness/emulator/counting/vector_predictor.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::counting {
namespace {

using metrics::Confidence;

/// Why machine code and PTX cannot be compared.
class Refused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check_same_text(std::string_view in_cubin, std::string_view emulated) {
  if (in_cubin.empty()) throw Refused("the machine code was compiled without -lineinfo");
  if (const int line = first_difference(in_cubin, emulated)) {
    throw Refused(
        fmt::format("the machine code was made from other PTX: its line {} differs", line));
  }
}

OracleAnswer predict(const std::vector<PtxAccess>& accesses, const std::string& reason) {
  OracleAnswer answer;
  answer.trust.otherwise = {Confidence::predicted, "widths are predicted: " + reason};
  answer.trust.rest = answer.trust.otherwise;
  answer.plans = predict_vectors(accesses);
  return answer;
}

}  // namespace

Oracle::Oracle(const ptx::Module& module, std::string_view ptx, std::span<const std::byte> cubin)
    : module_(module) {
  try {
    const metrics::Cubin code(cubin);
    metrics::memory_instructions(code, "");  // throws where the architecture is not known
    MachineCode machine{code, metrics::SourceLines(code), metrics::PtxLines(code)};
    check_same_text(machine.lines.text(), ptx);
    code_.emplace(std::move(machine));
  } catch (const Refused& error) {
    refusal_ = error.what();
  } catch (const metrics::CubinError& error) {
    refusal_ = error.what();
  } catch (const metrics::LineTableError& error) {
    refusal_ = error.what();
  }
}

OracleAnswer Oracle::about(std::string_view kernel) const {
  const std::vector<PtxAccess> accesses = accesses_of(module_, kernel);
  const bool is_here =
      code_ && !code_->cubin.code(kernel).empty() && module_.find(kernel) != nullptr;
  if (!is_here) return predict(accesses, code_ ? "the machine code lacks this kernel" : refusal_);
  std::vector<PtxFlow> flows;
  for (const ptx::Function* const function : functions_of(module_, kernel)) {
    flows.emplace_back(*function);
  }
  Comparison comparison =
      compare(accesses, flows, {code_->cubin, code_->sources, code_->lines}, kernel);
  comparison.allocates = allocates(module_, kernel);
  return conclude(std::move(comparison));
}

}  // namespace warpgauge::emulator::counting
