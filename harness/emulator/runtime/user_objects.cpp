// Calls for user objects: resources of the program that live as long as the graphs that hold them.
#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/graph.h"
#include "harness/emulator/runtime/graph_handles.h"
#include "harness/emulator/runtime/user_object.h"

namespace warpgauge::emulator::runtime {
namespace {

HeldObject& held(HeldObjects& objects, cudaUserObject_t object) {
  const auto found = objects.find(object);
  require(found != objects.end());
  return found->second;
}

void retain(HeldObjects& objects, const std::shared_ptr<UserObject>& object, unsigned count) {
  HeldObject& held_object = objects[object.get()];
  held_object.object = object;
  held_object.count += count;
}

void release(HeldObjects& objects, cudaUserObject_t object, unsigned count) {
  HeldObject& held_object = held(objects, object);
  require(count > 0 && count <= held_object.count);
  held_object.count -= count;
  if (held_object.count == 0) objects.erase(object);
}

}  // namespace

WARPGAUGE_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data,
                                               cudaHostFn_t destroy, unsigned count,
                                               unsigned flags) {
  return call(__func__, [&](State& state) {
    require(object != nullptr && destroy != nullptr && count > 0);
    require(flags == cudaUserObjectNoDestructorSync);
    const auto made = std::make_shared<UserObject>(data, destroy);
    retain(state.device().graphs.objects, made, count);
    *object = reinterpret_cast<cudaUserObject_t>(made.get());
  });
}

WARPGAUGE_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return call(__func__, [&](State& state) {
    require(count > 0);
    held(state.device().graphs.objects, object).count += count;
  });
}

WARPGAUGE_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return call(__func__,
              [&](State& state) { release(state.device().graphs.objects, object, count); });
}

WARPGAUGE_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                    unsigned count, unsigned flags) {
  return call(__func__, [&](State& state) {
    require(count > 0 && (flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) == 0);
    HeldObjects& ours = state.device().graphs.objects;
    Graph& holder = graph_of(state, graph);
    const std::shared_ptr<UserObject> kept = held(ours, object).object;
    if (flags == cudaGraphUserObjectMove) release(ours, object, count);
    retain(holder.objects, kept, count);
  });
}

WARPGAUGE_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                                     unsigned count) {
  return call(__func__,
              [&](State& state) { release(graph_of(state, graph).objects, object, count); });
}

}  // namespace warpgauge::emulator::runtime
