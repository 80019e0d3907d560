// The order of work in streams while a kernel runs in the background.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>

#include "harness/emulator/runtime/allocation_checks.h"
#include "harness/emulator/runtime/function_ref.h"
#include "harness/emulator/runtime/launch_order.h"
#include "harness/emulator/runtime/state.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

/// Whether it is the legacy default stream, by either of its names.
bool is_legacy(cudaStream_t stream);

/// The legacy stream waits for it, and it for the legacy stream.
bool is_blocking(State& state, cudaStream_t stream);

/// The stream's name in LaunchOrder: the legacy stream has one.
cudaStream_t order_name(cudaStream_t stream);
LaunchOrder::WaitsFor waits_for(State& state);

/// Whether what comes next in the stream has to wait for what is left to do.
bool has_work(State& state, cudaStream_t stream);

/// call_waiting() for functions that wait for the legacy stream and what it waits for.
cudaError_t call_in_legacy_stream(const char* name, FunctionRef<void(State&)> body);

/// Does `work` in the background, after all that is left to do, unless a kernel faults before. Its
/// failure is only said.
void put_behind(State& state, cudaStream_t stream, std::function<void()> work);

/// Does the work of a stream: now, if nothing is left of the stream to do, else in the background.
template <typename Kind>
void perform_in_order(State& state, cudaStream_t stream, Kind work) {
  state.device().order.add_work(order_name(stream));
  if (state.options().checks.allocations) note_uses(state, stream, work);
  if (!has_work(state, stream)) return perform(state, work);
  put_behind(state, stream, [&state, work = std::move(work)] { perform(state, work); });
}

/// A kernel also waits for the kernel that runs. One that only waits for memory to change goes on
/// in the background.
void perform_in_order(State& state, cudaStream_t stream, const KernelCall& call);

}  // namespace warpgauge::emulator::runtime
