// Records the approximate functions of a device in FOLDER: sums over the results of all arguments
// (NAME.sums), and for fit.py the results of some binades (table.NAME.EXPONENT, biased).
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "tests/gpu/approximation_sums.cuh"

namespace {

using namespace warpgauge::approximation;  // NOLINT: a program of one file

template <typename Word>
void write(const std::string& path, const std::vector<Word>& words) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(words.data()),
            static_cast<std::streamsize>(words.size() * sizeof(Word)));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

template <typename Form>
__global__ void tabulate(std::uint32_t* results, std::uint32_t first) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  results[i] = Form::of(first + i);
}

/// Of positive arguments from 2^first to 2^(last + 1).
template <typename Form>
void write_binades(const std::string& path, int first, int last) {
  constexpr unsigned kCount = 1 << 23;
  std::vector<std::uint32_t> host(kCount);
  std::uint32_t* device = nullptr;
  WARPGAUGE_CUDA(cudaMalloc(&device, kCount * sizeof(std::uint32_t)));
  for (int exponent = first; exponent <= last; ++exponent) {
    const std::uint32_t biased = static_cast<std::uint32_t>(exponent + 127);
    tabulate<Form><<<kCount / kThreads, kThreads>>>(device, biased << 23);
    WARPGAUGE_CUDA(cudaGetLastError());
    WARPGAUGE_CUDA(
        cudaMemcpy(host.data(), device, kCount * sizeof(std::uint32_t), cudaMemcpyDeviceToHost));
    write(path + "." + std::to_string(biased), host);
  }
  WARPGAUGE_CUDA(cudaFree(device));
}

void record(const std::string& folder) {
  all_sums([&](const std::string& form, std::vector<std::uint64_t> sums) {
    if (sums.size() == 3) sums.resize(1);  // of halves: those of single values
    write(folder + "/" + form + ".sums", sums);
  });
  const std::string table = folder + "/table.";
  write_binades<RcpFtz>(table + "rcp", 0, 0);
  write_binades<RsqrtFtz>(table + "rsqrt", 0, 1);
  write_binades<SqrtFtz>(table + "sqrt", 0, 1);
  write_binades<Ex2Ftz>(table + "ex2", 0, 0);
  write_binades<Lg2Ftz>(table + "lg2", 0, 0);
  write_binades<SinFtz>(table + "sin", -10, 0);
  write_binades<Tanh>(table + "tanh", -8, 2);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  try {
    record(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
