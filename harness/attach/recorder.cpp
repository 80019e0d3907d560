#include "harness/attach/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>

#include "harness/write_file.h"
#include "metrics/cupti.h"

namespace warpgauge {
namespace {

/// The arguments of this process, joined by blanks.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

/// A name that no other process has, nor another program in the same process.
std::string unique_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return std::to_string(getpid()) + "-" + std::to_string(now);
}

}  // namespace

Recorder::Recorder(std::filesystem::path folder, std::uint64_t sample)
    : path_(std::move(folder) / unique_name()),
      sample_(sample),
      launches_(path_.string() + kLaunchesEnding) {
  process_.command = command_line();
  process_.pid = getpid();
  save();
}

void Recorder::add_trouble(const std::string& what) {
  auto& troubles = process_.troubles;
  if (std::ranges::find(troubles, what) != troubles.end()) return;
  troubles.push_back(what);
  save();
}

void Recorder::trouble(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  add_trouble(what);
}

void Recorder::save() {
  try {
    process_.waiting = lost_;
    for (const auto& [handle, context] : contexts_) process_.waiting += context.waiting;
    write_file(path_.string() + kProcessEnding, to_text(process_));
  } catch (const std::exception&) {
    // The program is not to be disturbed. Who attached it misses the file, or finds the one before.
  }
}

void Recorder::context_made(CUcontext handle, int device) {
  const std::scoped_lock lock(mutex_);
  const driver::RelaxedCapture relaxed;
  Context& context = contexts_[handle];
  context = {};
  context.device = device;
  try {
    process_.devices.try_emplace(device, driver::describe(device));
    context.cupti = metrics::open_context(handle, device);
    process_.devices[device].device.chip = context.cupti.chip;
  } catch (const std::exception& error) {
    context.countable = false;
    add_trouble(error.what());
  }
}

Recorder::Context* Recorder::context_of(CUcontext handle) {
  const auto found = contexts_.find(handle);
  if (found != contexts_.end()) return &found->second;
  add_trouble("kernels were launched in a context that warpgauge was not told of");
  return nullptr;
}

void Recorder::start(Context& context) {
  if (context.session || !context.countable) return;
  try {
    context.loads = loads_;
    context.session = std::make_unique<metrics::SassSession>(context.cupti);
  } catch (const std::exception& error) {
    context.countable = false;
    add_trouble(error.what());
  }
}

void Recorder::take(CUcontext handle, Context& context) {
  if (!context.session) return;
  const Clock::time_point begin = Clock::now();
  try {
    const driver::Current current(handle);
    driver::synchronise();
    metrics::SassRecords& all = process_.records[context.device];
    for (const auto& [instruction, values] : context.session->take()) {
      all[instruction] += values;
    }
    context.streams.clear();
    context.stream_lost = false;
    context.waiting = 0;
  } catch (const std::exception& error) {
    context.countable = false;
    add_trouble(std::string("what was launched last is not counted: ") + error.what());
  }
  save();
  last_ = Clock::now();
  cost_ = last_ - begin;
}

void Recorder::stop(CUcontext handle, Context& context) {
  if (!context.session) return;
  take(handle, context);
  try {
    if (context.countable) context.session->stop();
  } catch (const std::exception& error) {
    add_trouble(error.what());
  }
  if (!context.countable) context.session->leave();  // it has failed: nothing to wait for
  context.session.reset();
}

AttachedKernel& Recorder::kernel_of(const std::string& name, int device) {
  const auto [place, is_new] = kernels_.try_emplace({device, name}, process_.kernels.size());
  if (is_new)
    process_.kernels.push_back({.name = name, .device = device, .counted = {}, .resources = {}});
  return process_.kernels[place->second];
}

/// After launches: before one the question would load the code in its stead, and CUPTI (13.0) does
/// not count code that was loaded so.
void Recorder::ask_for_resources() {
  for (const auto& [launched, kernel] : unknown_) {
    const auto resources = driver::resources_of(launched.function, launched.shape);
    auto& known = process_.kernels[kernels_.at(kernel)].resources;
    if (resources && std::ranges::find(known, *resources) == known.end()) {
      known.push_back(*resources);
    }
  }
  unknown_.clear();
}

bool Recorder::has_its_sample(const AttachedKernel& kernel) const {
  std::uint64_t counted = 0;
  for (const metrics::Launch& shape : kernel.counted) counted += shape.count;
  return sample_ > 0 && counted >= sample_;
}

bool Recorder::is_wanted(const driver::LaunchedKernel& launched, int device) const {
  const auto known = kernels_.find({device, launched.name});
  return known == kernels_.end() || !has_its_sample(process_.kernels[known->second]);
}

bool Recorder::all_have_their_sample(int device) const {
  return std::ranges::all_of(process_.kernels, [&](const AttachedKernel& kernel) {
    return kernel.device != device || has_its_sample(kernel);
  });
}

/// Sees to it that what is launched next is counted. CUPTI (13.0) does not count code that was
/// loaded while it counted, unless the launch itself loads it.
void Recorder::start_anew(CUcontext handle, Context& context) {
  const bool stale = context.session && context.loads != loads_;
  if (captures_ == 0) {
    if (stale) stop(handle, context);
    start(context);
  } else if (stale || !context.session) {
    add_trouble("kernels were launched, of new code, while another stream was being captured");
  }
}

void Recorder::prepare(CUcontext handle, std::vector<driver::LaunchedKernel> kernels,
                       CUstream stream) {
  pending_ = std::move(kernels);
  pending_stream_ = stream;
  Context* const context = context_of(handle);
  if (finished_ || context == nullptr) return;
  const auto wanted = [&](const auto& one) { return is_wanted(one, context->device); };
  if (std::ranges::any_of(pending_, wanted)) start_anew(handle, *context);
}

