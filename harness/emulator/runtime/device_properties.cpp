// Properties of the emulated GPU, as a structure and as single attributes.
#include "harness/emulator/runtime/device_properties.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace warpgauge::emulator::runtime {
namespace {

constexpr int kNominalClockKhz = 1'000'000;
constexpr int kMemSyncDomains = 4;  // which change nothing here

void set_texture_limits(cudaDeviceProp& out) {
  out.textureAlignment = kTextureAlignment;
  out.texturePitchAlignment = kTexturePitchAlignment;
  out.surfaceAlignment = kTextureAlignment;
  out.maxTexture1D = out.maxTexture2D[0] = out.maxSurface2D[0] = out.maxTexture2DLinear[0] = 131072;
  out.maxTexture2D[1] = out.maxSurface2D[1] = 65536;
  out.maxTexture2DLinear[1] = 65000;
  out.maxTexture2DLinear[2] = 2097120;
  out.maxTexture1DMipmap = out.maxTexture2DMipmap[0] = out.maxTexture2DMipmap[1] = 32768;
  out.maxTexture2DGather[0] = out.maxTexture2DGather[1] = 32768;
  std::ranges::fill(out.maxTexture3D, 16384);
  std::ranges::fill(out.maxSurface3D, 16384);
  out.maxTexture3DAlt[0] = out.maxTexture3DAlt[1] = 8192;
  out.maxTexture3DAlt[2] = 32768;
  out.maxTexture1DLayered[0] = out.maxSurface1DLayered[0] = out.maxSurface1D = 32768;
  out.maxTexture1DLayered[1] = out.maxSurface1DLayered[1] = 2048;
  out.maxTexture2DLayered[0] = out.maxTexture2DLayered[1] = 32768;
  out.maxSurface2DLayered[0] = out.maxSurface2DLayered[1] = 32768;
  out.maxTexture2DLayered[2] = out.maxSurface2DLayered[2] = 2048;
  out.maxTextureCubemap = out.maxSurfaceCubemap = 32768;
  out.maxTextureCubemapLayered[0] = out.maxSurfaceCubemapLayered[0] = 32768;
  out.maxTextureCubemapLayered[1] = out.maxSurfaceCubemapLayered[1] = 2046;
}

void set_block_limits(cudaDeviceProp& out, const metrics::Architecture& limits) {
  out.warpSize = kWarpSize;
  out.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::ranges::copy(kMaxBlockDimensions, out.maxThreadsDim);
  std::ranges::copy(kMaxGridDimensions, out.maxGridSize);
  out.maxThreadsPerMultiProcessor = limits.max_threads_per_multiprocessor;
  out.maxBlocksPerMultiProcessor = limits.max_blocks_per_multiprocessor;
  out.regsPerBlock = limits.registers_per_block;
  out.regsPerMultiprocessor = limits.registers_per_multiprocessor;
  out.sharedMemPerBlock = limits.shared_per_block;
  out.sharedMemPerBlockOptin = limits.shared_per_block_opt_in;
  out.sharedMemPerMultiprocessor = limits.shared_per_multiprocessor;
  out.reservedSharedMemPerBlock = limits.shared_reserved_per_block;
  out.totalConstMem = 65536;
}

// Measured on an H100. Of other chips the CUDA Programming Guide says that up to 75 % can be set
// aside, from compute capability 8.0 on.
void set_persisting_l2(cudaDeviceProp& out, const metrics::Architecture& limits) {
  if (limits.major < 8) return;
  const bool is_measured = limits.major == 9;
  out.persistingL2CacheMaxSize = is_measured ? 32'768'000 : out.l2CacheSize / 4 * 3;
  out.accessPolicyMaxWindowSize = is_measured ? 128 << 20 : out.l2CacheSize;
}

/// A number in the environment; 0 where there is none.
std::uint64_t number_in(const char* variable) {
  std::uint64_t number = 0;
  const char* const text = std::getenv(variable);
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

}  // namespace

std::size_t device_memory_bytes() {
  static const std::uint64_t given = number_in("WARPGAUGE_EMULATED_MEMORY");
  static const std::size_t of_host = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                     static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return given != 0 ? given : of_host;
}

int driver_version() {
  static const auto given = static_cast<int>(number_in("WARPGAUGE_EMULATED_DRIVER"));
  return given != 0 ? given : CUDART_VERSION;
}

cudaDeviceProp properties_of(const std::string& arch, const metrics::Architecture& limits) {
  cudaDeviceProp out{};
  const std::string name = metrics::emulated_gpu(arch);
  name.copy(out.name, sizeof out.name - 1);
  const std::string id = "emulated " + arch;  // "sm_100a" just fits
  id.copy(out.uuid.bytes, sizeof out.uuid.bytes);
  out.totalGlobalMem = device_memory_bytes();
  out.memPitch = 2147483647;
  out.major = limits.major;
  out.minor = limits.minor;
  out.multiProcessorCount = limits.multiprocessors;
  out.l2CacheSize = limits.l2_mib << 20;
  out.memoryBusWidth = limits.bus_bits;
  set_persisting_l2(out, limits);
  set_block_limits(out, limits);
  set_texture_limits(out);
  out.canMapHostMemory = 1;
  out.concurrentKernels = 1;
  out.asyncEngineCount = 3;
  out.unifiedAddressing = 1;
  out.streamPrioritiesSupported = 1;
  out.globalL1CacheSupported = 1;
  out.localL1CacheSupported = 1;
  out.managedMemory = 1;
  out.concurrentManagedAccess = 1;
  out.directManagedMemAccessFromHost = 1;
  out.computePreemptionSupported = 1;
  out.canUseHostPointerForRegisteredMem = 1;
  out.hostRegisterSupported = 1;
  out.hostRegisterReadOnlySupported = 1;
  out.cooperativeLaunch = 1;
  out.clusterLaunch = limits.major >= 9 ? 1 : 0;
  out.memoryPoolsSupported = 1;
  out.hostNumaId = -1;
#if CUDART_VERSION < 13000
  out.clockRate = kNominalClockKhz;
  out.memoryClockRate = kNominalClockKhz;
  out.deviceOverlap = 1;
  out.maxTexture1DLinear = kMaxTexture1dLinear;
  out.singleToDoublePrecisionPerfRatio = 2;
#endif
  return out;
}

std::optional<int> attribute_of(cudaDeviceAttr attribute, const std::string& arch,
                                const metrics::Architecture& limits) {
  const cudaDeviceProp p = properties_of(arch, limits);
  const auto number = [](std::size_t bytes) { return static_cast<int>(bytes); };
  // clang-format off
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX: return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY: return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ: return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return number(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory: return number(p.totalConstMem);
    case cudaDevAttrWarpSize: return p.warpSize;
    case cudaDevAttrMaxPitch: return number(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock: return p.regsPerBlock;
    case cudaDevAttrClockRate: return kNominalClockKhz;
    case cudaDevAttrTextureAlignment: return number(p.textureAlignment);
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrKernelExecTimeout: return 0;
    case cudaDevAttrIntegrated: return p.integrated;
    case cudaDevAttrCanMapHostMemory: return p.canMapHostMemory;
    case cudaDevAttrComputeMode: return cudaComputeModeDefault;
    case cudaDevAttrMaxTexture1DWidth: return p.maxTexture1D;
    case cudaDevAttrMaxTexture2DWidth: return p.maxTexture2D[0];
    case cudaDevAttrMaxTexture2DHeight: return p.maxTexture2D[1];
    case cudaDevAttrMaxTexture3DWidth: return p.maxTexture3D[0];
    case cudaDevAttrMaxTexture3DHeight: return p.maxTexture3D[1];
    case cudaDevAttrMaxTexture3DDepth: return p.maxTexture3D[2];
    case cudaDevAttrMaxTexture2DLayeredWidth: return p.maxTexture2DLayered[0];
    case cudaDevAttrMaxTexture2DLayeredHeight: return p.maxTexture2DLayered[1];
    case cudaDevAttrMaxTexture2DLayeredLayers: return p.maxTexture2DLayered[2];
    case cudaDevAttrSurfaceAlignment: return number(p.surfaceAlignment);
    case cudaDevAttrConcurrentKernels: return p.concurrentKernels;
    case cudaDevAttrEccEnabled: return p.ECCEnabled;
    case cudaDevAttrPciBusId: return p.pciBusID;
    case cudaDevAttrPciDeviceId: return p.pciDeviceID;
    case cudaDevAttrTccDriver: return p.tccDriver;
    case cudaDevAttrMemoryClockRate: return kNominalClockKhz;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing: return p.unifiedAddressing;
    case cudaDevAttrMaxTexture1DLayeredWidth: return p.maxTexture1DLayered[0];
    case cudaDevAttrMaxTexture1DLayeredLayers: return p.maxTexture1DLayered[1];
    case cudaDevAttrMaxTexture2DGatherWidth: return p.maxTexture2DGather[0];
    case cudaDevAttrMaxTexture2DGatherHeight: return p.maxTexture2DGather[1];
    case cudaDevAttrMaxTexture3DWidthAlt: return p.maxTexture3DAlt[0];
    case cudaDevAttrMaxTexture3DHeightAlt: return p.maxTexture3DAlt[1];
    case cudaDevAttrMaxTexture3DDepthAlt: return p.maxTexture3DAlt[2];
    case cudaDevAttrPciDomainId: return p.pciDomainID;
    case cudaDevAttrTexturePitchAlignment: return number(p.texturePitchAlignment);
    case cudaDevAttrMaxTextureCubemapWidth: return p.maxTextureCubemap;
    case cudaDevAttrMaxTextureCubemapLayeredWidth: return p.maxTextureCubemapLayered[0];
    case cudaDevAttrMaxTextureCubemapLayeredLayers: return p.maxTextureCubemapLayered[1];
    case cudaDevAttrMaxSurface1DWidth: return p.maxSurface1D;
    case cudaDevAttrMaxSurface2DWidth: return p.maxSurface2D[0];
    case cudaDevAttrMaxSurface2DHeight: return p.maxSurface2D[1];
    case cudaDevAttrMaxSurface3DWidth: return p.maxSurface3D[0];
    case cudaDevAttrMaxSurface3DHeight: return p.maxSurface3D[1];
    case cudaDevAttrMaxSurface3DDepth: return p.maxSurface3D[2];
    case cudaDevAttrMaxSurface1DLayeredWidth: return p.maxSurface1DLayered[0];
    case cudaDevAttrMaxSurface1DLayeredLayers: return p.maxSurface1DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredWidth: return p.maxSurface2DLayered[0];
    case cudaDevAttrMaxSurface2DLayeredHeight: return p.maxSurface2DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredLayers: return p.maxSurface2DLayered[2];
    case cudaDevAttrMaxSurfaceCubemapWidth: return p.maxSurfaceCubemap;
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth: return p.maxSurfaceCubemapLayered[0];
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers: return p.maxSurfaceCubemapLayered[1];
    case cudaDevAttrMaxTexture1DLinearWidth: return kMaxTexture1dLinear;
    case cudaDevAttrMaxTexture2DLinearWidth: return p.maxTexture2DLinear[0];
    case cudaDevAttrMaxTexture2DLinearHeight: return p.maxTexture2DLinear[1];
    case cudaDevAttrMaxTexture2DLinearPitch: return p.maxTexture2DLinear[2];
    case cudaDevAttrMaxTexture2DMipmappedWidth: return p.maxTexture2DMipmap[0];
    case cudaDevAttrMaxTexture2DMipmappedHeight: return p.maxTexture2DMipmap[1];
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrComputeCapabilityMinor: return p.minor;
    case cudaDevAttrMaxTexture1DMipmappedWidth: return p.maxTexture1DMipmap;
    case cudaDevAttrStreamPrioritiesSupported: return p.streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported: return p.globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported: return p.localL1CacheSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return number(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory: return p.managedMemory;
    case cudaDevAttrIsMultiGpuBoard: return p.isMultiGpuBoard;
    case cudaDevAttrMultiGpuBoardGroupID: return p.multiGpuBoardGroupID;
    case cudaDevAttrHostNativeAtomicSupported: return p.hostNativeAtomicSupported;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return 2;
    case cudaDevAttrPageableMemoryAccess: return p.pageableMemoryAccess;
    case cudaDevAttrConcurrentManagedAccess: return p.concurrentManagedAccess;
    case cudaDevAttrComputePreemptionSupported: return p.computePreemptionSupported;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return p.canUseHostPointerForRegisteredMem;
    case cudaDevAttrHostRegisterSupported: return p.hostRegisterSupported;
    case cudaDevAttrCooperativeLaunch: return p.cooperativeLaunch;
    case cudaDevAttrClusterLaunch: return p.clusterLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return number(p.sharedMemPerBlockOptin);
    case cudaDevAttrDirectManagedMemAccessFromHost: return p.directManagedMemAccessFromHost;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrReservedSharedMemoryPerBlock: return number(p.reservedSharedMemPerBlock);
    case cudaDevAttrMemoryPoolsSupported: return p.memoryPoolsSupported;
    case cudaDevAttrHostRegisterReadOnlySupported: return p.hostRegisterReadOnlySupported;
    case cudaDevAttrMemSyncDomainCount: return kMemSyncDomains;
    case cudaDevAttrHostNumaId: return p.hostNumaId;
#if CUDART_VERSION >= 13000
    case cudaDevAttrHostNumaMemoryPoolsSupported:
    case cudaDevAttrHostMemoryPoolsSupported: return 1;
#endif
    case cudaDevAttrMaxPersistingL2CacheSize: return p.persistingL2CacheMaxSize;
    case cudaDevAttrMaxAccessPolicyWindowSize: return p.accessPolicyMaxWindowSize;
    default:
      // Reserved members and abilities that the emulated GPU lacks are 0.
      return attribute > 0 && attribute < cudaDevAttrMax ? std::optional(0) : std::nullopt;
  }
  // clang-format on
}

}  // namespace warpgauge::emulator::runtime
