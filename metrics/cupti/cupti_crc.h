// The number by which CUPTI names a cubin.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>

namespace warpgauge::metrics {

/// The number that SASS records of the module's instructions carry: the low 32 bits of CUPTI's CRC
/// of its cubin. nullopt if it has none.
std::optional<std::uint32_t> crc_of(const CUpti_ModuleResourceData& module);

}  // namespace warpgauge::metrics
