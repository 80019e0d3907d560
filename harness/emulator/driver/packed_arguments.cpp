// Arguments of a launch in one buffer.
#include "harness/emulator/driver/packed_arguments.h"

#include <cuda.h>

#include "harness/emulator/runtime/failure.h"
#include "harness/emulator/runtime/functions.h"

namespace warpgauge::emulator::driver {

std::vector<void*> arguments_in(runtime::State& state, const void* kernel, void** extra) {
  using runtime::require;
  std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<std::byte*>(extra[1]);
    } else {
      require(*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr);
      bytes = *static_cast<std::size_t*>(extra[1]);
    }
  }
  const auto& info = runtime::info_of(state, runtime::function_of(state, kernel));
  require(bytes <= info.parameter_bytes, cudaErrorLaunchOutOfResources);
  std::vector<void*> arguments;
  for (const auto& parameter : info.parameters) {
    require(buffer != nullptr && parameter.offset + parameter.bytes <= bytes);
    arguments.push_back(buffer + parameter.offset);
  }
  return arguments;
}

}  // namespace warpgauge::emulator::driver
