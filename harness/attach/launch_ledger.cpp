// Keeps the launches, counts and warnings of an attached process, and writes them.
#include "harness/attach/launch_ledger.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "harness/files/write_file.h"

namespace warpgauge::attach {
namespace {

/// The arguments of this process, joined by blanks.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

/// Launches that are made whatever a condition says.
std::uint64_t certain(const Kernels& kernels) {
  return static_cast<std::uint64_t>(
      std::ranges::count(kernels, false, &driver::LaunchedKernel::conditional));
}

/// The warps of all launches of a kernel: each executes its first instruction once.
std::uint64_t warps_of(const std::string& kernel, const metrics::SassRecords& records) {
  std::uint64_t warps = 0;
  for (const auto& [instruction, values] : records) {
    const bool is_first = instruction.pc == 0 && instruction.kernel == kernel;
    if (is_first) warps += values[metrics::SassMetric::instructions];
  }
  return warps;
}

/// A name that no other process has, nor another program in the same process.
std::string unique_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return std::to_string(getpid()) + "-" + std::to_string(now);
}

}  // namespace

LaunchLedger::LaunchLedger(const std::filesystem::path& folder, programs::LaunchFilter choice)
    : path_(folder / unique_name()),
      choice_(std::move(choice)),
      launches_(path_.string() + kLaunchesEnding) {
  process_.command = command_line();
  process_.pid = getpid();
  write();
}

void LaunchLedger::write() {
  try {
    process_.waiting = 0;
    for (const auto& [context, waiting] : waiting_) process_.waiting += waiting.launches;
    files::write_file(path_.string() + kProcessEnding, to_text(process_));
  } catch (const std::exception&) {
    // The program is not to be disturbed. Who attached it misses the file, or finds the one before.
  }
}

void LaunchLedger::save() {
  const std::scoped_lock lock(mutex_);
  write();
}

void LaunchLedger::warn(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  if (note(what)) write();
}

bool LaunchLedger::note(const std::string& warning) {
  auto& warnings = process_.warnings;
  if (std::ranges::find(warnings, warning) != warnings.end()) return false;
  warnings.push_back(warning);
  return true;
}

void LaunchLedger::device(int ordinal, const AttachedDevice& device) {
  const std::scoped_lock lock(mutex_);
  const auto known = process_.devices.try_emplace(ordinal, device).first;
  if (!device.device.chip.empty()) known->second = device;
}

std::size_t LaunchLedger::place_of(const std::string& name, int device) {
  const auto [place, is_new] = kernels_.try_emplace({device, name}, process_.kernels.size());
  if (is_new)
    process_.kernels.push_back({.name = name, .device = device, .counted = {}, .resources = {}});
  return place->second;
}

void LaunchLedger::launching(const Kernels& kernels) { launches_.add(certain(kernels)); }

void LaunchLedger::refused(const Kernels& kernels) { launches_.take_back(certain(kernels)); }

Kernels LaunchLedger::launched(CUcontext context, int device, const Kernels& kernels,
                               bool counted) {
  const std::scoped_lock lock(mutex_);
  if (counted) {
    Waiting& waiting = waiting_[context];
    for (const driver::LaunchedKernel& launched : kernels) {
      if (is_skipped(launched.name)) continue;
      const int launches = launched.conditional ? 0 : 1;
      waiting.launches += launches;
      counted_ += launches;
      waiting.kernels.insert(launched.name);
      if (launched.conditional) {
        auto& shapes = waiting.conditional[launched.name];
        const auto like = [&](const metrics::Launch& shape) { return shape.like(launched.shape); };
        if (std::ranges::none_of(shapes, like)) shapes.push_back(launched.shape);
      } else {
        waiting.warps[launched.name] += launched.shape.warps();
      }
    }
  }
  Kernels unknown;
  for (const driver::LaunchedKernel& launched : kernels) {
    const auto [known, is_new] = functions_.try_emplace({device, launched.function});
    Function& function = known->second;
    // A handle can come again for other code once its own is unloaded.
    if (is_new || process_.kernels[function.place].name != launched.name) {
      function = {.place = place_of(launched.name, device), .blocks = {}};
    }
    const auto& [x, y, z] = launched.shape.block;
    const std::tuple resources(x * y * z, launched.shape.dynamic_shared_bytes,
                               launched.shape.cluster_blocks());
    if (function.blocks.insert(resources).second) unknown.push_back(launched);
    if (launched.conditional) continue;
    AttachedKernel& kernel = process_.kernels[function.place];
    ++kernel.launches;
    if (counted && !is_skipped(launched.name)) metrics::add(kernel.counted, launched.shape);
  }
  return unknown;
}

void LaunchLedger::resources(const std::string& kernel, int device,
                             const KernelResources& resources) {
  const std::scoped_lock lock(mutex_);
  auto& known = process_.kernels[place_of(kernel, device)].resources;
  if (std::ranges::find(known, resources) == known.end()) known.push_back(resources);
}

bool LaunchLedger::is_enough(const AttachedKernel& kernel) const {
  std::uint64_t counted = 0;
  for (const metrics::Launch& shape : kernel.counted) counted += shape.count;
  return choice_.is_enough(counted, counted_);
}

bool LaunchLedger::is_skipped(const std::string& kernel) {
  const auto [known, is_new] = skipped_.try_emplace(kernel);
  if (is_new) known->second = choice_.skips(kernel);
  return known->second;
}

