// Copies between host and device, on the device, and on the host: the size of a case is its bytes.
//
// A copy over the bus costs ten to a hundred times as much as one on the device
// (throughput.bytes_per_second). From pageable memory the driver has to copy twice, through a
// pinned buffer of its own, because the copy engine needs pages that stay where they are. The cure
// is to pin buffers that are copied often (cudaMallocHost), and not to copy data that a kernel
// could compute. A copy from host to host is the CPU's work: the device takes no part in it.
#include <cstdint>
#include <cstring>

#include "warpgauge/warpgauge.h"

namespace copies {

constexpr int kThreads = 256;

// Bytes in host memory: pageable or pinned.
class HostBytes {
 public:
  explicit HostBytes(bool pinned) : pinned_(pinned) {}
  ~HostBytes() {
    if (pinned_ && bytes_ != nullptr) static_cast<void>(cudaFreeHost(bytes_));
  }
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;

  void fill(const std::vector<std::uint8_t>& values) {
    if (!pinned_) {
      pageable_ = values;
      bytes_ = pageable_.data();
      return;
    }
    void* memory = bytes_;
    if (memory == nullptr) WARPGAUGE_CUDA(cudaMallocHost(&memory, values.size()));
    bytes_ = static_cast<std::uint8_t*>(memory);
    std::memcpy(bytes_, values.data(), values.size());
  }
  std::uint8_t* data() const { return bytes_; }

 private:
  const bool pinned_;
  std::vector<std::uint8_t> pageable_;
  std::uint8_t* bytes_ = nullptr;
};

struct Copy : warpgauge::Problem {
  const std::size_t n;
  warpgauge::Input<std::uint8_t> from;  // on the device
  warpgauge::Output<std::uint8_t> to;

  explicit Copy(const warpgauge::Size& size) : n(size.count()), from(*this, n), to(*this, n) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(to, from.host());
  }
};

template <bool kPinned>
struct ToDevice : Copy {
  HostBytes host{kPinned};
  using Copy::Copy;
  void prepare() override { host.fill(from.host()); }
  double bytes() const override { return n; }
};

template <bool kPinned>
struct ToHost : Copy {
  HostBytes host{kPinned};
  using Copy::Copy;
  void prepare() override { host.fill(std::vector<std::uint8_t>(n)); }
  double bytes() const override { return n; }
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(std::vector<std::uint8_t>(host.data(), host.data() + n), from.host());
  }
};

template <bool kPinned>
struct OnHost : ToHost<kPinned> {
  HostBytes source{kPinned};
  using ToHost<kPinned>::ToHost;
  void prepare() override {
    ToHost<kPinned>::prepare();
    source.fill(this->from.host());
  }
};

// Copies by a kernel: 16 bytes a thread, and single bytes where fewer are left.
__global__ void copy(std::uint8_t* to, const std::uint8_t* from, long long n) {
  const long long words = n / sizeof(uint4);
  const long long t = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (t < words) reinterpret_cast<uint4*>(to)[t] = reinterpret_cast<const uint4*>(from)[t];
  const long long rest = words * static_cast<long long>(sizeof(uint4)) + t;
  if (rest < n) to[rest] = from[rest];
}

void by_kernel(Copy& p) {
  const std::size_t threads = p.n / sizeof(uint4) + 1;
  copy<<<static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads>>>(p.to, p.from, p.n);
}

template <bool kPinned>
void to_device(ToDevice<kPinned>& p) {
  WARPGAUGE_CUDA(cudaMemcpyAsync(p.to, p.host.data(), p.n, cudaMemcpyHostToDevice));
}

template <bool kPinned>
void to_host(ToHost<kPinned>& p) {
  WARPGAUGE_CUDA(cudaMemcpyAsync(p.host.data(), p.from, p.n, cudaMemcpyDeviceToHost));
}

template <bool kPinned>
void on_host(OnHost<kPinned>& p) {
  WARPGAUGE_CUDA(cudaMemcpyAsync(p.host.data(), p.source.data(), p.n, cudaMemcpyHostToHost));
}

void on_device(Copy& p) {
  WARPGAUGE_CUDA(cudaMemcpyAsync(p.to, p.from, p.n, cudaMemcpyDeviceToDevice));
}

WARPGAUGE_FAMILY(copies) {
  const std::vector<warpgauge::Size> bytes = {
      {4096}, {1048576}, {10000019}, warpgauge::large({268435456})};
  family.problem<ToDevice<false>>("u8", bytes)
      .sizes_between({1}, {268435456})
      .uncounted("to_device_pageable", to_device<false>);
  family.problem<ToDevice<true>>("u8", bytes)
      .sizes_between({1}, {268435456})
      .uncounted("to_device_pinned", to_device<true>);
  family.problem<ToHost<false>>("u8", bytes)
      .sizes_between({1}, {268435456})
      .uncounted("to_host_pageable", to_host<false>);
  family.problem<ToHost<true>>("u8", bytes)
      .sizes_between({1}, {268435456})
      .uncounted("to_host_pinned", to_host<true>);
  family.problem<OnHost<false>>("u8", bytes)
      .sizes_between({1}, {268435456})
      .uncounted("on_host_pageable", on_host<false>);
  family.problem<OnHost<true>>("u8", bytes)
      .sizes_between({1}, {268435456})
      .uncounted("on_host_pinned", on_host<true>);
  const auto on_the_device =
      family.problem<Copy>("u8", bytes).sizes_between({1}, {268435456}).relative_to("on_device");
  on_the_device.uncounted("on_device", on_device);
  on_the_device.variant("by_kernel", by_kernel);
}

}  // namespace copies
