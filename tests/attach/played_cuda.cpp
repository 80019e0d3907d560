// Answers the calls of the attach library to the driver and CUPTI from `played`, and records them.
#include "tests/attach/played_cuda.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "harness/attach/driver.h"
#include "harness/attach/launch_ledger.h"
#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_sass_session.h"

namespace warpgauge::attach::played_cuda {

Played played;
std::mutex playing;

}  // namespace warpgauge::attach::played_cuda

namespace warpgauge::attach::driver {

using namespace played_cuda;

AttachedDevice describe(int) { return {{.name = "GPU", .compute_capability = "9.0"}, 2048}; }
bool wait_until_idle(CUcontext context, std::chrono::steady_clock::duration) {
  const std::scoped_lock lock(playing);
  if (played.fails) throw DriverError("cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS");
  return !played.busy.contains(context);
}
Current::Current(CUcontext) {}
Current::~Current() = default;
RelaxedCapture::RelaxedCapture() = default;
RelaxedCapture::~RelaxedCapture() = default;
bool is_capturing(CUstream stream) {
  const std::scoped_lock lock(playing);
  return played.capturing.contains(stream);
}
std::optional<KernelResources> resources_of(CUfunction, const metrics::Launch& shape) {
  return KernelResources{.registers = 40,
                         .resident_warps = 2 * static_cast<double>(shape.warps_per_block())};
}
GraphKernels kernels_of(CUgraph graph, const ConditionalBodies& bodies) {
  const metrics::Launch shape{.grid = {1, 1, 1}, .block = {32, 1, 1}};
  if (graph == kConditionalGraph) {
    const metrics::Launch of_body{.grid = {2, 1, 1}, .block = {64, 1, 1}};
    const bool known = bodies.contains(kNode) && bodies.at(kNode) == std::vector{kGraph};
    Kernels kernels = {{kFunction, "in_graph", shape}};
    if (known) kernels.push_back({kOtherFunction, "in_body", of_body, kOtherNode, true, true});
    return {std::move(kernels), known, {kContext}};
  }
  return {{{kFunction, "in_graph", shape, kNode}, {kFunction, "in_graph", shape}},
          !played.unknown_nodes,
          played.several_contexts ? std::set{kContext, kOther} : std::set{kContext}};
}

}  // namespace warpgauge::attach::driver

namespace warpgauge::metrics {

using attach::played_cuda::played;
using attach::played_cuda::playing;

CuptiContext open_context(CUcontext context, int device) {
  if (played.no_counters) throw Unmeasured("no permission", "");
  return {.context = context, .device = device, .chip = "GH100"};
}
const std::vector<SassId>& configured_metrics(const CuptiContext&) {
  static const std::vector<SassId> kNone;
  return kNone;
}
SassSession::SassSession(const CuptiContext& context)
    : context_(context.context), metrics_(configured_metrics(context)) {
  const std::scoped_lock lock(playing);
  ++played.starts;
  played.counting.insert(context.context);
  played.deaf.erase(context.context);
}
SassSession::~SassSession() = default;
SassRecords SassSession::take() {
  const std::scoped_lock lock(playing);
  ++played.takes;
  SassValues values;
  values[SassMetric::instructions] = std::exchange(played.on_gpu[context_], 0);
  SassValues of_body;
  of_body[SassMetric::instructions] = std::exchange(played.conditional_warps, 0);
  SassRecords records = {{{.cubin_crc = 7, .kernel = "kernel", .pc = 16}, values}};
  if (of_body[SassMetric::instructions] > 0) {
    records[{.cubin_crc = 7, .kernel = "in_body", .pc = 0}] = of_body;
  }
  return records;
}
std::size_t SassSession::size() const { return played.instructions; }
void SassSession::stop() {
  const std::scoped_lock lock(playing);
  ++played.stops;
  if (played.cannot_stop) throw Unmeasured("CUPTI_ERROR_UNKNOWN", "");
  counting_ = false;
  played.counting.erase(context_);
}
void SassSession::leave() {
  const std::scoped_lock lock(playing);
  ++played.leaves;
  counting_ = false;
  played.counting.erase(context_);
}

}  // namespace warpgauge::metrics