void Recorder::record(Context& context) {
  for (const driver::LaunchedKernel& one : pending_) {
    AttachedKernel& kernel = kernel_of(one.name, context.device);
    ++kernel.launches;
    if (context.session) metrics::add(kernel.counted, one.shape);
    // A handle can come again for other code once its own is unloaded.
    KernelOnDevice& known = functions_[one.function];
    if (KernelOnDevice of(context.device, one.name); known != of) {
      unknown_.emplace_back(one, of);
      known = std::move(of);
    }
  }
  if (finished_) {
    add_trouble("kernels were launched after the end of main(), which was too late to count them");
  }
  if (!context.session) return;
  context.waiting += pending_.size();
  context.streams.insert(pending_stream_);
}

bool Recorder::launch(CUcontext handle, const driver::LaunchedKernel& kernel, CUstream stream) {
  mutex_.lock();  // until launched()
  const driver::RelaxedCapture relaxed;
  if (driver::is_capturing(stream)) return false;  // a node of a graph to come
  prepare(handle, {kernel}, stream);
  return true;
}

void Recorder::launched(CUcontext handle, bool succeeded) {
  const std::scoped_lock lock(std::adopt_lock, mutex_);
  const driver::RelaxedCapture relaxed;
  const auto found = contexts_.find(handle);
  if (succeeded) {
    launches_.add(pending_.size());
    if (found != contexts_.end()) record(found->second);
  }
  pending_.clear();
  ask_for_resources();
  if (sample_ == 0 || captures_ > 0 || found == contexts_.end()) return;
  if (all_have_their_sample(found->second.device)) stop(handle, found->second);
}

void Recorder::make_graph(CUcontext handle) {
  const std::scoped_lock lock(mutex_);
  const driver::RelaxedCapture relaxed;
  if (finished_) return;
  if (Context* const context = context_of(handle)) start_anew(handle, *context);
}

void Recorder::graph_made(CUgraphExec exec, CUgraph graph) {
  const std::scoped_lock lock(mutex_);
  driver::GraphKernels kernels = driver::kernels_of(graph);
  if (!kernels.all) {
    add_trouble("a graph has nodes whose kernels are not known before they are launched");
  }
  graphs_[exec] = std::move(kernels.known);
}

void Recorder::graph_ends(CUgraphExec exec) {
  const std::scoped_lock lock(mutex_);
  graphs_.erase(exec);
}

bool Recorder::graph_launch(CUcontext context, CUgraphExec exec, CUstream stream) {
  mutex_.lock();  // until launched()
  const driver::RelaxedCapture relaxed;
  if (driver::is_capturing(stream)) return false;
  const auto found = graphs_.find(exec);
  if (found == graphs_.end()) {
    add_trouble("a graph was launched that was made before warpgauge was there");
    return true;
  }
  prepare(context, found->second, stream);
  return true;
}

void Recorder::capture_begins() {
  const std::scoped_lock lock(mutex_);
  ++captures_;
}

void Recorder::capture_ends() {
  const std::scoped_lock lock(mutex_);
  captures_ = std::max(0, captures_ - 1);
}

void Recorder::stream_ends(CUstream stream) {
  const std::scoped_lock lock(mutex_);
  for (auto& [handle, context] : contexts_) {
    if (context.streams.erase(stream) > 0) context.stream_lost = true;
  }
}

bool Recorder::is_idle(const Context& context) const {
  return !context.stream_lost && std::ranges::all_of(context.streams, driver::is_done);
}

void Recorder::waited(CUcontext context, bool idle) {
  constexpr int kShare = 20;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const auto found = contexts_.find(context);
  if (found == contexts_.end() || !found->second.session || captures_ > 0) return;
  if (found->second.streams.empty() && !found->second.stream_lost) return;  // nothing new
  if (Clock::now() - last_ < (kShare - 1) * cost_) return;
  const driver::RelaxedCapture relaxed;
  if (idle || is_idle(found->second)) take(context, found->second);
}

void Recorder::before_unloading() {
  const std::scoped_lock lock(mutex_);
  const driver::RelaxedCapture relaxed;
  for (auto& [handle, context] : contexts_) {
    if (captures_ == 0) {
      take(handle, context);
    } else if (context.waiting > 0) {
      add_trouble("code was unloaded while a stream was being captured");
    }
  }
}

void Recorder::may_end(std::optional<CUcontext> handle) {
  const std::scoped_lock lock(mutex_);
  const driver::RelaxedCapture relaxed;
  for (auto& [one, context] : contexts_) {
    if (handle && *handle != one) continue;
    take(one, context);
    start(context);
  }
}

void Recorder::ends(CUcontext handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = contexts_.find(handle);
  if (found == contexts_.end()) return;
  if (found->second.session) found->second.session->leave();
  const bool failed_before = !found->second.countable;
  const std::uint64_t waiting = found->second.waiting;
  contexts_.erase(found);
  lost_ += waiting;
  if (waiting > 0 && !failed_before) {
    add_trouble("a context ended before its counts could be taken");
  }
}

bool Recorder::finish(std::chrono::seconds patience) {
  const std::unique_lock lock(mutex_, patience);
  if (!lock) return false;
  const driver::RelaxedCapture relaxed;
  for (auto& [handle, context] : contexts_) stop(handle, context);
  finished_ = true;
  save();
  return true;
}

}  // namespace warpgauge
