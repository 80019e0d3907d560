// Hears of the launches of the program, and has CUPTI count them.
#include "harness/attach/recorder.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <set>
#include <string>

#include "harness/attach/taking_pace.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::attach {
namespace {

/// How long the GPU is waited for. Kernels that wait for what the program would do next delay it
/// so, and do not stop it.
constexpr std::chrono::seconds kLongest(60);
/// Long enough to see whether a context is idle already.
constexpr std::chrono::microseconds kAtOnce(200);
/// How long the end of a context waits for its users, whose use is an error of the program.
constexpr std::chrono::seconds kForTheEnd(1);
/// Instructions. CUPTI (13.0) counts NCCL's ten million once: after they were taken it does not
/// list them again, and does not end counting either.
constexpr std::size_t kTakenOnce = 1'000'000;

}  // namespace

/// A context of the program, from when it was made to its end.
struct Recorder::Context {
  Context(CUcontext its_handle, int its_device) : handle(its_handle), device(its_device) {}
  ~Context() {
    if (session) session->leave();
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const CUcontext handle;
  const int device;
  std::atomic<bool> ended = false;
  std::timed_mutex mutex;  ///< guards what follows
  bool opened = false, countable = true;
  metrics::CuptiContext cupti;
  std::unique_ptr<metrics::SassSession> session;  ///< while launches are counted
  std::uint64_t thread = 0;                       ///< the thread that switched counting on
  std::uint64_t loads = 0;                        ///< loads of code by other threads, up to then
  bool is_taken_once = false;                     ///< has so much code
  bool stays_on = false;                          ///< CUPTI does not end counting
  std::set<std::string> patched;                  ///< kernels that were launched since it began
  TakingPace pace;
};

Recorder::Recorder(const std::filesystem::path& folder, programs::LaunchFilter choice)
    : ledger_(folder, std::move(choice)) {}

void Recorder::context_made(CUcontext handle, int device) {
  const std::scoped_lock lock(mutex_);
  contexts_[handle] = std::make_shared<Context>(handle, device);
}

std::shared_ptr<Recorder::Context> Recorder::find(CUcontext handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = contexts_.find(handle);
  return found == contexts_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Recorder::Context>> Recorder::all_contexts() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Context>> all;
  for (const auto& [handle, context] : contexts_) all.push_back(context);
  return all;
}

void Recorder::open(Context& context) {
  if (context.opened || context.ended) return;
  context.opened = true;
  try {
    AttachedDevice device = driver::describe(context.device);
    ledger_.device(context.device, device);
    const std::scoped_lock lock(counting_);
    context.cupti = metrics::open_context(context.handle, context.device);
    device.device.chip = context.cupti.chip;
    ledger_.device(context.device, device);
  } catch (const std::exception& error) {
    context.countable = false;
    warn(error.what());
  }
}

void Recorder::start(Context& context) {
  if (context.session || context.ended || !context.opened || !context.countable) return;
  try {
    const std::scoped_lock lock(counting_);
    context.thread = thread_number();
    context.loads = loads_.by_others(context.handle, context.thread);
    context.session = std::make_unique<metrics::SassSession>(context.cupti);
    context.patched.clear();
  } catch (const std::exception& error) {
    context.countable = false;
    warn(error.what());
  }
}

bool Recorder::take(Context& context, Clock::duration patience) {
  if (!context.session || context.ended) return true;
  const Clock::time_point begin = Clock::now();
  bool idle = true;
  try {
    const driver::Current current(context.handle);
    idle = driver::wait_until_idle(context.handle, patience);
    if (idle) {
      std::unique_lock lock(counting_);
      const metrics::SassRecords records = context.session->take();
      lock.unlock();
      ledger_.taken(context.handle, context.device, records, shared_);
    }
  } catch (const std::exception& error) {
    context.countable = false;
    warn(std::string("the last launches are not counted: ") + error.what());
  }
  context.pace.taken(begin, Clock::now());
  return idle;
}

bool Recorder::take(Context& context) {
  if (take(context, kLongest)) return true;
  warn("a kernel still ran after " + std::to_string(kLongest.count()) +
       " s of waiting: its counts, and those of code loaded since, could not be taken then");
  return false;
}

void Recorder::take_before(Context& context, const char* what) {
  if (ledger_.waiting(context.handle) == 0) return;
  if (captures_.any()) {
    warn(std::string(what) + " while a stream was being captured");
  } else {
    take(context);
  }
}

void Recorder::stop(Context& context) {
  if (!context.session || context.ended || !take(context) || context.stays_on) return;
  try {
    const std::scoped_lock lock(counting_);
    if (context.countable) context.session->stop();
  } catch (const std::exception& error) {
    context.stays_on = context.session->is_counting();
    // Nothing is missing yet. Code that other threads load from here on is, which shows where its
    // first instruction was not executed by all warps.
    if (context.stays_on) return;
    warn(error.what());
  }
  if (!context.countable) context.session->leave();  // it has failed: nothing to wait for
  context.session.reset();
}

bool Recorder::is_taken_once(Context& context) {
  if (!context.session || context.ended || context.is_taken_once) return context.is_taken_once;
  try {
    const std::scoped_lock lock(counting_);
    context.is_taken_once = context.session->size() > kTakenOnce;
  } catch (const std::exception&) {  // take() warns of it
  }
  return context.is_taken_once;
}

/// Sees to it that what is launched next is counted. CUPTI (13.0) does not count code that another
/// thread has loaded while it counted, unless a launch itself loaded it.
void Recorder::start_anew(Context& context) {
  const auto loads = [&] { return loads_.by_others(context.handle, context.thread); };
  const bool stale = context.session && context.loads != loads();
  if (context.session && !stale) return;
  if (captures_.any()) {
    warn("new code was launched, or made into a graph, while a stream was captured");
    return;
  }
  if (stale && !context.stays_on && !is_taken_once(context)) stop(context);
  if (context.session) context.loads = loads();  // it goes on: not tried at each launch
  start(context);
}

/// Sees to it that what is launched next is not counted, and its code not patched.
void Recorder::pause(Context& context) {
  if (!context.session || context.stays_on || is_taken_once(context)) return;
  if (captures_.any()) {
    warn("kernels that --skip names were counted, because a stream was being captured");
  } else {
    stop(context);
  }
}

bool Recorder::share_functions(const Kernels& kernels) const {
  std::set<std::string> before;
  return std::ranges::any_of(kernels, [&](const driver::LaunchedKernel& launched) {
    const bool meets = shared_.meets(launched.name, before);
    before.insert(launched.name);
    return meets;
  });
}

void Recorder::part_from_others(Context& context, const Kernels& kernels) {
  if (!context.session || context.stays_on || is_taken_once(context)) return;
  const bool meets = std::ranges::any_of(kernels, [&](const driver::LaunchedKernel& launched) {
    return shared_.meets(launched.name, context.patched);
  });
  if (!meets) return;
  if (captures_.any()) {
    warn("kernels that share functions were launched while a stream was captured, and not apart");
  } else {
    stop(context);
  }
}

Recorder::Launching Recorder::prepare(CUcontext handle, std::shared_ptr<const Kernels> kernels) {
  Launching launching{find(handle), {}, std::move(kernels)};
  ledger_.launching(*launching.kernels);
  if (!launching.context) {
    warn("kernels were launched in a context that warpgauge has not seen created");
    return launching;
  }
  Context& context = *launching.context;
  launching.lock = std::unique_lock(context.mutex);
  open(context);
  if (finished_) return launching;
  part_from_others(context, *launching.kernels);
  if (ledger_.are_skipped(*launching.kernels)) {
    pause(context);
  } else if (share_functions(*launching.kernels)) {
    warn("a graph launches kernels that share functions, which CUPTI cannot count together");
    pause(context);
  } else if (ledger_.are_wanted(*launching.kernels, context.device)) {
    start_anew(context);
  }
  return launching;
}

std::optional<Recorder::Launching> Recorder::launch(CUcontext handle, driver::LaunchedKernel kernel,
                                                    CUstream stream) {
  const driver::RelaxedCapture relaxed;
  if (driver::is_capturing(stream)) return std::nullopt;  // a node of a graph to come
  const auto kernels = std::make_shared<Kernels>();
  kernels->push_back(std::move(kernel));
  return prepare(handle, kernels);
}

std::optional<Recorder::Launching> Recorder::graph_launch(CUcontext handle, CUgraphExec exec,
                                                          CUstream stream) {
  const driver::RelaxedCapture relaxed;
  if (driver::is_capturing(stream)) return std::nullopt;
  std::shared_ptr<const Kernels> kernels = ledger_.graph(exec);
  if (!kernels) {
    warn("a graph was launched that was made before warpgauge was loaded");
    kernels = std::make_shared<const Kernels>();
  }
  return prepare(handle, std::move(kernels));
}

void Recorder::launched(Launching launching, bool succeeded) {
  const driver::RelaxedCapture relaxed;
  if (!succeeded) ledger_.refused(*launching.kernels);
  if (!succeeded || !launching.context) return;
  Context& context = *launching.context;
  if (context.session) {
    for (const driver::LaunchedKernel& launched : *launching.kernels)
      context.patched.insert(launched.name);
  }
  const Kernels unknown = ledger_.launched(context.handle, context.device, *launching.kernels,
                                           context.session != nullptr);
  if (finished_) {
    warn("kernels were launched after the end of main(), which was too late to count them");
  }
  // The driver is not asked before the launch: the question would load the code in its stead, and
  // CUPTI (13.0) does not count code that was loaded so.
  for (const driver::LaunchedKernel& kernel : unknown) {
    const auto resources = driver::resources_of(kernel.function, kernel.shape);
    if (resources) ledger_.resources(kernel.name, context.device, *resources);
  }
  if (!ledger_.all_are_enough(context.device)) return;
  if (!context.stays_on && !captures_.any() && !is_taken_once(context)) stop(context);
}

/// Code that is made ready for launches of graphs is counted if counting goes on meanwhile.
void Recorder::make_ready(CUcontext handle, const Kernels& kernels) {
  const std::shared_ptr<Context> context = find(handle);
  if (!context || finished_) return;
  const bool skipped = ledger_.are_skipped(kernels);
  const std::scoped_lock lock(context->mutex);
  open(*context);
  skipped || share_functions(kernels) ? pause(*context) : start_anew(*context);
}

void Recorder::condition_made(CUgraphNode node, std::vector<CUgraph> bodies) {
  const std::scoped_lock lock(mutex_);
  bodies_[node] = std::move(bodies);
}

driver::GraphKernels Recorder::kernels_of(CUgraph graph) const {
  driver::ConditionalBodies bodies;
  {
    const std::scoped_lock lock(mutex_);
    bodies = bodies_;
  }
  return driver::kernels_of(graph, bodies);
}

void Recorder::make_graph(CUcontext handle, CUgraph graph) {
  const driver::RelaxedCapture relaxed;
  make_ready(handle, kernels_of(graph).known);
}

void Recorder::change_node(CUcontext handle, const std::optional<driver::LaunchedKernel>& kernel) {
  const driver::RelaxedCapture relaxed;
  make_ready(handle, kernel ? Kernels{*kernel} : Kernels());
}

void Recorder::node_changed(CUgraphExec exec, const std::optional<driver::LaunchedKernel>& kernel) {
  if (!kernel || !ledger_.node_changed(exec, *kernel)) {
    warn(
        "the program changes kernels in a graph that is ready to be launched: what is launched in "
        "their place is not known by name");
  }
}

void Recorder::node_enabled(CUgraphExec exec, CUgraphNode node, bool enabled) {
  // Copies and fills are known to no one.
  ledger_.node_enabled(exec, node, enabled);
}

void Recorder::graph_made(CUgraphExec exec, CUgraph graph) {
  const driver::RelaxedCapture relaxed;
  driver::GraphKernels kernels = kernels_of(graph);
  if (!kernels.all) {
    warn("a graph has nodes whose kernels are not known before they are launched");
  }
  if (kernels.contexts.size() > 1) {
    warn("a graph has kernels of several contexts, and is counted in the one that launches it");
  }
  ledger_.graph_made(exec, std::move(kernels.known));
}

void Recorder::capture_begins(CUcontext handle, CUstream stream) {
  captures_.begin(stream);
  // Wait for a thread that is taking counts: it began before this capture was on record.
  if (const std::shared_ptr<Context> context = find(handle)) {
    const std::scoped_lock lock(context->mutex);
  }
}

void Recorder::capture_ends(CUstream stream) {
  // A capture that could not be ended, as by another thread than its own, goes on.
  if (!driver::is_capturing(stream)) captures_.end(stream);
}

void Recorder::waited(CUcontext handle) {
  const std::shared_ptr<Context> context = find(handle);
  if (!context) return;
  const std::unique_lock lock(context->mutex, std::try_to_lock);
  if (!lock || !context->session || captures_.any()) return;
  if (!context->pace.allows(Clock::now())) return;
  if (ledger_.waiting(handle) == 0 || is_taken_once(*context)) return;
  const driver::RelaxedCapture relaxed;
  take(*context, kAtOnce);
}

void Recorder::before_unloading(std::optional<CUcontext> handle) {
  const driver::RelaxedCapture relaxed;
  for (const std::shared_ptr<Context>& context : all_contexts()) {
    if (handle && *handle != context->handle) continue;
    const std::scoped_lock lock(context->mutex);
    if (!is_taken_once(*context)) take_before(*context, "code was unloaded");
  }
}

void Recorder::may_end(CUcontext handle) {
  const driver::RelaxedCapture relaxed;
  const std::shared_ptr<Context> context = find(handle);
  if (!context) return;
  const std::scoped_lock lock(context->mutex);
  take_before(*context, "a context was released");
  start(*context);
}

void Recorder::device_may_end(int device) {
  for (const std::shared_ptr<Context>& context : all_contexts()) {
    if (context->device == device) may_end(context->handle);
  }
}

void Recorder::ends(CUcontext handle) {
  const std::shared_ptr<Context> context = find(handle);
  if (!context) return;
  context->ended = true;
  if (const std::unique_lock lock(context->mutex, kForTheEnd); lock && context->session) {
    context->session->leave();
    context->session.reset();
  }
  const std::uint64_t lost = ledger_.ended(handle);
  if (lost > 0) warn("a context ended before its counts could be taken");
  loads_.forget(handle);
  const std::scoped_lock all(mutex_);
  contexts_.erase(handle);
}

bool Recorder::finish(std::chrono::seconds patience) {
  const driver::RelaxedCapture relaxed;
  const Clock::time_point deadline = Clock::now() + patience;
  finished_ = true;
  bool all = true;
  for (const std::shared_ptr<Context>& context : all_contexts()) {
    const std::unique_lock lock(context->mutex, deadline);
    if (lock) stop(*context);
    all = all && lock;
  }
  ledger_.save();
  return all;
}

}  // namespace warpgauge::attach
