// Counts what a program that knows nothing of it launches. Lives in the injected library.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/attach/attached_process.h"
#include "harness/attach/driver.h"
#include "harness/attach/launch_count.h"
#include "metrics/cupti_context.h"
#include "metrics/cupti_sass_session.h"

namespace warpgauge {

/// The counts of one process. CUPTI keeps them on the GPU for as long as kernels run; they are
/// taken from there when the program itself has waited for the GPU, before a context or code goes
/// away, and at the end, so that the program's launches overlap as they do without it. What was
/// taken is in the file at once, and how many kernels were launched in another one, so that what a
/// process that ends without a word has not counted is known. All functions may be called by any
/// thread.
class Recorder {
 public:
  /// `sample`: how many launches of each kernel are counted; 0: all. Throws std::system_error for a
  /// folder that cannot be written.
  Recorder(std::filesystem::path folder, std::uint64_t sample);

  /// A context was made on a device.
  void context_made(CUcontext context, int device);
  /// Before a launch. Other threads have to wait until launched() is called for it: counts are
  /// taken of an idle context, in which nobody may launch between the waiting and the taking. False
  /// for one that is captured, which is none.
  bool launch(CUcontext context, const driver::LaunchedKernel& kernel, CUstream stream);
  /// As launch(), of all its kernels.
  bool graph_launch(CUcontext context, CUgraphExec exec, CUstream stream);
  /// After either: counts no more until a kernel is launched that has not had its sample.
  void launched(CUcontext context, bool succeeded);
  /// Code was loaded, and not by a launch. Takes no lock: the driver may hold its own.
  void code_loaded() { ++loads_; }
  /// Before a graph is made ready: its kernels are counted if counting goes on while that is done.
  void make_graph(CUcontext context);
  /// A graph was made ready: what launches it will make.
  void graph_made(CUgraphExec exec, CUgraph graph);
  void graph_ends(CUgraphExec exec);
  void capture_begins();
  void capture_ends();
  void stream_ends(CUstream stream);

  /// After the program has waited, if no thread launches meanwhile: takes the counts if that costs
  /// no further waiting and, over time, no more than a twentieth of the time. `idle`: it has waited
  /// for the whole context.
  void waited(CUcontext context, bool idle);
  /// Takes the counts of all contexts: code of theirs is about to be unloaded.
  void before_unloading();
  /// Before a call that may end a context, or, without one, any: takes the counts, and sees to it
  /// that counting is switched on, which CUPTI wants where a context ends.
  void may_end(std::optional<CUcontext> context);
  /// A context ends now.
  void ends(CUcontext context);
  /// Takes all counts there are, waiting for what runs, and counts no more. False if another thread
  /// holds the recorder for longer than `patience`.
  bool finish(std::chrono::seconds patience);

  /// Says in the result that something is missing.
  void trouble(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;

  /// A context of the program, from when it was made to its end.
  struct Context {
    int device = 0;
    metrics::CuptiContext cupti;
    std::unique_ptr<metrics::SassSession> session;  ///< while launches are counted
    std::set<CUstream> streams;                     ///< with launches that were not taken yet
    bool stream_lost = false;                       ///< one of them is gone
    std::uint64_t waiting = 0;                      ///< launches whose counts were not taken yet
    bool countable = true;
    std::uint64_t loads = 0;  ///< loads_ when counting began
  };
  using KernelOnDevice = std::pair<int, std::string>;

  Context* context_of(CUcontext handle);  ///< nullptr, and a trouble, where it is not known
  void start(Context& context);
  void start_anew(CUcontext handle, Context& context);
  void take(CUcontext handle, Context& context);
  void stop(CUcontext handle, Context& context);
  bool has_its_sample(const AttachedKernel& kernel) const;
  bool is_wanted(const driver::LaunchedKernel& launched, int device) const;
  AttachedKernel& kernel_of(const std::string& name, int device);
  void ask_for_resources();
  bool all_have_their_sample(int device) const;
  void prepare(CUcontext handle, std::vector<driver::LaunchedKernel> kernels, CUstream stream);
  void record(Context& context);
  bool is_idle(const Context& context) const;
  void add_trouble(const std::string& what);
  void save();

  const std::filesystem::path path_;
  const std::uint64_t sample_;
  std::recursive_timed_mutex mutex_;
  AttachedProcess process_;
  LaunchCount launches_;
  std::map<CUcontext, Context> contexts_;
  std::map<KernelOnDevice, std::size_t> kernels_;   // where in process_
  std::map<CUfunction, KernelOnDevice> functions_;  // whose resources are known
  std::vector<std::pair<driver::LaunchedKernel, KernelOnDevice>> unknown_;  // whose are not
  std::map<CUgraphExec, std::vector<driver::LaunchedKernel>> graphs_;
  std::vector<driver::LaunchedKernel> pending_;  ///< between launch() and launched()
  CUstream pending_stream_ = nullptr;
  std::uint64_t lost_ = 0;  ///< launches whose counts went with their context
  std::atomic<std::uint64_t> loads_ = 0;
  int captures_ = 0;
  bool finished_ = false;
  Clock::time_point last_;
  Clock::duration cost_{};  ///< of the last taking
};

}  // namespace warpgauge
