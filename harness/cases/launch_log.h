// Records the kernel and the shape of every launch of the program. A dry run records launches
// without making them, so that launch shapes are known on machines without a GPU.
#pragma once

#include <string>
#include <vector>

#include "metrics/facts/fact.h"

namespace warpgauge {

/// Launches of one kernel with one shape (`launch.count` of them).
struct LaunchRecord {
  std::string kernel;  ///< mangled name
  metrics::Launch launch;
};

/// Records launches from its construction on; one at a time. The calls of the CUDA runtime that
/// launch are wrapped by the linker (see harness/CMakeLists.txt).
class LaunchLog {
 public:
  enum class Mode {
    record,  ///< launch as usual
    dry      ///< launch nothing: new buffers have no memory, other calls have no effect
  };
  explicit LaunchLog(Mode mode);
  ~LaunchLog();
  LaunchLog(const LaunchLog&) = delete;
  LaunchLog& operator=(const LaunchLog&) = delete;

  /// The launches so far, in order of first launch; equal launches are counted together.
  const std::vector<LaunchRecord>& launches() const { return launches_; }
  /// True if memory was also copied or set by calls of the runtime (cudaMemcpyAsync and the like).
  bool has_copies() const { return has_copies_; }

 private:
  friend struct LaunchHook;
  Mode mode_;
  std::vector<LaunchRecord> launches_;
  bool has_copies_ = false;
};

/// Throws metrics::CudaError for the first launch that failed since the last call, with the name of
/// its kernel. The caller may have cleared CUDA's own record of the error.
void refuse_failed_launches();
/// Forgets launches that failed before.
void forget_failed_launches();

/// True while a dry LaunchLog is alive.
bool is_dry_run();

}  // namespace warpgauge
