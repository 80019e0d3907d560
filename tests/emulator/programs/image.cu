// A whole program: halves an image through a texture with linear filtering into a surface, and
// smooths it in a cooperative launch with a barrier of the grid.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                         \
  if (const cudaError_t error_ = (call); error_ != cudaSuccess) {                           \
    std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_)); \
    return EXIT_FAILURE;                                                                    \
  }

__global__ void halve(cudaTextureObject_t image, cudaSurfaceObject_t out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float mean = tex2D<float>(image, (x + 0.5f) / width, (y + 0.5f) / height);
  surf2Dwrite(mean, out, x * static_cast<int>(sizeof(float)), y);
}

// Every value becomes the mean of itself and its neighbours, as often as there are rounds.
__global__ void smooth(float* values, float* scratch, int n, int rounds) {
  const auto grid = cooperative_groups::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    if (i < n) {
      const float left = values[i == 0 ? 0 : i - 1], right = values[i == n - 1 ? i : i + 1];
      scratch[i] = (left + values[i] + right) * 0.25f;
    }
    grid.sync();
    if (i < n) values[i] = scratch[i];
    grid.sync();
  }
}

int main() {
  const int width = 48, height = 20;
  std::vector<unsigned char> image(4 * width * height);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<unsigned char>(i * 7);

  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaArray_t source = nullptr, target = nullptr;
  CHECK(cudaMallocArray(&source, &bytes, 2 * width, 2 * height));
  CHECK(cudaMallocArray(&target, &floats, width, height, cudaArraySurfaceLoadStore));
  CHECK(cudaMemcpy2DToArray(source, 0, 0, image.data(), 2 * width, 2 * width, 2 * height,
                            cudaMemcpyHostToDevice));

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = source;
  cudaTextureDesc desc{};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  desc.filterMode = cudaFilterModeLinear;
  desc.readMode = cudaReadModeNormalizedFloat;
  desc.normalizedCoords = 1;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  resource.res.array.array = target;
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));

  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  halve<<<grid, block>>>(texture, surface, width, height);
  CHECK(cudaGetLastError());
  std::vector<float> halved(width * height);
  CHECK(cudaMemcpy2DFromArray(halved.data(), width * sizeof(float), target, 0, 0,
                              width * sizeof(float), height, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = [&](int dx, int dy) {
        return image[(2 * y + dy) * 2 * width + 2 * x + dx] / 255.0f;
      };
      const float mean = (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4;
      const float difference = halved[y * width + x] - mean;
      wrong += difference > 1e-5f || difference < -1e-5f;
    }
  }

  const int n = 100, rounds = 5;
  std::vector<float> expected(n), next(n);
  float* values = nullptr;
  CHECK(cudaMallocManaged(&values, 2 * n * sizeof(float)));
  for (int i = 0; i < n; ++i) values[i] = expected[i] = static_cast<float>(i * i % 64);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i) {
      const float left = expected[i == 0 ? 0 : i - 1], right = expected[i == n - 1 ? i : i + 1];
      next[i] = (left + expected[i] + right) * 0.25f;
    }
    expected.swap(next);
  }
  float* scratch = values + n;
  int count = n, times = rounds;
  void* arguments[] = {&values, &scratch, &count, &times};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(smooth), dim3(4), dim3(32),
                                    arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) wrong += values[i] != expected[i];

  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(source));
  CHECK(cudaFreeArray(target));
  CHECK(cudaFree(values));
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
