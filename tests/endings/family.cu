// Cases of a program whose own code ends it with exit code 0, or with exceptions that say little,
// makes copies of it, or writes to all of its files. WARPGAUGE_TEST_END="PLACE WAY" says where and
// how; without it they are good.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "warpgauge/warpgauge.h"

namespace endings {

void end_by(const std::string& way) {
  if (way == "exit") std::exit(0);
  if (way == "_exit") _exit(0);
  if (way == "_Exit") std::_Exit(0);
  if (way == "quick_exit") std::quick_exit(0);
  if (way == "stoi") static_cast<void>(std::stoi("none"));
  if (way == "nothing") throw std::runtime_error("");
  if (way == "thread") std::thread([] { std::exit(0); }).join();
  if (way == "fork") static_cast<void>(fork());
  if (way == "fork_and_throw" && fork() == 0) throw std::runtime_error("in the child");
  if (way == "fork_and_stay" && fork() == 0) {
    sleep(4);
    _exit(0);
  }
  if (way == "fork_and_wait") {
    if (fork() == 0) _exit(0);
    static_cast<void>(wait(nullptr));
  }
  if (way == "write") {
    for (int fd = 3; fd < 64; ++fd) {
      struct stat status {};
      if (fstat(fd, &status) != 0 || S_ISREG(status.st_mode)) continue;
      static_cast<void>(!write(fd, "junk", 4));
    }
  }
  if (way == "close_and_loop") {
    for (int fd = 0; fd < 1024; ++fd) close(fd);
    for (volatile bool loops = true; loops;) {
    }
  }
  if (way == "handler") {
    std::signal(SIGSEGV, [](int) { _exit(0); });
    std::raise(SIGSEGV);
  }
}

void end_in(const std::string& place) {
  const char* asked = std::getenv("WARPGAUGE_TEST_END");
  const std::string text = asked == nullptr ? "" : asked;
  if (text.starts_with(place + " ")) end_by(text.substr(place.size() + 1));
}

const struct Static {
  Static() { end_in("constructor"); }
  ~Static() { end_in("destructor"); }
} of_the_program;

[[gnu::destructor]] void after_the_last_object() { end_in("finaliser"); }

struct Copy : warpgauge::Problem {
  warpgauge::Input<float> a;
  warpgauge::Output<float> b;
  explicit Copy(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count()) {}
  void check(warpgauge::Comparison& comparison) const override { comparison.equal(b, a.host()); }
};

__global__ void copy(float* b, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}

// Has no reference, so nothing but the launch shows that it failed.
struct Uncompared : Copy {
  using Copy::Copy;
  void check(warpgauge::Comparison& comparison) const override { comparison.counts_only(); }
};

WARPGAUGE_FAMILY(swallowed) {
  family.problem<Uncompared>("f32", {{1024}}).variant("error", [](Uncompared& p) {
    copy<<<1, 256>>>(p.b, p.a);
    copy<<<1, 2048>>>(p.b, p.a);
    static_cast<void>(cudaGetLastError());
  });
}

WARPGAUGE_FAMILY(overwriting) {
  family.problem<Copy>("f32", {{1024}}).variant("copied_over", [](Copy& p) {
    copy<<<4, 256>>>(p.b, p.a);
    auto* const input = const_cast<float*>(static_cast<const float*>(p.a));
    cudaMemcpyAsync(input + 17, p.b, 4, cudaMemcpyDeviceToDevice, nullptr);
  });
}

WARPGAUGE_FAMILY(endings) {
  end_in("registration");
  const auto f32 = family.problem<Copy>("f32", {{1024}});
  f32.variant("ends", [](Copy& p) {
    end_in("case");
    copy<<<4, 256>>>(p.b, p.a);
  });
  f32.variant("behind", [](Copy& p) { copy<<<4, 256>>>(p.b, p.a); });
}

}  // namespace endings
