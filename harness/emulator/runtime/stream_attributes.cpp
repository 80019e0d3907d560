// Attributes of streams, which only make work faster: they are kept, and change nothing.
#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/streams.h"

namespace warpgauge::emulator::runtime {
namespace {

using Attributes = std::map<int, cudaLaunchAttributeValue>;

Attributes& attributes_of(State& state, cudaStream_t stream) {
  require_stream(state, stream);
  return state.device().stream_attributes[stream];
}

bool is_of_streams(cudaLaunchAttributeID id) {
  switch (static_cast<int>(id)) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
      return true;
    default:
      return false;
  }
}

}  // namespace

WARPGAUGE_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                                 const cudaLaunchAttributeValue* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr && is_of_streams(id));
    attributes_of(state, stream)[id] = *value;
  });
}

WARPGAUGE_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                                 cudaLaunchAttributeValue* value) {
  return call(__func__, [&](State& state) {
    require(value != nullptr && is_of_streams(id));
    const Attributes& set = attributes_of(state, stream);
    const auto found = set.find(id);
    *value = found == set.end() ? cudaLaunchAttributeValue{} : found->second;
  });
}

WARPGAUGE_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call(__func__, [&](State& state) {
    const Attributes copied = attributes_of(state, from);
    attributes_of(state, to) = copied;
  });
}

WARPGAUGE_PER_THREAD(cudaStreamSetAttribute, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamGetAttribute, _ptsz)
WARPGAUGE_PER_THREAD(cudaStreamCopyAttributes, _ptsz)

}  // namespace warpgauge::emulator::runtime
