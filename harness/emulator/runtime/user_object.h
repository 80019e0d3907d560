// User objects: resources of the program that live as long as the graphs that hold them.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace warpgauge::emulator::runtime {

/// A resource, which `destroy` of the program releases. Its address is its cudaUserObject_t.
class UserObject {
 public:
  UserObject(void* data, cudaHostFn_t destroy) : data_(data), destroy_(destroy) {}
  ~UserObject() { destroy_(data_); }
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

 private:
  void* data_;
  cudaHostFn_t destroy_;
};

/// The references that one holder, a graph or the program, has to an object.
struct HeldObject {
  std::shared_ptr<UserObject> object;
  unsigned count = 0;
};

}  // namespace warpgauge::emulator::runtime
