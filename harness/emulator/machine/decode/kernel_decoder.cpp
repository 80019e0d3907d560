// Decodes a kernel with all that it calls, and keeps the immediates of all functions.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "harness/emulator/machine/decode/control.h"
#include "harness/emulator/machine/decode/function_decoder.h"

namespace warpgauge::emulator::machine::decode {

OperandSlot ConstantPool::vector(std::uint64_t bits, int bytes) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [known, is_new] = known_.try_emplace({bits, bytes});
  if (!is_new) return known->second;
  known->second = {OperandSlot::constants, static_cast<std::uint32_t>(bytes_.size())};
  bytes_.resize(
      round_up(bytes_.size() + static_cast<std::size_t>(bytes) * kLanes, kVectorAlignment));
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(bytes_.data() + known->second.offset + lane * bytes, &bits, bytes);
  }
  return known->second;
}

OperandSlot ConstantPool::mask(bool value) { return vector(value ? ~std::uint64_t{0} : 0, 4); }

AlignedBytes ConstantPool::take() const {
  AlignedBytes result(bytes_.size());
  std::copy(bytes_.begin(), bytes_.end(), result.data());
  return result;
}

KernelDecoder::KernelDecoder(const Kernel& kernel, const Architecture& architecture,
                             const Options& options)
    : kernel(kernel), architecture(architecture), options(options), isa(isa::best_isa()) {}

Code* KernelDecoder::code(const ptx::Function* function) const {
  for (const auto& code : result->functions) {
    if (code->function == function && function->has_body) return code.get();
  }
  return nullptr;
}

namespace {

/// Finds the lines of source of counters and branches.
void find_sources(KernelCode& code) {
  const auto sources = std::make_shared<std::map<int, metrics::SourceLine>>();
  const auto find = [&](auto& entry) {
    const int number = entry.code->function->body.at(entry.instruction).source_line;
    const auto [line, is_new] = sources->try_emplace(number);
    if (is_new) line->second = source_line(*entry.code, entry.instruction);
    entry.source = &line->second;
  };
  std::ranges::for_each(code.counters, find);
  std::ranges::for_each(code.branches, find);
  code.sources = sources;
}

}  // namespace

std::unique_ptr<KernelCode> KernelDecoder::decode() {
  result = std::make_unique<KernelCode>();
  result->name = kernel.function.name;
  result->display = display_name(kernel.function.name);
  std::vector<FunctionDecoder> decoders;
  for (const ptx::Function* const function : kernel.scope.functions) {
    if (!function->has_body) continue;
    Code& code = *result->functions.emplace_back(std::make_unique<Code>());
    code.module = &kernel.program.module();
    code.function = function;
    code.number = static_cast<std::uint32_t>(result->functions.size() - 1);
    decoders.emplace_back(*this, code).lay_out();
  }
  for (FunctionDecoder& decoder : decoders) decoder.decode();
  for (FunctionDecoder& decoder : decoders) decoder.compile();
  for (const ptx::Function* const function : kernel.scope.addressed) {
    const Code* const target = code(function);
    const auto place = kernel.program.place(function->name);
    if (target != nullptr) result->addressed.push_back({place->address, target});
  }
  std::sort(result->addressed.begin(), result->addressed.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (const KernelScope::Shared& shared : kernel.scope.shared) {
    result->shared_variables.push_back(
        {variable_name(shared.variable->name), shared.offset, shared.variable->bytes});
  }
  result->shared_bytes = kernel.scope.shared_bytes;
  result->constants = constants.take();
  result->stack_bytes = stack_need(*result);
  find_sources(*result);
  return std::move(result);
}

}  // namespace warpgauge::emulator::machine::decode
