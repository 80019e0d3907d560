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
namespace {

Kernel* load_kernel(Machine& machine, const std::string& text) {
  Kernel* const kernel = machine.find_kernel(machine.load(ptx::parse(text, "test.ptx")), "k");
  if (kernel == nullptr) throw std::logic_error("there is no kernel k");
  return kernel;
}

std::size_t threads_of(const Shape& shape) { return volume(shape.grid) * volume(shape.block); }

/// Memory with these words, and with one word if there are none.
std::span<std::byte> allocate(memory::Memory& memory, const Words& words, const char* name) {
  const std::size_t bytes = sizeof(std::uint32_t) * std::max<std::size_t>(words.size(), 1);
  std::byte* const begin = memory.allocate(bytes, memory::Memory::Kind::device, name);
  std::memset(begin, 0, bytes);
  std::ranges::copy(std::as_bytes(std::span(words)), begin);
  return {begin, bytes};
}

}  // namespace

LoadedKernel::LoadedKernel(const std::string& text, const Shape& shape, const Words& input,
                           Options options)
    : shape_(shape),
      machine_(std::make_unique<Machine>(Architecture{}, std::move(options))),
      interleaving_(
          new Interleaving{.order = {.switches = {}, .late_stores = true}, .seed = shape.order}),
      kernel_(load_kernel(*machine_, text)) {
  machine_->set_access_plans(*kernel_, {.entries = {}, .watched = {shape.watched}});
  memory::Memory& memory = machine_->memory();
  const auto output = allocate(memory, Words(threads_of(shape)), "output");
  const auto device_input = allocate(memory, input, "input");
  parameters_ = {output.data(), device_input.data()};
  if (shape.is_unwritten) return;
  for (const auto written : {output, device_input}) {
    memory.note_written(written.data(), written.size());
  }
}

LoadedKernel::~LoadedKernel() = default;

Launch LoadedKernel::launch() const {
  return {.grid = shape_.grid,
          .block = shape_.block,
          .dynamic_shared_bytes = shape_.dynamic_shared_bytes,
          .cooperative = shape_.cooperative,
          .parameters = std::as_bytes(std::span(parameters_)),
          .interleaving = shape_.order == 0 ? nullptr : interleaving_.get(),
          .registers = shape_.registers,
          .resident_blocks = shape_.resident_blocks,
          .cluster = shape_.cluster};
}

LaunchOutcome LoadedKernel::run(const Launch& launch) { return machine_->run(*kernel_, launch); }

Words LoadedKernel::output() const {
  Words words(threads_of(shape_));
  std::memcpy(words.data(), parameters_[0], sizeof(std::uint32_t) * words.size());
  return words;
}

KernelRun run_kernel(const std::string& text, const Shape& shape, const Words& input,
                     Options options) {
  LoadedKernel kernel(text, shape, input, std::move(options));
  KernelRun run;
  Launch launch = kernel.launch();
  launch.findings = &run.findings;
  run.outcome = kernel.run(launch);
  run.output = kernel.output();
  return run;
}

std::vector<std::string> findings_of(const std::string& text, const Shape& shape,
                                     std::string_view checks, const Words& input) {
  Options options = limited();
  options.threads = 1;
  options.checks = checks_called(checks);
  std::vector<std::string> texts;
  for (const Finding& finding : run_kernel(text, shape, input, options).findings) {
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