bool LaunchLedger::are_skipped(const Kernels& kernels) {
  if (!skips_any() || kernels.empty()) return false;
  const std::scoped_lock lock(mutex_);
  return std::ranges::all_of(
      kernels, [&](const driver::LaunchedKernel& launched) { return is_skipped(launched.name); });
}

bool LaunchLedger::are_wanted(const Kernels& kernels, int device) const {
  if (!choice_.is_partial()) return true;
  const std::scoped_lock lock(mutex_);
  if (choice_.is_enough(0, counted_)) return false;
  return std::ranges::any_of(kernels, [&](const driver::LaunchedKernel& launched) {
    const auto known = kernels_.find({device, launched.name});
    return known == kernels_.end() || !is_enough(process_.kernels[known->second]);
  });
}

bool LaunchLedger::all_are_enough(int device) {
  if (!choice_.is_partial()) return false;
  const std::scoped_lock lock(mutex_);
  return std::ranges::all_of(process_.kernels, [&](const AttachedKernel& kernel) {
    return kernel.device != device || is_enough(kernel) || is_skipped(kernel.name);
  });
}

void LaunchLedger::note_conditional(const Waiting& waiting, int device,
                                    const metrics::SassRecords& records) {
  for (const auto& [name, shapes] : waiting.conditional) {
    const auto certain = waiting.warps.find(name);
    const std::uint64_t all = warps_of(name, records);
    const std::uint64_t known = certain == waiting.warps.end() ? 0 : certain->second;
    if (all <= known) continue;
    metrics::Launch shape = shapes.front();
    if (shapes.size() > 1 || (all - known) % shape.warps() != 0) {
      note(
          "a kernel is launched by conditional nodes of graphs in several shapes, so that it is "
          "not known how often");
      continue;
    }
    shape.count = (all - known) / shape.warps();
    AttachedKernel& kernel = process_.kernels[place_of(name, device)];
    kernel.launches += shape.count;
    metrics::add(kernel.counted, shape);
    counted_ += shape.count;
    launches_.add(shape.count);
  }
}

void LaunchLedger::taken(CUcontext context, int device, const metrics::SassRecords& records,
                         const SharedFunctions& shared) {
  const std::scoped_lock lock(mutex_);
  metrics::SassRecords& all = process_.records[device];
  const Waiting waiting = std::exchange(waiting_[context], {});
  note_conditional(waiting, device, records);
  for (const auto& [recorded, values] : records) {
    metrics::Instruction instruction = recorded;
    // A function is of the kernel that was launched, or of the one of several that calls it.
    const bool is_function = !kernels_.contains({device, instruction.kernel});
    if (is_function) {
      instruction.owner = waiting.kernels.size() == 1
                              ? *waiting.kernels.begin()
                              : shared.caller(instruction.kernel, waiting.kernels);
    } else if (is_skipped(instruction.kernel)) {
      continue;
    }
    all[instruction] += values;
  }
  write();
}

std::uint64_t LaunchLedger::waiting(CUcontext context) const {
  const std::scoped_lock lock(mutex_);
  const auto found = waiting_.find(context);
  return found == waiting_.end() ? 0 : found->second.launches;
}

std::uint64_t LaunchLedger::ended(CUcontext context) {
  const std::scoped_lock lock(mutex_);
  const auto found = waiting_.find(context);
  if (found == waiting_.end()) return 0;
  const std::uint64_t launches = found->second.launches;
  waiting_.erase(found);
  return launches;
}

void LaunchLedger::graph_made(CUgraphExec exec, Kernels kernels) {
  const std::scoped_lock lock(mutex_);
  graphs_[exec] = std::move(kernels);
}

driver::LaunchedKernel* LaunchLedger::node_of(CUgraphExec exec, CUgraphNode node) {
  const auto graph = graphs_.find(exec);
  if (graph == graphs_.end()) return nullptr;
  const auto found = std::ranges::find(graph->second, node, &driver::LaunchedKernel::node);
  return found == graph->second.end() ? nullptr : &*found;
}

bool LaunchLedger::node_changed(CUgraphExec exec, const driver::LaunchedKernel& kernel) {
  const std::scoped_lock lock(mutex_);
  driver::LaunchedKernel* const known = node_of(exec, kernel.node);
  if (known == nullptr) return false;
  const bool enabled = known->enabled;
  *known = kernel;
  known->enabled = enabled;
  return true;
}

bool LaunchLedger::node_enabled(CUgraphExec exec, CUgraphNode node, bool enabled) {
  const std::scoped_lock lock(mutex_);
  driver::LaunchedKernel* const known = node_of(exec, node);
  if (known != nullptr) known->enabled = enabled;
  return known != nullptr;
}

void LaunchLedger::graph_ends(CUgraphExec exec) {
  const std::scoped_lock lock(mutex_);
  graphs_.erase(exec);
}

std::shared_ptr<const Kernels> LaunchLedger::graph(CUgraphExec exec) const {
  const std::scoped_lock lock(mutex_);
  const auto found = graphs_.find(exec);
  if (found == graphs_.end()) return nullptr;
  auto launched = std::make_shared<Kernels>();
  std::ranges::copy_if(found->second, std::back_inserter(*launched),
                       &driver::LaunchedKernel::enabled);
  return launched;
}

}  // namespace warpgauge::attach
