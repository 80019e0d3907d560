// The properties of the emulated GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>

#include "metrics/architecture/architectures.h"

namespace warpgauge::emulator::runtime {

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockDimensions[3] = {1024, 1024, 64};
inline constexpr int kMaxGridDimensions[3] = {2147483647, 65535, 65535};
inline constexpr std::size_t kTextureAlignment = 512;  ///< cudaMalloc's
inline constexpr std::size_t kTexturePitchAlignment = 32;
inline constexpr std::size_t kPitchAlignment = 512;  ///< cudaMallocPitch's
inline constexpr int kMaxTexture1dLinear = 1 << 28;  ///< elements

/// Limits are those of the compute capability (CUDA Programming Guide, "Features and Technical
/// Specifications"); memory is the host's; clocks are nominal, for times mean nothing here.
cudaDeviceProp properties_of(const std::string& arch, const metrics::Architecture& limits);

/// The same as a single number; nothing for an attribute that does not exist.
std::optional<int> attribute_of(cudaDeviceAttr attribute, const std::string& arch,
                                const metrics::Architecture& limits);

/// Bytes of memory that the device has: as many as this machine, or as emulate's --memory says.
std::size_t device_memory_bytes();

/// The newest CUDA that the driver knows, 13000 for 13.0: the build's, or that of --driver.
int driver_version();

}  // namespace warpgauge::emulator::runtime
