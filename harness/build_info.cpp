#include "harness/build_info.h"

namespace warpgauge {

const BuildInfo kBuildInfo = {.version = WARPGAUGE_VERSION,
                              .source_root = WARPGAUGE_SOURCE_ROOT,
                              .ptxas_folders = WARPGAUGE_PTXAS_DIRS,
                              .budgets_folder = WARPGAUGE_BUDGETS_DIR,
                              .cuda_flags = WARPGAUGE_CUDA_FLAGS,
                              .gate_command = WARPGAUGE_GATE_COMMAND,
                              .programs_folder = WARPGAUGE_PROGRAMS_DIR,
                              .emulated_cudart = WARPGAUGE_EMULATED_CUDART,
                              .injection = WARPGAUGE_INJECTION};

}  // namespace warpgauge
