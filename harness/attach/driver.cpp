// Asks the CUDA driver of the program for devices, kernels and graphs.
#include "harness/attach/driver.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <thread>

#include "metrics/base/hash.h"

namespace warpgauge::attach::driver {
namespace {

void check(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (cuGetErrorName(code, &name) != CUDA_SUCCESS) name = "an unknown error";
  throw DriverError(std::string(call) + " failed: " + name);
}

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  check(cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

std::string driver_version() {
  std::ifstream stream("/sys/module/nvidia/version");
  std::string version;
  stream >> version;
  return version;
}

int threads_of(const metrics::Launch& shape) {
  return static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
}

std::array<std::uint32_t, 3> cluster_of(const CUlaunchAttributeValue& value) {
  const auto& [x, y, z] = value.clusterDim;
  return {x, y, z};
}

/// The shape of a cluster that the code is made for.
std::array<std::uint32_t, 3> compiled_cluster(CUfunction function) {
  std::array<std::uint32_t, 3> cluster{};
  constexpr std::array kSides = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                 CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                 CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    int blocks = 0;  // 0: none is required
    const bool known = cuFuncGetAttribute(&blocks, kSides[n], function) == CUDA_SUCCESS;
    cluster[n] = known && blocks > 0 ? static_cast<std::uint32_t>(blocks) : 1;
  }
  return cluster;
}

/// Blocks of such a launch that the current device can have at a time; nothing if the driver does
/// not say so.
std::optional<std::uint64_t> blocks_in_clusters(CUfunction function, const metrics::Launch& shape) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = static_cast<unsigned>(shape.dynamic_shared_bytes);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  if (cuOccupancyMaxActiveClusters(&clusters, function, &config) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(clusters) * shape.cluster_blocks();
}

/// The most blocks that a multiprocessor can have at a time; with clusters, which lie in one GPC
/// each, the mean of all.
std::optional<double> resident_blocks(CUfunction function, const metrics::Launch& shape) {
  if (shape.cluster_blocks() > 1) {
    CUdevice device = 0;
    const auto blocks = blocks_in_clusters(function, shape);
    if (!blocks || cuCtxGetDevice(&device) != CUDA_SUCCESS) return std::nullopt;
    return static_cast<double>(*blocks) /
           attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  }
  int blocks = 0;
  if (cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads_of(shape),
                                                  shape.dynamic_shared_bytes) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return blocks;
}

/// An event of the current context.
class Event {
 public:
  Event() { check(cuEventCreate(&handle_, CU_EVENT_DISABLE_TIMING), "cuEventCreate"); }
  ~Event() { cuEventDestroy(handle_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  CUevent handle() const { return handle_; }

 private:
  CUevent handle_ = nullptr;
};

}  // namespace

AttachedDevice describe(int device) {
  constexpr int kLongestName = 256;
  std::array<char, kLongestName> name{};
  check(cuDeviceGetName(name.data(), kLongestName, device), "cuDeviceGetName");
  CUuuid uuid{};
  check(cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return {{.name = name.data(),
           .chip = "",
           .compute_capability = std::to_string(major) + "." + std::to_string(minor),
           .driver = driver_version(),
           .uuid_hash = metrics::hash_text(std::as_bytes(std::span(uuid.bytes)))},
          static_cast<std::uint32_t>(
              attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device))};
}

bool wait_until_idle(CUcontext context, std::chrono::steady_clock::duration patience) {
  using namespace std::chrono_literals;
  const auto begin = std::chrono::steady_clock::now();
  const Event event;
  check(cuCtxRecordEvent(context, event.handle()), "cuCtxRecordEvent");
  while (true) {
    const CUresult state = cuEventQuery(event.handle());
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (state == CUDA_ERROR_NOT_READY && waited < patience) {
      if (waited > 1ms) std::this_thread::sleep_for(std::min<decltype(waited)>(waited / 16, 5ms));
      continue;
    }
    if (state == CUDA_ERROR_NOT_READY) return false;
    check(state, "cuEventQuery");  // says also what a kernel did wrong
    return true;
  }
}

Current::Current(CUcontext context) { check(cuCtxPushCurrent(context), "cuCtxPushCurrent"); }

Current::~Current() {
  CUcontext ignored = nullptr;
  cuCtxPopCurrent(&ignored);
}

RelaxedCapture::RelaxedCapture() { cuThreadExchangeStreamCaptureMode(&mode_); }
RelaxedCapture::~RelaxedCapture() { cuThreadExchangeStreamCaptureMode(&mode_); }

bool is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The legacy stream is never captured itself; beside a capture it answers with an error.
  return cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

metrics::Launch shape_of(const CUlaunchConfig& config) {
  metrics::Launch shape = shape_of<CUlaunchConfig>(config);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      shape.cluster = cluster_of(config.attrs[i].value);
    }
  }
  return shape;
}

std::optional<KernelResources> resources_of(CUfunction launched, const metrics::Launch& shape) {
  // The runtime passes its CUkernel to cuLaunchKernel as the CUfunction.
  CUfunction function = nullptr;
  if (cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(launched)) != CUDA_SUCCESS) {
    function = launched;
  }
  const auto cluster = compiled_cluster(function);
  metrics::Launch launch = shape;
  if (launch.cluster == metrics::kNoCluster) launch.cluster = cluster;
  const std::optional<double> blocks = resident_blocks(function, launch);
  int registers = 0, shared = 0, local = 0;
  const bool known =
      cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS &&
      cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) == CUDA_SUCCESS &&
      cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function) == CUDA_SUCCESS;
  if (!known || !blocks) return std::nullopt;
  return KernelResources{
      .registers = static_cast<std::uint32_t>(registers),
      .shared_static_bytes = static_cast<std::uint64_t>(shared),
      .local_bytes = static_cast<std::uint64_t>(local),
      .resident_warps = *blocks * static_cast<double>(shape.warps_per_block()),
      .compiled_cluster = cluster,
  };
}

