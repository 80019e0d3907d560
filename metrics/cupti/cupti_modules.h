// Keeps a copy of every cubin that is loaded, so that instructions can be traced back to lines.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpgauge::metrics {

/// Listens to modules being loaded. CUPTI allows one subscriber in a process, so only one of these
/// may exist at a time. The cubins that an earlier one saw are kept, because modules stay loaded.
/// Make it before the first kernel is launched: it does not see modules loaded earlier.
class LoadedModules {
 public:
  LoadedModules();  ///< throws Unmeasured
  ~LoadedModules();
  LoadedModules(const LoadedModules&) = delete;
  LoadedModules& operator=(const LoadedModules&) = delete;

  /// The cubin with this CRC; empty if it was not seen. Valid to the end of the program.
  std::span<const std::byte> cubin(std::uint32_t crc) const;

 private:
  static void CUPTIAPI on_event(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data);

  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace warpgauge::metrics
