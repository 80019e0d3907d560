// Compares the PTX of a kernel with the machine code of the same compilation.
#include "harness/emulator/counting/oracle.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/emulator/counting/comparison.h"
#include "harness/emulator/counting/same_ptx.h"
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

}  // namespace

void Oracle::read_accesses(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    if (function.has_body) flows_.emplace_back(function);
    if (!function.is_kernel) continue;
    accesses_[function.name] = accesses_of(module, function.name);
    if (allocates(module, function.name)) allocating_.insert(function.name);
  }
}

Oracle::Oracle(const ptx::Module& module, std::string reason) : refusal_(std::move(reason)) {
  read_accesses(module);
}

Oracle::Oracle(const ptx::Module& module, std::string_view ptx, std::span<const std::byte> cubin) {
  read_accesses(module);
  try {
    if (cubin.empty()) throw Refused("no machine code for the architecture was compiled with it");
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

OracleAnswer Oracle::predict(std::string_view kernel, const std::string& reason) const {
  OracleAnswer answer;
  answer.trust.otherwise = {Confidence::predicted, "widths are predicted: " + reason};
  answer.trust.rest = answer.trust.otherwise;
  if (const auto found = accesses_.find(kernel); found != accesses_.end()) {
    answer.plans = predict_vectors(found->second);
  }
  return answer;
}

OracleAnswer Oracle::about(std::string_view kernel) const {
  const auto accesses = accesses_.find(kernel);
  if (!code_) return predict(kernel, refusal_);
  if (accesses == accesses_.end() || code_->cubin.code(kernel).empty()) {
    return predict(kernel, "the machine code lacks this kernel");
  }

  Comparison comparison =
      compare(accesses->second, flows_, {code_->cubin, code_->sources, code_->lines}, kernel);
  comparison.allocates = allocating_.contains(kernel);
  return conclude(std::move(comparison));
}

}  // namespace warpgauge::emulator::counting
