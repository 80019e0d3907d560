// Has the table of past architectures, and the toolkits that introduced each architecture.
#include "metrics/architecture/past_architectures.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpgauge::metrics {
namespace {

constexpr int kKi = 1024;
constexpr int kSmallParameters = 256;  // in shared memory; from 2.0 on in the constant bank
constexpr int kParameters = 4096;

// Limits and features: "Features and Technical Specifications" of the CUDA C Programming Guides 4.2
// (1.x, 2.x), 6.5 (3.x, 5.x), 9.2 (6.x, 7.x); parameters of 7.x: of 12.1. Toolkits: the CUDA
// release of the PTX version that brought a target (PTX ISA, "Release Notes"), and the last whose
// release notes do not drop it. L2: of G80 and its successors (none), GF100, GF104, GK104, GK110,
// GK210, GM107, GM200, Tegra X1, GP100, GP102, Tegra X2, GV100, Xavier.
constexpr PastArchitecture kPast[] = {
    // cc, generation, toolkits | threads, blocks, registers, registers a thread, KiB of shared
    // memory, banks | bytes of parameters, KiB of L2 | features
    {1, 0, "Tesla", "1.0", "6.0", 768, 8, 8 * kKi, 124, 16, 16, kSmallParameters, 0,
     "shared memory and barriers; half-warps coalesce if lane k reads word k"},
    {1, 1, "Tesla", "1.0", "6.5", 768, 8, 8 * kKi, 124, 16, 16, kSmallParameters, 0,
     "atomics on 32-bit words of global memory"},
    {1, 2, "Tesla", "2.0", "6.5", 1024, 8, 16 * kKi, 124, 16, 16, kSmallParameters, 0,
     "atomics in shared memory and on 64-bit words, votes of a warp; half-warps coalesce by "
     "segments"},
    {1, 3, "Tesla", "2.0", "6.5", 1024, 8, 16 * kKi, 124, 16, 16, kSmallParameters, 0,
     "double precision"},
    {2, 0, "Fermi", "3.0", "8.0", 1536, 8, 32 * kKi, 63, 48, 32, kParameters, 768,
     "L1 and L2 caches, requests of whole warps, atomicAdd of float, ballot, barriers that vote, "
     "fences of the system, calls with a stack, printf and malloc, surfaces, 3D grids"},
    {2, 1, "Fermi", "3.2", "8.0", 1536, 8, 32 * kKi, 63, 48, 32, kParameters, 512,
     "two instructions of a warp at once"},
    {3, 0, "Kepler", "4.2", "10.2", 2048, 16, 64 * kKi, 63, 48, 32, kParameters, 512,
     "shuffle, banks of 4 or 8 bytes, texture objects, managed memory, grids of 2^31 - 1 blocks"},
    {3, 5, "Kepler", "5.0", "11.8", 2048, 16, 64 * kKi, 255, 48, 32, kParameters, 1536,
     "dynamic parallelism, funnel shift, loads through the texture cache (__ldg), 64-bit atomic "
     "min, max, and, or, xor"},
    {3, 7, "Kepler", "6.5", "11.8", 2048, 16, 128 * kKi, 255, 112, 32, kParameters, 1536,
     "twice the registers and shared memory of 3.5"},
    {5, 0, "Maxwell", "6.0", "12.9", 2048, 32, 64 * kKi, 255, 64, 32, kParameters, 2048,
     "atomics of shared memory in hardware, banks of 4 bytes only"},
    {5, 2, "Maxwell", "6.5", "12.9", 2048, 32, 64 * kKi, 255, 96, 32, kParameters, 3072,
     "more shared memory than 5.0"},
    {5, 3, "Maxwell", "7.0", "12.9", 2048, 32, 64 * kKi, 255, 64, 32, kParameters, 256,
     "arithmetic of half precision"},
    {6, 0, "Pascal", "8.0", "12.9", 2048, 32, 64 * kKi, 255, 64, 32, kParameters, 4096,
     "atomicAdd of double, atomics of block and system scope, managed memory by page faults"},
    {6, 1, "Pascal", "8.0", "12.9", 2048, 32, 64 * kKi, 255, 96, 32, kParameters, 3072,
     "dot products of 8- and 16-bit integers"},
    {6, 2, "Pascal", "8.0", "12.9", 2048, 32, 64 * kKi, 255, 64, 32, kParameters, 512,
     "for embedded systems"},
    {7, 0, "Volta", "9.0", "12.9", 2048, 32, 64 * kKi, 255, 96, 32, kParameterBytes, 6144,
     "tensor cores (half), lanes that are scheduled apart, one memory for L1 and shared memory, "
     "96 KiB a block"},
    {7, 2, "Volta", "9.1", "12.9", 2048, 32, 64 * kKi, 255, 96, 32, kParameterBytes, 512,
     "tensor cores for integers; for embedded systems"},
};

struct Toolkit {
  int major, minor;
  std::string_view first;
};

// PTX versions that brought the targets: 6.3, 7.0, 7.1, 7.4, 9.0, 7.8, 7.8, 8.6, 8.8, 9.0, 8.7,
// 8.8.
constexpr Toolkit kToolkits[] = {{7, 5, "10.0"},  {8, 0, "11.0"},  {8, 6, "11.1"},
                                 {8, 7, "11.4"},  {8, 8, "13.0"},  {8, 9, "11.8"},
                                 {9, 0, "11.8"},  {10, 0, "12.8"}, {10, 3, "12.9"},
                                 {11, 0, "13.0"}, {12, 0, "12.8"}, {12, 1, "12.9"}};

}  // namespace

std::span<const PastArchitecture> past_architectures() { return kPast; }

std::string_view first_toolkit(const Architecture& architecture) {
  const auto* const found = std::ranges::find_if(kToolkits, [&](const Toolkit& toolkit) {
    return toolkit.major == architecture.major && toolkit.minor == architecture.minor;
  });
  if (found != std::end(kToolkits)) return found->first;
  throw std::invalid_argument("no toolkit is known for " + architecture.name());
}

}  // namespace warpgauge::metrics
