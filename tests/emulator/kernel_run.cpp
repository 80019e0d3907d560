// Runs small kernels on the machine.
#include "tests/emulator/kernel_run.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

KernelRun run_kernel(const std::string& text, const Shape& shape, Words input, Options options,
                     const std::function<void(std::span<const FunctionHits>)>& cover) {
  Machine machine(Architecture{}, std::move(options));
  Kernel* const kernel = machine.find_kernel(machine.load(ptx::parse(text, "test.ptx")), "k");
  if (kernel == nullptr) throw std::logic_error("there is no kernel k");
  machine.set_access_plans(*kernel, {.entries = {}, .watched = {shape.watched}});
  std::size_t threads = 1;
  for (const std::uint32_t extent : shape.grid) threads *= extent;
  for (const std::uint32_t extent : shape.block) threads *= extent;
  input.resize(std::max<std::size_t>(input.size(), 1));
  const auto allocate = [&](std::size_t words, const char* name) {
    const std::size_t bytes = 4 * std::max<std::size_t>(words, 1);
    std::byte* const memory = machine.memory().allocate(bytes, memory::Memory::Kind::device, name);
    std::memset(memory, 0, bytes);
    if (!shape.is_unwritten) machine.memory().note_written(memory, bytes);
    return memory;
  };
  std::byte* const output = allocate(threads, "output");
  std::byte* const device_input = allocate(input.size(), "input");
  std::memcpy(device_input, input.data(), 4 * input.size());
  const std::array<const std::byte*, 2> pointers = {output, device_input};
  std::vector<FunctionHits> hits;
  KernelRun run;
  const Launch launch{.grid = shape.grid,
                      .block = shape.block,
                      .dynamic_shared_bytes = shape.dynamic_shared_bytes,
                      .cooperative = shape.cooperative,
                      .parameters = std::as_bytes(std::span(pointers)),
                      .hits = cover ? &hits : nullptr,
                      .findings = &run.findings,
                      .order = shape.order,
                      .registers = shape.registers,
                      .cluster = shape.cluster};
  try {
    run.outcome = machine.run(*kernel, launch);
  } catch (const Fault&) {
    if (cover) cover(hits);
    throw;
  }
  if (cover) cover(hits);
  run.output.resize(threads);
  std::memcpy(run.output.data(), output, 4 * threads);
  return run;
}

std::vector<std::string> findings_of(const std::string& text, const Shape& shape,
                                     std::string_view checks, Words input) {
  Options options = limited();
  options.threads = 1;
  options.checks = checks_called(checks);
  std::vector<std::string> texts;
  for (const Finding& finding : run_kernel(text, shape, std::move(input), options).findings) {
    texts.push_back(finding.text);
  }
  return texts;
}

std::optional<Fault> fault_of(const std::string& text, const Shape& shape, Options options) {
  try {
    run_kernel(text, shape, {}, std::move(options));
  } catch (const Fault& fault) {
    return fault;
  }
  return std::nullopt;
}

}  // namespace warpgauge::emulator::machine
