// Cases of a program whose own code ends it with exit code 0, throws exceptions that say little,
// makes copies of it, writes to the descriptors that the harness has open, or closes all and loops.
// WARPGAUGE_TEST_END="PLACE WAY" says where and how (kPlaces, kWays); without it they are good.
// Beside them stand cases that end nothing, and hide a failed launch or write to their input.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "warpgauge/warpgauge.h"

namespace endings {

// To pipes and sockets that the harness may have open. 0 to 2 are the program's own, and regular
// files carry no messages.
void write_to_descriptors() {
  for (int fd = 3; fd < 64; ++fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0 || S_ISREG(status.st_mode)) continue;
    static_cast<void>(!write(fd, "junk", 4));
  }
}

void close_and_loop() {
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  for (volatile bool loops = true; loops;) {
  }
}

void fork_and_stay() {
  if (fork() != 0) return;
  sleep(4);
  _exit(0);
}

void fork_and_wait() {
  if (fork() == 0) _exit(0);
  static_cast<void>(wait(nullptr));
}

void handle_a_crash() {
  std::signal(SIGSEGV, [](int) { _exit(0); });
  std::raise(SIGSEGV);
}

const struct {
  const char* name;
  void (*end)();
} kWays[] = {
    {"exit", [] { std::exit(0); }},
    {"_exit", [] { _exit(0); }},
    {"_Exit", [] { std::_Exit(0); }},
    {"quick_exit", [] { std::quick_exit(0); }},
    {"throw_stoi", [] { static_cast<void>(std::stoi("none")); }},
    {"throw_without_text", [] { throw std::runtime_error(""); }},
    {"thread", [] { std::thread([] { std::exit(0); }).join(); }},
    {"fork", [] { static_cast<void>(fork()); }},
    {"fork_and_throw",
     [] {
       if (fork() == 0) throw std::runtime_error("in the child");
     }},
    {"fork_and_stay", fork_and_stay},
    {"fork_and_wait", fork_and_wait},
    {"write", write_to_descriptors},
    {"close_and_loop", close_and_loop},
    {"handler", handle_a_crash},
};
const char* const kPlaces[] = {"constructor", "destructor", "finaliser", "registration", "case"};

// WARPGAUGE_TEST_END, whose place and way are empty if it is not set.
struct Asked {
  std::string text, place, way;

  Asked() {
    const char* value = std::getenv("WARPGAUGE_TEST_END");
    if (value == nullptr) return;
    text = value;
    place = text.substr(0, text.find(' '));
    if (place != text) way = text.substr(place.size() + 1);
  }
  [[noreturn]] void refuse(const char* what, const std::string& name) const {
    std::fprintf(stderr, "WARPGAUGE_TEST_END='%s': there is no %s '%s'\n", text.c_str(), what,
                 name.c_str());
    std::abort();
  }
  void end() const {
    for (const auto& known : kWays) {
      if (way == known.name) return known.end();
    }
  }
  void check() const {
    bool is_place = false, is_way = false;
    for (const char* known : kPlaces) is_place |= place == known;
    for (const auto& known : kWays) is_way |= way == known.name;
    if (!is_place) refuse("place", place);
    if (!is_way) refuse("way", way);
  }
};

void end_in(const char* place) {
  const Asked asked;
  if (asked.place == place) asked.end();
}

const struct Static {
  Static() {
    if (const Asked asked; !asked.text.empty()) asked.check();
    end_in("constructor");
  }
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
