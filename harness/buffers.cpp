#include "harness/buffers.h"

#include <cuda_runtime_api.h>

#include "harness/launch_log.h"
#include "metrics/cuda_error.h"

namespace warpgauge {
namespace {

/// Where the buffers of a dry run pretend to lie, 256 bytes aligned as cudaMalloc's are. Only
/// passed to kernels that are not launched.
void* const kDryAddress = reinterpret_cast<void*>(std::uintptr_t{1} << 32);

}  // namespace

Buffer::Buffer(Problem& problem, std::size_t bytes) : bytes_(bytes) {
  if (is_dry_run()) {
    device_ = kDryAddress;
  } else {
    WARPGAUGE_CUDA(cudaMalloc(&device_, bytes_));
  }
  problem.buffers_.push_back(this);
}

Buffer::~Buffer() {
  // An error here is an earlier one of the context, which has been reported where it arose.
  if (device_ != kDryAddress) static_cast<void>(cudaFree(device_));
}

void Buffer::upload(const void* host) const {
  WARPGAUGE_CUDA(cudaMemcpy(device_, host, bytes_, cudaMemcpyHostToDevice));
}

void Buffer::download(void* host) const {
  WARPGAUGE_CUDA(cudaMemcpy(host, device_, bytes_, cudaMemcpyDeviceToHost));
}

void Buffer::poison() const { WARPGAUGE_CUDA(cudaMemset(device_, 0xff, bytes_)); }

}  // namespace warpgauge