std::optional<LaunchedKernel> kernel_of(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params) {
  const char* name = nullptr;
  const bool named = params.func != nullptr ? cuFuncGetName(&name, params.func) == CUDA_SUCCESS
                                            : cuKernelGetName(&name, params.kern) == CUDA_SUCCESS;
  if (!named || name == nullptr) return std::nullopt;
  metrics::Launch shape = shape_of(params);
  CUlaunchAttributeValue value{};
  if (cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) ==
          CUDA_SUCCESS &&
      value.clusterDim.x > 0) {
    shape.cluster = cluster_of(value);
  }
  return LaunchedKernel{
      params.func != nullptr ? params.func : reinterpret_cast<CUfunction>(params.kern), name, shape,
      node};
}

namespace {

/// The kernel of a node; nullopt if the driver does not return its parameters.
std::optional<LaunchedKernel> kernel_of(CUgraphNode node, std::set<CUcontext>& contexts) {
  CUDA_KERNEL_NODE_PARAMS params{};
  if (cuGraphKernelNodeGetParams(node, &params) != CUDA_SUCCESS) return std::nullopt;
  if (params.ctx != nullptr) contexts.insert(params.ctx);
  return driver::kernel_of(node, params);
}

class GraphWalk {
 public:
  explicit GraphWalk(const ConditionalBodies& bodies) : bodies_(bodies) {}

  void add(CUgraph graph, bool conditional) {
    std::size_t count = 0;
    std::vector<CUgraphNode> nodes;
    bool complete = cuGraphGetNodes(graph, nullptr, &count) == CUDA_SUCCESS;
    nodes.resize(count);
    complete =
        complete && (count == 0 || cuGraphGetNodes(graph, nodes.data(), &count) == CUDA_SUCCESS);
    kernels.all = kernels.all && complete;
    if (!complete) return;
    for (const CUgraphNode node : nodes) add(node, conditional);
  }

  GraphKernels kernels;

 private:
  void add(CUgraphNode node, bool conditional) {
    CUgraphNodeType type{};
    CUgraph inner = nullptr;
    if (cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) {
      kernels.all = false;
    } else if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
      const std::optional<LaunchedKernel> kernel = kernel_of(node, kernels.contexts);
      kernels.all = kernels.all && kernel;
      if (kernel) kernels.known.push_back(*kernel);
      if (kernel) kernels.known.back().conditional = conditional;
    } else if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
      if (cuGraphChildGraphNodeGetGraph(node, &inner) == CUDA_SUCCESS) {
        add(inner, conditional);
      } else {
        kernels.all = false;
      }
    } else if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      const auto found = bodies_.find(node);
      kernels.all = kernels.all && found != bodies_.end();
      if (found == bodies_.end()) return;
      for (const CUgraph body : found->second) add(body, true);
    }
  }

  const ConditionalBodies& bodies_;
};

}  // namespace

GraphKernels kernels_of(CUgraph graph, const ConditionalBodies& bodies) {
  GraphWalk walk(bodies);
  walk.add(graph, false);
  return std::move(walk.kernels);
}

}  // namespace warpgauge::attach::driver
