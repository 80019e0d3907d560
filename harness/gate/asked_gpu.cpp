#include "harness/gate/asked_gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "harness/devices.h"
#include "harness/measuring/case_runner.h"
#include "harness/process/isolated_text.h"
#include "harness/process/loaded_libraries.h"
#include "harness/runtime.h"

namespace warpgauge::gate {

AskedGpu ask_gpu(std::chrono::seconds time_limit) {
  if (is_emulated()) {
    return {.arch = "", .machine = "emulator", .libraries = process::loaded_libraries()};
  }
  std::istringstream answer(process::isolated_text(
      [] {
        const CaseRunner meter(false);
        const metrics::Device device = meter.device().value_or(metrics::Device());
        return fmt::format("{}\n{}\n{} {} {}\n{}", meter.arch(), is_exclusive_device(), device.name,
                           device.compute_capability, device.driver,
                           fmt::join(process::loaded_libraries(), "\n"));
      },
      time_limit));
  AskedGpu gpu;
  std::string exclusive;
  std::getline(answer, gpu.arch);
  std::getline(answer, exclusive);
  std::getline(answer, gpu.machine);
  gpu.is_exclusive = exclusive == "true";
  for (std::string library; std::getline(answer, library);) gpu.libraries.insert(library);
  return gpu;
}

}  // namespace warpgauge::gate
