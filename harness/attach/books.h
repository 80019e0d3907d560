// What is known of a process that is attached, and its file.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/attach/attached_process.h"
#include "harness/attach/driver.h"
#include "harness/attach/launch_count.h"

namespace warpgauge {

using Kernels = std::vector<driver::LaunchedKernel>;

/// Launches, counts and troubles of this process. What was taken is in the file at once, and how
/// many kernels were launched in another one, so that what a process that ends without a word has
/// not counted is known. All functions may be called by any thread; none calls the driver.
class Books {
 public:
  /// `sample`: how many launches of each kernel are wanted; 0: all. Throws std::system_error for a
  /// folder that cannot be written.
  Books(std::filesystem::path folder, std::uint64_t sample);

  /// Something is missing.
  void trouble(const std::string& what);
  /// The chip is empty where nothing can be counted.
  void device(int ordinal, const AttachedDevice& device);

  /// Kernels are about to be launched: counted before, so that a process that ends meanwhile has
  /// told.
  void launching(const Kernels& kernels);
  /// They were not.
  void refused(const Kernels& kernels);
  /// They were. Returns those of which the resources are not known.
  Kernels launched(CUcontext context, int device, const Kernels& kernels, bool counted);
  void resources(const std::string& kernel, int device, const KernelResources& resources);
  bool are_wanted(const Kernels& kernels, int device) const;
  /// False where no sample was asked for.
  bool all_have_their_sample(int device) const;

  /// All that a context had counted.
  void taken(CUcontext context, int device, const metrics::SassRecords& records);
  /// Launches whose counts were not taken yet.
  std::uint64_t waiting(CUcontext context) const;
  /// It is gone; returns waiting().
  std::uint64_t ended(CUcontext context);

  void graph_made(CUgraphExec exec, Kernels kernels);
  void graph_ends(CUgraphExec exec);
  /// nullptr where it is not known.
  std::shared_ptr<const Kernels> graph(CUgraphExec exec) const;

  void save();

 private:
  std::size_t place_of(const std::string& name, int device);
  bool has_its_sample(const AttachedKernel& kernel) const;
  void write();

  const std::filesystem::path path_;
  const std::uint64_t sample_;
  mutable std::mutex mutex_;  ///< of what follows
  AttachedProcess process_;
  LaunchCount launches_;
  // Where in process_ a kernel is, by device and name, and by device and handle.
  std::map<std::pair<int, std::string>, std::size_t> kernels_;
  std::map<std::pair<int, CUfunction>, std::size_t> functions_;
  std::map<CUcontext, std::uint64_t> waiting_;
  std::map<CUgraphExec, std::shared_ptr<const Kernels>> graphs_;
};

}  // namespace warpgauge
