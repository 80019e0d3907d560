// Runs small kernels on the machine.
#include "tests/emulator/kernel_run.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>

#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {

namespace {

std::size_t threads_of(const Shape& shape) {
  std::size_t threads = 1;
  for (const std::uint32_t extent : shape.grid) threads *= extent;
  for (const std::uint32_t extent : shape.block) threads *= extent;
  return threads;
}

/// Memory for so many words, or one, which are 0.
std::byte* allocate(memory::Memory& memory, std::size_t words, const char* name, bool is_written) {
  const std::size_t bytes = 4 * std::max<std::size_t>(words, 1);
  std::byte* const allocated = memory.allocate(bytes, memory::Memory::Kind::device, name);
  std::memset(allocated, 0, bytes);
  if (is_written) memory.note_written(allocated, bytes);
  return allocated;
}

}  // namespace

KernelRun run_kernel(const std::string& text, const Shape& shape, Words input, Options options,
                     const std::function<void(std::span<const FunctionHits>)>& cover) {
  Machine machine(Architecture{}, std::move(options));
  Kernel* const kernel = machine.find_kernel(machine.load(ptx::parse(text, "test.ptx")), "k");
  if (kernel == nullptr) throw std::logic_error("there is no kernel k");
  machine.set_access_plans(*kernel, {.entries = {}, .watched = {shape.watched}});
  const std::size_t threads = threads_of(shape);
  const bool is_written = !shape.is_unwritten;
  std::byte* const output = allocate(machine.memory(), threads, "output", is_written);
  std::byte* const device_input = allocate(machine.memory(), input.size(), "input", is_written);
  if (!input.empty()) std::memcpy(device_input, input.data(), 4 * input.size());
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
                      .resident_blocks = shape.resident_blocks,
                      .cluster = shape.cluster};
  std::exception_ptr fault;
  try {
    run.outcome = machine.run(*kernel, launch);
  } catch (const Fault&) {
    fault = std::current_exception();
  }
  if (cover) cover(hits);
  if (fault) std::rethrow_exception(fault);
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
