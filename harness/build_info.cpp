// Turns the definitions of the build into BuildInfo.
#include "harness/build_info.h"

#include WARPGAUGE_BUILT_FROM_HEADER

namespace warpgauge {
namespace {

constexpr std::string_view kSources[] = {WARPGAUGE_SOURCES};

}  // namespace

const BuildInfo kBuildInfo = {.version = WARPGAUGE_VERSION,
                              .toolkit = WARPGAUGE_TOOLKIT,
                              .newest_toolkit = WARPGAUGE_NEWEST_TOOLKIT,
                              .source_root = WARPGAUGE_SOURCE_ROOT,
                              .built_from = WARPGAUGE_BUILT_FROM,
                              .sources = kSources,
                              .budgets_folder = WARPGAUGE_BUDGETS_DIR,
                              .project_file = WARPGAUGE_PROJECT_FILE,
                              .cuda_flags = WARPGAUGE_CUDA_FLAGS,
                              .gate_command = WARPGAUGE_GATE_COMMAND,
                              .programs_folder = beside_program(WARPGAUGE_PROGRAMS_DIR),
                              .emulated_cudart = beside_program(WARPGAUGE_EMULATED_CUDART),
                              .emulated_driver = beside_program(WARPGAUGE_EMULATED_DRIVER),
                              .audit = beside_program(WARPGAUGE_AUDIT),
                              .environment = beside_program(WARPGAUGE_ENVIRONMENT),
                              .injection = beside_program(WARPGAUGE_INJECTION)};

}  // namespace warpgauge
