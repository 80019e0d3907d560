// Asks the GPU in a child process.
#include "harness/gate/gpu_answer.h"

#include <fmt/format.h>

#include <sstream>

#include "harness/devices.h"
#include "harness/measuring/case_runner.h"
#include "harness/process/isolated_text.h"
#include "harness/runtime.h"

namespace warpgauge::gate {

GpuAnswer ask_gpu(std::chrono::seconds time_limit) {
  if (is_emulated()) return {};
  std::istringstream answer(process::isolated_text(
      [] {
        const CaseRunner runner(false);
        return fmt::format("{}\n{}", runner.arch(), is_exclusive_device());
      },
      time_limit));
  GpuAnswer gpu;
  std::string exclusive;
  std::getline(answer, gpu.arch);
  std::getline(answer, exclusive);
  gpu.is_exclusive = exclusive == "true";
  return gpu;
}

}  // namespace warpgauge::gate
