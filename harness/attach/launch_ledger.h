// The launch ledger of an attached process: its launches, counts and warnings, and its file.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/attach/attached_process.h"
#include "harness/attach/driver.h"
#include "harness/attach/launch_count.h"
#include "harness/attach/shared_functions.h"
#include "harness/programs/launch_filter.h"

namespace warpgauge::attach {

using Kernels = std::vector<driver::LaunchedKernel>;

/// Launches, counts and warnings of this process. What was taken is in the file at once, and how
/// many kernels were launched in another one, so that what a process that ends without a word has
/// not counted is known. All functions may be called by any thread; none calls the driver.
class LaunchLedger {
 public:
  /// Throws std::system_error for a folder that cannot be written.
  LaunchLedger(const std::filesystem::path& folder, programs::LaunchFilter choice);

  /// Something is missing.
  void warn(const std::string& what);
  /// The chip is empty where nothing can be counted.
  void device(int ordinal, const AttachedDevice& device);

  /// Kernels are about to be launched: counted first, so that the launch is on record even if the
  /// process ends during it.
  void launching(const Kernels& kernels);
  /// They were not.
  void refused(const Kernels& kernels);
  /// They were. Returns those of which the resources are not known, in blocks of that shape. How
  /// often conditional ones are, the counts say, which taken() gets.
  Kernels launched(CUcontext context, int device, const Kernels& kernels, bool counted);
  void resources(const std::string& kernel, int device, const KernelResources& resources);
  bool skips_any() const { return !choice_.skip.empty(); }
  /// Counting must be off while they are launched: all of them are to be skipped. A graph that has
  /// others too is counted, and what was counted of those to be skipped is left out.
  bool are_skipped(const Kernels& kernels);
  bool are_wanted(const Kernels& kernels, int device) const;
  /// True where no more has to be counted: all have their sample, or the limit is reached.
  bool all_are_enough(int device);

  /// Takes all that a context had counted. `shared` says which kernels call functions.
  void taken(CUcontext context, int device, const metrics::SassRecords& records,
             const SharedFunctions& shared);
  /// Launches whose counts were not taken yet.
  std::uint64_t waiting(CUcontext context) const;
  /// Forgets a context that is gone, and returns waiting().
  std::uint64_t ended(CUcontext context);

  void graph_made(CUgraphExec exec, Kernels kernels);
  void graph_ends(CUgraphExec exec);
  // A node of a graph has another kernel now, or is launched or not: false if there is no such
  // node.
  bool node_changed(CUgraphExec exec, const driver::LaunchedKernel& kernel);
  bool node_enabled(CUgraphExec exec, CUgraphNode node, bool enabled);
  /// The kernels of a launch of the graph; nullptr where they are not known.
  std::shared_ptr<const Kernels> graph(CUgraphExec exec) const;

  void save();

 private:
  std::size_t place_of(const std::string& name, int device);
  bool is_skipped(const std::string& kernel);
  bool is_enough(const AttachedKernel& kernel) const;
  driver::LaunchedKernel* node_of(CUgraphExec exec, CUgraphNode node);
  bool note(const std::string& warning);  ///< false if it is noted already
  void write();

  const std::filesystem::path path_;
  const programs::LaunchFilter choice_;
  mutable std::mutex mutex_;  ///< guards what follows
  AttachedProcess process_;
  LaunchCount launches_;
  struct Function {
    std::size_t place = 0;
    /// Threads, dynamic shared bytes, blocks of a cluster.
    std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> blocks;
  };
  // Where in process_ a kernel is, by device and name, and by device and handle.
  std::map<std::pair<int, std::string>, std::size_t> kernels_;
  std::map<std::pair<int, CUfunction>, Function> functions_;
  std::map<std::string, bool> skipped_;  ///< by name: those that were launched
  struct Waiting {
    std::uint64_t launches = 0;
    std::set<std::string> kernels;               ///< the kernels that they launched
    std::map<std::string, std::uint64_t> warps;  ///< the warps of launches that are not conditional
    std::map<std::string, std::vector<metrics::Launch>> conditional;  ///< each shape once
  };
  void note_conditional(const Waiting& waiting, int device, const metrics::SassRecords& records);
  std::map<CUcontext, Waiting> waiting_;  ///< for their counts to be taken
  std::uint64_t counted_ = 0;             ///< launches of all kernels
  std::map<CUgraphExec, Kernels> graphs_;
};

}  // namespace warpgauge::attach
