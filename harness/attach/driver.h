// The few questions that the injected library asks the CUDA driver of the program.
#pragma once

#include <cuda.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/attach/attached_process.h"

namespace warpgauge::attach::driver {

/// A call of the driver that failed: "cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS".
class DriverError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

AttachedDevice describe(int device);  ///< throws DriverError

/// Waits for all that the context, which is current, has to do up to now; false if that takes
/// longer than `patience`. Throws DriverError, also for what a kernel did wrong before.
bool wait_until_idle(CUcontext context, std::chrono::steady_clock::duration patience);

/// Makes a context the current one of this thread for a while. Throws DriverError.
class Current {
 public:
  explicit Current(CUcontext context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

/// Lets this thread make calls for a while that would end a capture of another one.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

bool is_capturing(CUstream stream);

/// The resources of a launch; nullopt if the driver does not return them.
std::optional<KernelResources> resources_of(CUfunction function, const metrics::Launch& shape);

/// The kernel of a launch or of a graph's node.
struct LaunchedKernel {
  CUfunction function;
  std::string name;  ///< mangled
  metrics::Launch shape;
  CUgraphNode node = nullptr;  ///< its node in a graph
  bool enabled = true;         ///< it is launched
  bool conditional = false;    ///< as often as a conditional node says
};
/// The kernel of a node with these parameters; nullopt if the driver does not name it.
std::optional<LaunchedKernel> kernel_of(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params);
/// The kernels of a graph and of the graphs in it, in no order.
struct GraphKernels {
  std::vector<LaunchedKernel> known;
  bool all = true;  ///< false if the driver does not list all nodes, or not those of a condition
  std::set<CUcontext> contexts;  ///< the contexts that nodes name
};
/// The graphs that conditional nodes run, which the driver names only where it makes the nodes.
using ConditionalBodies = std::map<CUgraphNode, std::vector<CUgraph>>;
GraphKernels kernels_of(CUgraph graph, const ConditionalBodies& bodies);

/// The shape in the parameters of any call that launches: their members have the same names in all.
/// Clusters that are compiled into the kernel are not in them.
template <typename Parameters>
metrics::Launch shape_of(const Parameters& p) {
  return {.grid = {p.gridDimX, p.gridDimY, p.gridDimZ},
          .block = {p.blockDimX, p.blockDimY, p.blockDimZ},
          .dynamic_shared_bytes = p.sharedMemBytes,
          .count = 1};
}
/// The same with the clusters that the call asks for.
metrics::Launch shape_of(const CUlaunchConfig& config);

}  // namespace warpgauge::attach::driver
