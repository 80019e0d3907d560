// An NVTX range of the domain "warpgauge"; costs nothing when no tool listens.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace warpgauge {

class NvtxRange {
 public:
  explicit NvtxRange(const std::string& message) {
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = message.c_str();
    nvtxDomainRangePushEx(domain(), &event);
  }
  ~NvtxRange() { nvtxDomainRangePop(domain()); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;

 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t handle = nvtxDomainCreateA("warpgauge");
    return handle;
  }
};

}  // namespace warpgauge
