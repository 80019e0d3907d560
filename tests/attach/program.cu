// A CUDA program built without warpgauge, with many ways to launch and many ways to end:
// program WAY [LAUNCHES]. Each launch of by_columns<32> has 992 bank conflicts, of by_columns<33>
// none; both load and store 1024 words, 128 sectors each way.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kWarp = 32;
constexpr int kTile = kWarp * kWarp;

void need(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(9);
}

void need(CUresult error, const char* what) {
  if (error == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: error %d of the driver\n", what, static_cast<int>(error));
  std::exit(9);
}

}  // namespace

#define NEED(call) need(call, #call)

template <int Pitch>
__global__ void by_columns(int* out, const int* in) {
  __shared__ int tile[kWarp][Pitch];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * kWarp + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * kWarp + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void goes_astray(int* out) { out[threadIdx.x + (1ll << 40)] = 1; }

__global__ void loops(int* out, int turns) {
  int x = threadIdx.x;
  for (int i = 0; i < turns; ++i) x = x * 1664525 + 1013904223;
  out[threadIdx.x] = x;
}

__device__ __noinline__ int adds(int x) { return x + 1; }
__device__ __noinline__ int turns_over(int x) { return ~x; }
__device__ int (*const kSteps[])(int) = {adds, turns_over};

// Calls one of the functions, which it shares with the others of its kind.
template <int Step>
__global__ void calls(int* out, int from) {
  int x = threadIdx.x;
  for (int i = from; i <= Step; ++i) x = kSteps[i](x);
  out[threadIdx.x] = x;
}

// Waits until the other GPUs have come to the same turn.
__global__ void meet(volatile int* turns, int me, int gpus, int turn) {
  turns[me] = turn;
  __threadfence_system();
  for (int other = 0; other < gpus; ++other) {
    while (turns[other] < turn) {
    }
  }
}

namespace {

struct Memory {
  int *in = nullptr, *out = nullptr;
  Memory() {
    NEED(cudaMalloc(&in, kTile * sizeof(int)));
    NEED(cudaMalloc(&out, kTile * sizeof(int)));
    NEED(cudaMemset(in, 1, kTile * sizeof(int)));
  }
};

Memory& memory() {
  static Memory shared;
  return shared;
}

template <int Pitch>
void launch(cudaStream_t stream = nullptr, const Memory& in = memory()) {
  by_columns<Pitch><<<1, dim3(kWarp, kWarp), 0, stream>>>(in.out, in.in);
  NEED(cudaGetLastError());
}

void both(int launches) {
  for (int i = 0; i < launches; ++i) {
    launch<32>();
    launch<33>();
  }
}

void wait() { NEED(cudaDeviceSynchronize()); }

void several_streams(int launches) {
  std::vector<cudaStream_t> streams(4);
  for (auto& stream : streams) NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < launches; ++i) {
    launch<32>(streams[i % streams.size()]);
    launch<33>(streams[(i + 1) % streams.size()]);
    if (i % 7 == 0) NEED(cudaStreamSynchronize(streams[i % streams.size()]));
  }
  for (auto& stream : streams) NEED(cudaStreamDestroy(stream));
  wait();
}

void several_threads(int launches) {
  memory();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([launches, t] {
      for (int i = t; i < launches; i += 4) both(1);
      NEED(cudaStreamSynchronize(nullptr));
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait();
}

// Launches, and waits each time, in several threads at once; the code is first needed in one of
// them.
void busy_threads(int launches) {
  memory();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([launches, t] {
      cudaStream_t stream = nullptr;
      NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int i = t; i < launches; i += 4) {
        launch<32>(stream);
        launch<33>(stream);
        NEED(cudaStreamSynchronize(stream));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Launches from a thread that did not make the context: there other calls load code.
void thread_that_asks(int launches) {
  memory();
  std::thread([launches] {
    cudaFuncAttributes attributes;
    NEED(cudaFuncGetAttributes(&attributes, by_columns<33>));
    both(launches);
    wait();
  }).join();
}

// Kernels that share functions, which they call by pointers; there is time to take the counts of
// the one before the other comes.
void shared_functions(int launches) {
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  both(launches);
  for (int i = 0; i < launches; ++i) {
    calls<0><<<1, kWarp>>>(memory().out, 0);
    wait();
    pause();
    wait();
    calls<1><<<1, kWarp>>>(memory().out, 0);
    wait();
    pause();
    wait();
  }
}

// Launches on each GPU without waiting between them.
void several_devices(int launches) {
  int count = 0;
  NEED(cudaGetDeviceCount(&count));
  for (int device = 0; device < count; ++device) {
    NEED(cudaSetDevice(device));
    memory() = {};
    both(launches);
  }
  for (int device = 0; device < count; ++device) {
    NEED(cudaSetDevice(device));
    wait();
  }
}

// Runs a thread for each GPU, whose kernels wait for those of the others. Yet other threads load
// code meanwhile.
void devices_that_meet(int launches) {
  int count = 0;
  int* turns = nullptr;
  NEED(cudaGetDeviceCount(&count));
  NEED(cudaHostAlloc(&turns, count * sizeof(int), cudaHostAllocPortable));
  std::memset(turns, 0, count * sizeof(int));
  std::vector<std::thread> threads;
  for (int device = 0; device < count; ++device) {
    threads.emplace_back([=] {
      NEED(cudaSetDevice(device));
      const Memory memory;
      cudaStream_t stream = nullptr;
      NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      for (int i = 0; i < launches; ++i) {
        launch<32>(stream, memory);
        meet<<<1, 1, 0, stream>>>(turns, device, count, i + 1);
        launch<33>(stream, memory);
        if (i != launches / 2) continue;
        std::thread([device] {
          cudaFuncAttributes attributes;
          NEED(cudaSetDevice(device));
          NEED(cudaFuncGetAttributes(&attributes, loops));
        }).join();
        loops<<<1, kWarp, 0, stream>>>(memory.out, 1);
      }
      NEED(cudaStreamSynchronize(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void cooperative(int launches) {
  void* arguments[] = {&memory().out, &memory().in};
  for (int i = 0; i < launches; ++i) {
    NEED(cudaLaunchCooperativeKernel(by_columns<32>, dim3(1), dim3(kWarp, kWarp), arguments, 0,
                                     nullptr));
    launch<33>();
  }
  wait();
}

// A graph that is made of by_columns<33> and then updated to one of by_columns<32>, too.
void updated_graph(int launches) {
  memory();
  cudaStream_t stream = nullptr;
  NEED(cudaStreamCreate(&stream));
  const auto record = [&](bool twice) {
    cudaGraph_t graph = nullptr;
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    twice ? launch<32>(stream) : launch<33>(stream);
    launch<33>(stream);
    NEED(cudaStreamEndCapture(stream, &graph));
    return graph;
  };
  cudaGraphExec_t ready = nullptr;
  NEED(cudaGraphInstantiate(&ready, record(false), 0));
  cudaGraphExecUpdateResultInfo result{};
  NEED(cudaGraphExecUpdate(ready, record(true), &result));
  for (int i = 0; i < launches; ++i) NEED(cudaGraphLaunch(ready, stream));
  NEED(cudaStreamSynchronize(stream));
}

// A graph of by_columns<33> three times, of which one becomes by_columns<32> and one is not
// launched.
void changed_graph(int launches) {
  cudaStream_t stream = nullptr;
  NEED(cudaStreamCreate(&stream));
  cudaGraph_t recorded = nullptr;
  cudaGraphExec_t ready = nullptr;
  const Memory& in = memory();
  NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) launch<33>(stream);
  NEED(cudaStreamEndCapture(stream, &recorded));
  NEED(cudaGraphInstantiate(&ready, recorded, 0));
  cudaGraphNode_t nodes[3] = {};
  std::size_t count = 3;
  NEED(cudaGraphGetNodes(recorded, nodes, &count));
  int* out = in.out;
  const int* from = in.in;
  void* arguments[] = {&out, &from};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(by_columns<32>);
  params.gridDim = dim3(1);
  params.blockDim = dim3(kWarp, kWarp);
  params.kernelParams = arguments;
  NEED(cudaGraphExecKernelNodeSetParams(ready, nodes[0], &params));
  NEED(cudaGraphNodeSetEnabled(ready, nodes[1], 0));
  for (int i = 0; i < launches; ++i) NEED(cudaGraphLaunch(ready, stream));
  NEED(cudaStreamSynchronize(stream));
}

// Each replay launches by_columns<32> twice and by_columns<33> once.
void graph(int launches, bool late) {
  memory();
  cudaStream_t stream = nullptr;
  NEED(cudaStreamCreate(&stream));
  cudaGraph_t recorded = nullptr;
  cudaGraphExec_t ready = nullptr;
  NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch<32>(stream);
  launch<33>(stream);
  launch<32>(stream);
  NEED(cudaStreamEndCapture(stream, &recorded));
  NEED(cudaGraphInstantiate(&ready, recorded, 0));
  if (late) {  // code that was not there when the graph was made
    cudaFuncAttributes attributes;
    NEED(cudaFuncGetAttributes(&attributes, loops));
    loops<<<1, kWarp>>>(memory().out, 1);
    wait();
  }
  for (int i = 0; i < launches; ++i) NEED(cudaGraphLaunch(ready, stream));
  NEED(cudaStreamSynchronize(stream));
}

// A context of its own beside the runtime's, with code that is compiled when it is loaded.
void another_context(int launches) {
  constexpr const char* kPtx = R"(
    .version 7.0
    .target sm_70
    .address_size 64
    .visible .entry compiled_here(.param .u64 out) {
      .reg .u64 %a; .reg .u32 %t; .reg .u64 %o;
      ld.param.u64 %a, [out];
      mov.u32 %t, %tid.x;
      mul.wide.u32 %o, %t, 128;
      add.u64 %a, %a, %o;
      st.global.u32 [%a], %t;
      ret;
    })";
  both(launches);
  wait();
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  NEED(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
  NEED(cuCtxCreate(&context, nullptr, 0, device));
#else
  NEED(cuCtxCreate(&context, 0, device));
#endif
  NEED(cuModuleLoadData(&module, kPtx));
  NEED(cuModuleGetFunction(&function, module, "compiled_here"));
  NEED(cuMemAlloc(&out, kWarp * 128));
  void* arguments[] = {&out};
  for (int i = 0; i < launches; ++i) {
    NEED(cuLaunchKernel(function, 1, 1, 1, kWarp, 1, 1, 0, nullptr, arguments, nullptr));
  }
  NEED(cuCtxSynchronize());
  NEED(cuModuleUnload(module));
  NEED(cuCtxDestroy(context));
}

// To time.
void much_work(int launches) {
  for (int i = 0; i < launches; ++i) loops<<<256, 256>>>(memory().out, 20000);
  wait();
}

void reset_between(int launches) {
  both(launches / 2);
  NEED(cudaDeviceReset());
  memory() = {};
  both(launches - launches / 2);
  wait();
}

void children(char** argv, int launches) {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string count = std::to_string(launches);
      execl("/proc/self/exe", argv[0], "plain", count.c_str(), nullptr);
      _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::exit(9);
  }
  both(launches);
  wait();
}

[[noreturn]] void end(const std::string& way) {
  if (way == "fails") std::exit(7);
  if (way == "aborts") std::abort();
  if (way == "terminated") std::raise(SIGTERM);
  if (way == "crashes") *static_cast<volatile int*>(nullptr) = 1;
  if (way == "killed") std::raise(SIGKILL);
  if (way == "hurries" || way == "vanishes") _exit(0);
  if (way == "becomes") execl("/bin/echo", "echo", "another program", nullptr);
  if (way == "astray") {
    goes_astray<<<1, kWarp>>>(memory().out);
    const cudaError_t error = cudaDeviceSynchronize();
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(5);
  }
  if (way == "resets") NEED(cudaDeviceReset());
  std::exit(0);
}

}  // namespace

// Tidies up when main() is over, and after what was there before it: before the CUDA runtime.
struct Tidy {
  bool resets = false;
  ~Tidy() {
    if (resets) cudaDeviceReset();
  }
} tidy;

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "plain";
  const int launches = argc > 2 ? std::atoi(argv[2]) : 10;
  std::printf("out of the program\n");
  std::fflush(stdout);
  tidy.resets = way == "tidies";
  const std::map<std::string, std::function<void(int)>> ways = {
      {"streams", several_streams},
      {"threads", several_threads},
      {"busy", busy_threads},
      {"shares", shared_functions},
      {"asks", thread_that_asks},
      {"graph", [](int times) { graph(times, false); }},
      {"graph_late", [](int times) { graph(times, true); }},
      {"graph_updated", updated_graph},
      {"graph_changed", changed_graph},
      {"devices", several_devices},
      {"devices_that_meet", devices_that_meet},
      {"cooperative", cooperative},
      {"context", another_context},
      {"children", [&](int times) { children(argv, times); }},
      {"nothing", [](int) { wait(); }},
      {"long", much_work},
      {"restarts", reset_between},
      {"unwaited", both},
      {"vanishes", both},
  };
  if (const auto found = ways.find(way); found != ways.end()) {
    found->second(launches);
  } else {
    both(launches);
    wait();
  }
  end(way);
}
