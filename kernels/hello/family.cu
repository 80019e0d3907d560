// The smallest kernels: one thread adds two integers; one thread says hello, and then ten in two
// blocks do.
//
// Every kernel needs device memory, copies, a launch and a check of errors around it; the harness
// does all of that here.
// printf in a kernel is not free: its arguments are laid out in memory, which gives the thread a
// stack (stack.bytes) and local traffic (local.sectors). It is a tool for debugging, not for
// production.
#include <cstdio>

#include "warpgauge/warpgauge.h"

namespace hello {

// The size is one: a number.
struct Add : warpgauge::Problem {
  warpgauge::Input<int> a, b;
  warpgauge::Output<int> sum;

  explicit Add(const warpgauge::Size& size)
      : a(*this, size.count(), 1), b(*this, size.count(), 2), sum(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(sum, {a.host()[0] + b.host()[0]});
  }
};

// The size is the number of lines. printf of the device returns how many arguments follow the
// format: that can be checked.
struct Hello : warpgauge::Problem {
  static constexpr int kArguments = 2;
  warpgauge::Output<int> returned;

  explicit Hello(const warpgauge::Size& size) : returned(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override {
    comparison.equal(returned, std::vector<int>(returned.count(), kArguments));
  }
};

__global__ void add(int* sum, const int* a, const int* b) { *sum = *a + *b; }

// The text stays in a buffer of the device and appears when the host next waits for the device.
__global__ void print(int* returned) {
  returned[blockIdx.x * blockDim.x + threadIdx.x] =
      printf("hello from thread %u of block %u\n", threadIdx.x, blockIdx.x);
}

void launch_add(Add& p) { add<<<1, 1>>>(p.sum, p.a, p.b); }

void launch_print(Hello& p) { print<<<1, 1>>>(p.returned); }

void launch_print_by_blocks(Hello& p) { print<<<2, 5>>>(p.returned); }

WARPGAUGE_FAMILY(hello) {
  family.problem<Add>("i32", {{1}}).variant("add", launch_add);
  family.problem<Hello>("i32", {{1}}).variant("print", launch_print);
  family.problem<Hello>("i32", {{10}}).variant("print_by_blocks", launch_print_by_blocks);
}

}  // namespace hello
