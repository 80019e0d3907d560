// A whole program of several processes: copies numbers, and forks children that copy as well, or do
// not, as its arguments say in order: "launch", or how a child is made and what it does.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

constexpr int kNumbers = 1000;

__global__ void copy(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kNumbers) out[i] = in[i];
}

bool launch() {
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kNumbers * sizeof(float));
  cudaMalloc(&out, kNumbers * sizeof(float));
  cudaMemset(in, 0, kNumbers * sizeof(float));
  copy<<<(kNumbers + 255) / 256, 256>>>(out, in);
  const bool is_right = cudaDeviceSynchronize() == cudaSuccess;
  cudaFree(in);
  cudaFree(out);
  return is_right;
}

// Acts as a child, which then returns from main() unless it has ended.
bool act(const std::string& what, char* program) {
  if (what == "idle") return true;
  if (what == "starts") execl(program, program, "launch", nullptr);
  if (!launch()) return false;
  if (what == "launches") return true;
  if (what == "launches_twice") return launch();
  if (what == "_exit") _exit(0);
  if (what == "SIGTERM") raise(SIGTERM);
  if (what == "SIGKILL") raise(SIGKILL);
  if (what == "exec") execl("/bin/true", "true", nullptr);
  return false;
}

int main(int argc, char** argv) {
  bool is_right = argc > 1 || launch();
  for (int i = 1; i < argc && is_right; ++i) {
    const std::string step = argv[i];
    if (step == "launch") {
      is_right = launch();
      continue;
    }
    std::fflush(stdout);
    if (fork() == 0) return act(step, argv[0]) ? EXIT_SUCCESS : EXIT_FAILURE;
    wait(nullptr);
  }
  std::printf("%s\n", is_right ? "PASSED" : "FAILED");
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
