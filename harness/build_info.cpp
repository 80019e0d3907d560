#include "harness/build_info.h"

namespace warpgauge {

const BuildInfo kBuildInfo = {.version = WARPGAUGE_VERSION,
                              .source_root = WARPGAUGE_SOURCE_ROOT,
                              .ptxas_folder = WARPGAUGE_PTXAS_DIR,
                              .cuda_flags = WARPGAUGE_CUDA_FLAGS,
                              .emulated_cudart = WARPGAUGE_EMULATED_CUDART};

}  // namespace warpgauge
