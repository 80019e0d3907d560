// Copies cubins in CUPTI's callback for loaded modules.
#include "metrics/cupti/cupti_modules.h"

#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "metrics/cupti/cupti_context.h"
#include "metrics/cupti/cupti_crc.h"
#include "metrics/cupti/cupti_error.h"

namespace warpgauge::metrics {
namespace {

// The cubins of this process, by CRC. Modules may be loaded by any thread.
struct Cubins {
  std::mutex mutex;
  std::map<std::uint32_t, std::vector<std::byte>> by_crc;
};

Cubins& cubins() {
  static auto* const kCubins = new Cubins;  // never destroyed: CUPTI may call back during exit
  return *kCubins;
}

void keep(const CUpti_ModuleResourceData& module) {
  const std::optional<std::uint32_t> crc = crc_of(module);
  if (!crc) return;
  const auto* first = reinterpret_cast<const std::byte*>(module.pCubin);
  const std::scoped_lock lock(cubins().mutex);
  cubins().by_crc.try_emplace(*crc, first, first + module.cubinSize);
}

}  // namespace

LoadedModules::LoadedModules() {
  require_gpu();
  WARPGAUGE_CUPTI(cuptiSubscribe, &subscriber_, &LoadedModules::on_event, nullptr);
  const CUptiResult result = cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                                                 CUPTI_CBID_RESOURCE_MODULE_LOADED);
  if (result != CUPTI_SUCCESS) cuptiUnsubscribe(subscriber_);
  check_cupti(result, "cuptiEnableCallback");
}

LoadedModules::~LoadedModules() { cuptiUnsubscribe(subscriber_); }

std::span<const std::byte> LoadedModules::cubin(std::uint32_t crc) const {
  const std::scoped_lock lock(cubins().mutex);
  const auto found = cubins().by_crc.find(crc);
  return found == cubins().by_crc.end() ? std::span<const std::byte>{} : found->second;
}

void CUPTIAPI LoadedModules::on_event(void* /*user*/, CUpti_CallbackDomain domain,
                                      CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_MODULE_LOADED || !data) {
    return;
  }
  const auto* event = static_cast<const CUpti_ResourceData*>(data);
  const auto* module = static_cast<const CUpti_ModuleResourceData*>(event->resourceDescriptor);
  if (!module) return;
  try {
    keep(*module);
  } catch (const std::bad_alloc&) {
    // CUPTI is C, so no exception may leave. A module without a copy only lacks lines.
  }
}

}  // namespace warpgauge::metrics
