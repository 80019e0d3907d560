// A whole program of several processes: copies numbers, and forks children that copy as well, or do
// not, as its arguments say in order: "launch", or how a child is made and what it does.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

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
  if (what == "starts_bare") {  // without the environment of this process
    char* const arguments[] = {program, const_cast<char*>("launch"), nullptr};
    char* const none[] = {nullptr};
    execve(program, arguments, none);
  }
  if (what == "starts_cleared") {
    clearenv();
    execlp(program, program, "launch", nullptr);
  }
  if (what == "starts_shell") {
    clearenv();
    return std::system((std::string(program) + " launch").c_str()) == 0;
  }
  if (what == "outlives") {  // its parent
    sleep(1);
    return launch();
  }
  if (what == "becomes_daemon") return daemon(1, 1) == 0 && act("outlives", program);
  if (what == "ends_first_thread") {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      launch();
    }).detach();
    pthread_exit(nullptr);
  }
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
    if (step != "outlives") wait(nullptr);
  }
  std::printf("%s\n", is_right ? "PASSED" : "FAILED");
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
