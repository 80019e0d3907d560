// Keeps a copy of every cubin that is loaded while it lives, so that instructions can be traced
// back to lines.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace warpgauge::metrics {

/// CUPTI allows one subscriber in a process, so there can be one of these. Make it before the
/// context: modules that are loaded earlier are not seen.
class LoadedModules {
 public:
  LoadedModules();  ///< throws Unmeasured
  ~LoadedModules();
  LoadedModules(const LoadedModules&) = delete;
  LoadedModules& operator=(const LoadedModules&) = delete;

  /// The cubin with this CRC; empty if it was not seen. Valid as long as this object.
  std::span<const std::byte> cubin(std::uint32_t crc) const;

 private:
  static void CUPTIAPI on_event(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data);
  void keep(const CUpti_ModuleResourceData& module);

  CUpti_SubscriberHandle subscriber_ = nullptr;
  mutable std::mutex mutex_;  // modules may be loaded by any thread
  std::map<std::uint32_t, std::vector<std::byte>> cubins_;
};

}  // namespace warpgauge::metrics
