// Objects of the program's own whose life graphs extend.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace warpgauge::emulator::runtime {

/// Its address is its cudaUserObject_t. The program's function ends it along with the last
/// reference.
struct UserObject {
  void* data = nullptr;
  cudaHostFn_t destroy = nullptr;
  UserObject(void* data, cudaHostFn_t destroy) : data(data), destroy(destroy) {}
  ~UserObject() { destroy(data); }
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
};

/// References of one holder: a graph, or the program.
struct HeldObject {
  std::shared_ptr<UserObject> object;
  unsigned count = 0;
};

}  // namespace warpgauge::emulator::runtime
