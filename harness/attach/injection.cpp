// The library that CUDA_INJECTION64_PATH names: CUDA loads it into a program and calls
// InitializeInjection. From here on CUPTI calls back before and after what the program does.
#include <cuda.h>
#include <cupti.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/attach/driver.h"
#include "harness/attach/recorder.h"
#include "harness/attach/wait_limit.h"
#include "harness/files/write_file.h"
#include "harness/process/flush_at_exit.h"
#include "metrics/cupti/cupti_crc.h"
#include "metrics/cupti/cupti_error.h"

namespace warpgauge::attach {
namespace {

std::filesystem::path folder;
// Never destroyed: CUPTI may call back during exit.
Recorder* recorder = nullptr;
WaitLimit* wait_limit = nullptr;

/// One call of the driver, before or after it is made.
struct Call {
  CUcontext context;
  const char* kernel;  ///< the kernel's name, for launches
  const void* parameters;
  bool succeeded;  ///< after it

  template <typename Parameters>
  const Parameters& as() const {
    return *static_cast<const Parameters*>(parameters);
  }
};

/// The launch that this thread makes right now; a pointer, because it is used until the thread has
/// ended, and after.
thread_local Recorder::Launching* launching = nullptr;

void begin(std::optional<Recorder::Launching> launch) {
  if (launch) launching = new Recorder::Launching(std::move(*launch));
}

using Reaction = void (*)(const Call& call);

template <typename Parameters>
void launch(const Call& call) {
  const auto& p = call.as<Parameters>();
  wait_limit->launches(call.kernel);
  begin(recorder->launch(call.context, {p.f, call.kernel, driver::shape_of(p)}, p.hStream));
}

void launch_configured(const Call& call) {
  static constexpr CUlaunchConfig kNone{};  // the driver refuses to launch with none
  const auto& p = call.as<cuLaunchKernelEx_params>();
  const CUlaunchConfig& config = p.config == nullptr ? kNone : *p.config;
  wait_limit->launches(call.kernel);
  begin(
      recorder->launch(call.context, {p.f, call.kernel, driver::shape_of(config)}, config.hStream));
}

void launch_of_old(const Call& /*call*/) {
  recorder->warn(
      "the program launches with cuLaunchGrid or on several devices at once, which "
      "is not counted");
}

// All ways to instantiate have these first: where the result goes, or what is updated, and the
// graph.
void make_graph(const Call& call) {
  recorder->make_graph(call.context, call.as<cuGraphInstantiateWithFlags_params>().hGraph);
}

void graph_made(const Call& call) {
  const auto& p = call.as<cuGraphInstantiateWithFlags_params>();
  if (call.succeeded && p.phGraphExec != nullptr) recorder->graph_made(*p.phGraphExec, p.hGraph);
}

template <typename Parameters>
void node_made(const Call& call) {
  const auto& p = call.as<Parameters>();
  if (!call.succeeded || p.phGraphNode == nullptr || p.nodeParams == nullptr) return;
  if (p.nodeParams->type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return;
  const CUDA_CONDITIONAL_NODE_PARAMS& made = p.nodeParams->conditional;
  recorder->condition_made(*p.phGraphNode, {made.phGraph_out, made.phGraph_out + made.size});
}

void graph_updated(const Call& call) {
  const auto& p = call.as<cuGraphExecUpdate_v2_params>();
  if (call.succeeded) recorder->graph_made(p.hGraphExec, p.hGraph);
}
void graph_ends(const Call& call) {
  recorder->graph_ends(call.as<cuGraphExecDestroy_params>().hGraphExec);
}
/// Hears of changes that do not say which kernel a node becomes.
void graph_changes(const Call& /*call*/) { recorder->node_changed(nullptr, std::nullopt); }

CUDA_KERNEL_NODE_PARAMS as_second_version(const CUDA_KERNEL_NODE_PARAMS& p) { return p; }
CUDA_KERNEL_NODE_PARAMS as_second_version(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUDA_KERNEL_NODE_PARAMS out{};
  out.func = p.func;
  out.gridDimX = p.gridDimX;
  out.gridDimY = p.gridDimY;
  out.gridDimZ = p.gridDimZ;
  out.blockDimX = p.blockDimX;
  out.blockDimY = p.blockDimY;
  out.blockDimZ = p.blockDimZ;
  out.sharedMemBytes = p.sharedMemBytes;
  return out;
}

template <typename Parameters>
std::optional<driver::LaunchedKernel> kernel_given(const Call& call) {
  const auto& p = call.as<Parameters>();
  if (p.nodeParams == nullptr) return std::nullopt;
  return driver::kernel_of(p.hNode, as_second_version(*p.nodeParams));
}

template <typename Parameters>
void change_node(const Call& call) {
  recorder->change_node(call.context, kernel_given<Parameters>(call));
}

template <typename Parameters>
void node_changed(const Call& call) {
  if (!call.succeeded) return;
  recorder->node_changed(call.as<Parameters>().hGraphExec, kernel_given<Parameters>(call));
}

void node_enabled(const Call& call) {
  const auto& p = call.as<cuGraphNodeSetEnabled_params>();
  if (call.succeeded) recorder->node_enabled(p.hGraphExec, p.hNode, p.isEnabled != 0);
}

void launch_graph(const Call& call) {
  const auto& p = call.as<cuGraphLaunch_params>();
  wait_limit->launches("a kernel of a graph");
  begin(recorder->graph_launch(call.context, p.hGraph, p.hStream));
}

void waits(const Call& /*call*/) { wait_limit->begins(); }
void waited(const Call& call) {
  wait_limit->ends();
  recorder->waited(call.context);
}
// It waits for kernels that may use the memory.
void memory_ended(const Call& /*call*/) { wait_limit->ends(); }
// All ways to begin and to end a capture have the stream first.
CUstream stream_of(const Call& call) { return call.as<cuStreamEndCapture_params>().hStream; }
void capture_begins(const Call& call) { recorder->capture_begins(call.context, stream_of(call)); }
void capture_began(const Call& call) {
  if (!call.succeeded) recorder->capture_ends(stream_of(call));
}
void capture_ends(const Call& call) { recorder->capture_ends(stream_of(call)); }

void module_ends(const Call& call) { recorder->before_unloading(call.context); }
void library_ends(const Call& /*call*/) { recorder->before_unloading(std::nullopt); }
void launched(const Call& call) {
  const std::unique_ptr<Recorder::Launching> launch(std::exchange(launching, nullptr));
  if (launch) recorder->launched(std::move(*launch), call.succeeded);
}

void context_ends(const Call& call) { recorder->may_end(call.as<cuCtxDestroy_v2_params>().ctx); }
// All ways to give back or to reset a primary context have its device only.
void device_may_end(const Call& call) {
  recorder->device_may_end(call.as<cuDevicePrimaryCtxReset_v2_params>().dev);
}

/// Reactions before and after a call. Calls whose names end in _ptsz and _ptds (with a default
/// stream for each thread) have the same parameters.
struct Hook {
  CUpti_CallbackId call;
  Reaction before, after;
};

#define WARPGAUGE_CALL(name) CUPTI_DRIVER_TRACE_CBID_##name
constexpr Hook kHooks[] = {
    {WARPGAUGE_CALL(cuLaunchKernel), launch<cuLaunchKernel_params>, launched},
    {WARPGAUGE_CALL(cuLaunchKernel_ptsz), launch<cuLaunchKernel_params>, launched},
    {WARPGAUGE_CALL(cuLaunchKernelEx), launch_configured, launched},
    {WARPGAUGE_CALL(cuLaunchKernelEx_ptsz), launch_configured, launched},
    {WARPGAUGE_CALL(cuLaunchCooperativeKernel), launch<cuLaunchCooperativeKernel_params>, launched},
    {WARPGAUGE_CALL(cuLaunchCooperativeKernel_ptsz), launch<cuLaunchCooperativeKernel_params>,
     launched},
    {WARPGAUGE_CALL(cuLaunchCooperativeKernelMultiDevice), launch_of_old, nullptr},
    {WARPGAUGE_CALL(cuLaunch), launch_of_old, nullptr},
    {WARPGAUGE_CALL(cuLaunchGrid), launch_of_old, nullptr},
    {WARPGAUGE_CALL(cuLaunchGridAsync), launch_of_old, nullptr},
    {WARPGAUGE_CALL(cuGraphAddNode), nullptr, node_made<cuGraphAddNode_params>},
    {WARPGAUGE_CALL(cuGraphAddNode_v2), nullptr, node_made<cuGraphAddNode_v2_params>},
    {WARPGAUGE_CALL(cuGraphInstantiate), make_graph, graph_made},
    {WARPGAUGE_CALL(cuGraphInstantiate_v2), make_graph, graph_made},
    {WARPGAUGE_CALL(cuGraphInstantiateWithFlags), make_graph, graph_made},
    {WARPGAUGE_CALL(cuGraphInstantiateWithParams), make_graph, graph_made},
    {WARPGAUGE_CALL(cuGraphInstantiateWithParams_ptsz), make_graph, graph_made},
    {WARPGAUGE_CALL(cuGraphExecUpdate), make_graph, graph_updated},
    {WARPGAUGE_CALL(cuGraphExecUpdate_v2), make_graph, graph_updated},
    {WARPGAUGE_CALL(cuGraphExecKernelNodeSetParams),
     change_node<cuGraphExecKernelNodeSetParams_params>,
     node_changed<cuGraphExecKernelNodeSetParams_params>},
    {WARPGAUGE_CALL(cuGraphExecKernelNodeSetParams_v2),
     change_node<cuGraphExecKernelNodeSetParams_v2_params>,
     node_changed<cuGraphExecKernelNodeSetParams_v2_params>},
    {WARPGAUGE_CALL(cuGraphExecNodeSetParams), graph_changes, nullptr},
    {WARPGAUGE_CALL(cuGraphExecChildGraphNodeSetParams), graph_changes, nullptr},
    {WARPGAUGE_CALL(cuGraphNodeSetEnabled), nullptr, node_enabled},
    {WARPGAUGE_CALL(cuGraphExecDestroy), graph_ends, nullptr},
    {WARPGAUGE_CALL(cuGraphLaunch), launch_graph, launched},
    {WARPGAUGE_CALL(cuGraphLaunch_ptsz), launch_graph, launched},
    {WARPGAUGE_CALL(cuStreamBeginCapture), capture_begins, capture_began},
    {WARPGAUGE_CALL(cuStreamBeginCapture_ptsz), capture_begins, capture_began},
    {WARPGAUGE_CALL(cuStreamBeginCapture_v2), capture_begins, capture_began},
    {WARPGAUGE_CALL(cuStreamBeginCapture_v2_ptsz), capture_begins, capture_began},
    {WARPGAUGE_CALL(cuStreamBeginCaptureToGraph), capture_begins, capture_began},
    {WARPGAUGE_CALL(cuStreamBeginCaptureToGraph_ptsz), capture_begins, capture_began},
    {WARPGAUGE_CALL(cuStreamEndCapture), nullptr, capture_ends},
    {WARPGAUGE_CALL(cuStreamEndCapture_ptsz), nullptr, capture_ends},
    {WARPGAUGE_CALL(cuCtxSynchronize), waits, waited},
    {WARPGAUGE_CALL(cuCtxSynchronize_v2), waits, waited},
    {WARPGAUGE_CALL(cuStreamSynchronize), waits, waited},
    {WARPGAUGE_CALL(cuStreamSynchronize_ptsz), waits, waited},
    {WARPGAUGE_CALL(cuEventSynchronize), waits, waited},
    {WARPGAUGE_CALL(cuMemcpy), waits, waited},
    {WARPGAUGE_CALL(cuMemcpy_ptds), waits, waited},
    {WARPGAUGE_CALL(cuMemcpyDtoH_v2), waits, waited},
    {WARPGAUGE_CALL(cuMemcpyDtoH_v2_ptds), waits, waited},
    {WARPGAUGE_CALL(cuMemFree_v2), waits, memory_ended},
    {WARPGAUGE_CALL(cuModuleUnload), module_ends, nullptr},
    {WARPGAUGE_CALL(cuLibraryUnload), library_ends, nullptr},
    {WARPGAUGE_CALL(cuCtxDestroy), context_ends, nullptr},
    {WARPGAUGE_CALL(cuCtxDestroy_v2), context_ends, nullptr},
    {WARPGAUGE_CALL(cuDevicePrimaryCtxRelease), device_may_end, nullptr},
    {WARPGAUGE_CALL(cuDevicePrimaryCtxRelease_v2), device_may_end, nullptr},
    {WARPGAUGE_CALL(cuDevicePrimaryCtxReset), device_may_end, nullptr},
    {WARPGAUGE_CALL(cuDevicePrimaryCtxReset_v2), device_may_end, nullptr},
};
#undef WARPGAUGE_CALL

const std::map<CUpti_CallbackId, const Hook*>& hooks() {
  static const auto* const kById = [] {
    auto* by_id = new std::map<CUpti_CallbackId, const Hook*>;
    for (const Hook& hook : kHooks) by_id->emplace(hook.call, &hook);
    return by_id;
  }();
  return *kById;
}

/// Keeps the code, under the name that records of its instructions will have.
void keep(const CUpti_ModuleResourceData& module) {
  recorder->code_seen({reinterpret_cast<const std::byte*>(module.pCubin), module.cubinSize});
  const std::optional<std::uint32_t> crc = metrics::crc_of(module);
  if (!crc) return;
  const auto path = folder / cubin_name(*crc);
  if (std::filesystem::exists(path)) return;
  files::write_file(path, {module.pCubin, module.cubinSize});
}

/// While it is there this thread's calls are the library's own: they call back like the program's.
class OwnCalls {
 public:
  OwnCalls() : before_(std::exchange(own_, true)) {}
  ~OwnCalls() { own_ = before_; }
  OwnCalls(const OwnCalls&) = delete;
  OwnCalls& operator=(const OwnCalls&) = delete;

  static bool made() { return own_; }

 private:
  static thread_local bool own_;
  const bool before_;  ///< within own calls the driver can call back, too
};

thread_local bool OwnCalls::own_ = false;

/// While it lives, this thread may wait for the GPU.
class Waiting {
 public:
  Waiting() { wait_limit->begins(); }
  ~Waiting() { wait_limit->ends(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

bool finish(std::chrono::seconds patience) {
  const OwnCalls own;
  const Waiting waiting;
  return recorder->finish(patience);
}

void on_call(CUpti_CallbackId id, const CUpti_CallbackData& event) {
  if (OwnCalls::made()) return;
  const OwnCalls own;
  const Hook& hook = *hooks().at(id);
  const bool enters = event.callbackSite == CUPTI_API_ENTER;
  const Reaction reaction = enters ? hook.before : hook.after;
  if (reaction == nullptr) return;
  const bool succeeded =
      !enters && *static_cast<const CUresult*>(event.functionReturnValue) == CUDA_SUCCESS;
  const Waiting waiting;  // counts are taken when the GPU is idle
  reaction({event.context, event.symbolName == nullptr ? "" : event.symbolName,
            event.functionParams, succeeded});
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData& event) {
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    const OwnCalls own;
    std::uint32_t device = 0;
    WARPGAUGE_CUPTI(cuptiGetDeviceId, event.context, &device);
    recorder->context_made(event.context, static_cast<int>(device));
  } else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    const OwnCalls own;
    recorder->ends(event.context);
  } else if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    // Our own calls can be the first to need a module, too.
    if (OwnCalls::made() || !launching) recorder->code_loaded(event.context);
    const auto* module = static_cast<const CUpti_ModuleResourceData*>(event.resourceDescriptor);
    if (module != nullptr) keep(*module);
  }
}

void warn(const std::exception& error) {
  try {
    recorder->warn(error.what());
  } catch (const std::exception&) {
    // The difference between launched and counted still shows that counts are missing.
  }
}

void CUPTIAPI on_event(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                       const void* data) {
  if (data == nullptr || !process::in_flushing_process()) return;
  try {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      on_call(id, *static_cast<const CUpti_CallbackData*>(data));
    } else {
      on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
    }
  } catch (const std::exception& error) {
    // CUPTI is C and must not see an exception.
    warn(error);
  }
}

void subscribe() {
  CUpti_SubscriberHandle subscriber = nullptr;
  WARPGAUGE_CUPTI(cuptiSubscribe, &subscriber, on_event, nullptr);
  for (const CUpti_CallbackIdResource event :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        CUPTI_CBID_RESOURCE_MODULE_LOADED}) {
    WARPGAUGE_CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, event);
  }
  for (const Hook& hook : kHooks) {
    WARPGAUGE_CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, hook.call);
  }
}

}  // namespace
}  // namespace warpgauge::attach

/// Called by CUDA once in a process, when it is initialised.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using namespace warpgauge::attach;
  const char* where = std::getenv(kAttachFolder);
  if (where == nullptr || recorder != nullptr) return 1;
  try {
    folder = where;
    const char* const limit = std::getenv(kWaitLimit);
    wait_limit =
        new WaitLimit(limit == nullptr ? warpgauge::programs::kUsualLaunchLimit
                                       : std::chrono::seconds(std::strtol(limit, nullptr, 10)),
                      folder);
    recorder = new Recorder(folder, warpgauge::programs::LaunchFilter::from_environment());
    warpgauge::process::flush_at_exit(finish);
    try {
      subscribe();
    } catch (const std::exception& error) {
      recorder->warn(error.what());
    }
  } catch (const std::exception&) {
    // The program runs as it would without this library.
  }
  return 1;
}
