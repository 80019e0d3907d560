// Variables of the device code, which the host names by their shadows.
#include <cuda_runtime_api.h>

#include "harness/emulator/runtime/call.h"
#include "harness/emulator/runtime/capture.h"
#include "harness/emulator/runtime/copy.h"
#include "harness/emulator/runtime/memcpy.h"

namespace warpgauge::emulator::runtime {
namespace {

machine::Symbol symbol_of(State& state, const void* shadow) {
  Variable* const variable = state.modules.find_variable(shadow);
  require(variable != nullptr, cudaErrorInvalidSymbol);
  machine::Machine& machine = state.device().machine;
  state.modules.load(*variable->module, machine, state.wanted_code());
  auto symbol = machine.find_symbol(*variable->module->program, variable->name);
  // The compiler drops variables that no kernel uses.
  require(symbol.address != nullptr, cudaErrorInvalidSymbol);
  return symbol;
}

/// Bytes [offset, offset + bytes) of a variable.
End part_of(State& state, const void* shadow, std::size_t offset, std::size_t bytes) {
  const auto symbol = symbol_of(state, shadow);
  require(offset <= symbol.bytes && bytes <= symbol.bytes - offset);
  return {{symbol.address + offset, 0, 0}, Side::device};
}

}  // namespace

Copy copy_to_symbol(State& state, const void* shadow, const void* source, std::size_t bytes,
                    std::size_t offset, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require(sides.destination != Side::host, cudaErrorInvalidMemcpyDirection);
  const End from{{static_cast<std::byte*>(const_cast<void*>(source)), 0, 0}, sides.source};
  return {part_of(state, shadow, offset, bytes), from, {bytes, 1, 1}};
}

Copy copy_from_symbol(State& state, void* destination, const void* shadow, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind) {
  const Sides sides = sides_of(kind);
  require(sides.source != Side::host, cudaErrorInvalidMemcpyDirection);
  const End to{{static_cast<std::byte*>(destination), 0, 0}, sides.destination};
  return {to, part_of(state, shadow, offset, bytes), {bytes, 1, 1}};
}

WARPGAUGE_API cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call(__func__, [&](State& state) {
    require(address != nullptr);
    *address = symbol_of(state, symbol).address;
  });
}

WARPGAUGE_API cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return call(__func__, [&](State& state) {
    require(bytes != nullptr);
    *bytes = symbol_of(state, symbol).bytes;
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source,
                                             std::size_t bytes, std::size_t offset,
                                             cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy, copy_to_symbol(state, symbol, source, bytes, offset, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source,
                                                  std::size_t bytes, std::size_t offset,
                                                  cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    submit(state, stream, copy_to_symbol(state, symbol, source, bytes, offset, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol,
                                               std::size_t bytes, std::size_t offset,
                                               cudaMemcpyKind kind) {
  return call_in_legacy_stream(__func__, [&](State& state) {
    submit(state, cudaStreamLegacy,
           copy_from_symbol(state, destination, symbol, bytes, offset, kind));
  });
}

WARPGAUGE_API cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol,
                                                    std::size_t bytes, std::size_t offset,
                                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return call(__func__, [&](State& state) {
    submit(state, stream, copy_from_symbol(state, destination, symbol, bytes, offset, kind));
  });
}

WARPGAUGE_PER_THREAD(cudaMemcpyToSymbol, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz)
WARPGAUGE_PER_THREAD(cudaMemcpyFromSymbol, _ptds)
WARPGAUGE_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz)

}  // namespace warpgauge::emulator::runtime
