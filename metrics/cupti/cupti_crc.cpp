// Computes CUPTI's CRC of a cubin.
#include "metrics/cupti/cupti_crc.h"

#include <cupti_pcsampling.h>

namespace warpgauge::metrics {

std::optional<std::uint32_t> crc_of(const CUpti_ModuleResourceData& module) {
  if (module.pCubin == nullptr || module.cubinSize == 0) return std::nullopt;
  CUpti_GetCubinCrcParams params{};
  params.size = CUpti_GetCubinCrcParamsSize;
  params.cubin = module.pCubin;
  params.cubinSize = module.cubinSize;
  if (cuptiGetCubinCrc(&params) != CUPTI_SUCCESS) return std::nullopt;
  return static_cast<std::uint32_t>(params.cubinCrc);
}

}  // namespace warpgauge::metrics
