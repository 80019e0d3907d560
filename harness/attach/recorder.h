// Counts the launches of a program that was not built for it. Part of the injected library.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/attach/captures.h"
#include "harness/attach/code_loads.h"
#include "harness/attach/driver.h"
#include "harness/attach/launch_ledger.h"
#include "harness/attach/shared_functions.h"
#include "metrics/cupti/cupti_context.h"
#include "metrics/cupti/cupti_sass_session.h"

namespace warpgauge::attach {

/// Counts the launches of one process. CUPTI keeps the counts on the GPU for as long as kernels
/// run; they are taken from there when the program itself has waited for the GPU, before a context
/// or code goes away, and at the end, so that the program's launches overlap as they do without it.
///
/// All functions may be called by any thread. Each context has a lock of its own, which is held
/// during launches in it and while the GPU is waited for: other contexts go on meanwhile, because
/// kernels of theirs may be what is waited for. What the driver calls back while it may hold locks
/// of its own (contexts and code that come and go) waits for no lock for long.
class Recorder {
  struct Context;

 public:
  /// A launch that is being made. No other thread launches in its context meanwhile: counts are
  /// taken of an idle one.
  struct Launching {
    std::shared_ptr<Context> context;  ///< nullptr where it is not known
    std::unique_lock<std::timed_mutex> lock;
    std::shared_ptr<const Kernels> kernels;
  };

  /// Throws std::system_error for a folder that cannot be written.
  Recorder(const std::filesystem::path& folder, programs::LaunchFilter choice);

  /// A context was made on a device.
  void context_made(CUcontext context, int device);
  /// Call it before a launch; nullopt for a launch that is captured, which launches nothing.
  std::optional<Launching> launch(CUcontext context, driver::LaunchedKernel kernel,
                                  CUstream stream);
  /// The same for all kernels of a graph.
  std::optional<Launching> graph_launch(CUcontext context, CUgraphExec exec, CUstream stream);
  /// Call it after either: counts no more until a kernel is launched that has not had its sample.
  void launched(Launching launch, bool succeeded);
  /// Code was loaded by this thread, and not by a launch. May be called while the driver holds
  /// locks of its own.
  void code_loaded(CUcontext context) { loads_.add(context); }
  /// Keeps the image of code that was loaded, by any thread.
  void code_seen(std::span<const std::byte> image) { shared_.loaded(image); }
  /// Call it before a graph is made ready: its kernels are counted if counting goes on meanwhile.
  void make_graph(CUcontext context, CUgraph graph);
  /// A conditional node was made, which runs these graphs.
  void condition_made(CUgraphNode node, std::vector<CUgraph> bodies);
  /// A graph was made ready, whose launches are known from now on.
  void graph_made(CUgraphExec exec, CUgraph graph);
  void graph_ends(CUgraphExec exec) { ledger_.graph_ends(exec); }
  /// Call these before and after a node of such a graph gets another kernel; nullopt: it is not
  /// known which.
  void change_node(CUcontext context, const std::optional<driver::LaunchedKernel>& kernel);
  void node_changed(CUgraphExec exec, const std::optional<driver::LaunchedKernel>& kernel);
  /// A node of such a graph is launched with it from now on, or not.
  void node_enabled(CUgraphExec exec, CUgraphNode node, bool enabled);
  /// Call it before a capture begins.
  void capture_begins(CUcontext context, CUstream stream);
  /// Call it after a capture could not begin, or may have ended.
  void capture_ends(CUstream stream);

  /// Call it after the program has waited. If no thread launches meanwhile, takes the counts if the
  /// context is idle and that costs, over time, no more than a twentieth of the time.
  void waited(CUcontext context);
  /// Takes the counts of a context, or, without one, of all: code of theirs is about to be
  /// unloaded.
  void before_unloading(std::optional<CUcontext> context);
  /// Call these before a call that ends a context, or may end one of a device: takes the counts,
  /// and sees to it that counting is switched on, which CUPTI wants where a context ends.
  void may_end(CUcontext context);
  void device_may_end(int device);
  /// A context ends now.
  void ends(CUcontext context);
  /// Takes all counts there are, waiting for what runs, and counts no more. False if another thread
  /// has launched in a context for longer than `patience`.
  bool finish(std::chrono::seconds patience);

  /// Says in the result that something is missing.
  void warn(const std::string& what) { ledger_.warn(what); }

 private:
  using Clock = std::chrono::steady_clock;

  std::shared_ptr<Context> find(CUcontext handle);  ///< nullptr where it is not known
  std::vector<std::shared_ptr<Context>> all_contexts();
  Launching prepare(CUcontext handle, std::shared_ptr<const Kernels> kernels);
  void make_ready(CUcontext handle, const Kernels& kernels);

  // Hold the context's lock for these. They do nothing for a context that has ended.
  void open(Context& context);
  void start(Context& context);
  void start_anew(Context& context);
  void pause(Context& context);
  /// Takes the counts and starts anew with the next launch if one of the kernels shares functions
  /// with one that was launched since the last start.
  void part_from_others(Context& context, const Kernels& kernels);
  /// Do kernels of one launch share functions? Then they cannot be counted.
  bool share_functions(const Kernels& kernels) const;
  driver::GraphKernels kernels_of(CUgraph graph) const;
  bool take(Context& context, Clock::duration patience);  ///< false: it is not idle by then
  bool take(Context& context);                            ///< waits long; warns if it gives up
  void take_before(Context& context, const char* what);
  void stop(Context& context);
  bool is_taken_once(Context& context);

  LaunchLedger ledger_;
  CodeLoads loads_;
  Captures captures_;
  SharedFunctions shared_;
  std::atomic<bool> finished_ = false;
  std::mutex counting_;       ///< held while CUPTI's counting is switched or read
  mutable std::mutex mutex_;  ///< guards what follows
  std::map<CUcontext, std::shared_ptr<Context>> contexts_;
  driver::ConditionalBodies bodies_;
};

}  // namespace warpgauge::attach
