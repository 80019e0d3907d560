// libFuzzer target: no image may make the readers of cubins, machine code and line tables crash,
// hang or throw anything but their own errors.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/order_dependence.h"
#include "metrics/machine_code/sass.h"

namespace {

using namespace warpgauge::metrics;

std::optional<PtxLines> ptx_lines(const Cubin& cubin) {
  try {
    return PtxLines(cubin);
  } catch (const LineTableError&) {
    return std::nullopt;
  }
}

void read_kernel(const Cubin& cubin, const std::string& kernel, const PtxLines* ptx,
                 const SourceLines* source) {
  cubin.sass_hash(kernel);
  cubin.constant_bytes(kernel);
  cubin.shared_static_bytes(kernel);
  for (const MemoryInstruction& instruction : memory_instructions(cubin, kernel)) {
    name_of(instruction);
    if (source != nullptr) source->find(kernel, instruction.pc);
    if (ptx != nullptr) ptx->is_strong_load(kernel, instruction.pc);
  }
  warp_votes(cubin, kernel);
  OrderOfThreads(cubin, kernel, ptx).influence({.memory = Memory::unsettled});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = std::as_bytes(std::span(data, size));
  try {
    const Cubin cubin(image);
    cubin.module_constant_bytes();
    const CallGraph graph(cubin);
    for (const auto& [number, function] : cubin.functions()) graph.called_by(function.name);
    const std::optional<SourceLines> source = SourceLines::of(image);
    const std::optional<PtxLines> ptx = ptx_lines(cubin);
    for (const std::string& kernel : cubin.kernels()) {
      read_kernel(cubin, kernel, ptx ? &*ptx : nullptr, source ? &*source : nullptr);
    }
  } catch (const CubinError&) {
    return 0;
  }
  return 0;
}
