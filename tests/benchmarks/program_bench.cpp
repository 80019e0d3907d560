// Speed of the emulator in typical kernels: ten of different character, on one
// thread, counting included. Their geometric mean decides on changes to the inner
// loops.
#include "tests/benchmarks/emulated_launches.h"
#include "tests/benchmarks/program_kernels.h"

namespace warpgauge::benchmarks {
namespace {

void program(benchmark::State& state, void (*launch)(float*)) {
  const Floats memory(8 * kProgramThreads);
  run(state, [&] { launch(memory); });
}

#define WARPGAUGE_PROGRAM(name)                   \
  BENCHMARK_CAPTURE(program, name, launch_##name) \
      ->ArgName("threads")                        \
      ->Arg(1)                                    \
      ->Unit(benchmark::kMillisecond)
WARPGAUGE_PROGRAM(float_arithmetic);
WARPGAUGE_PROGRAM(double_arithmetic);
WARPGAUGE_PROGRAM(integer_hash);
WARPGAUGE_PROGRAM(shared_wavefront);
WARPGAUGE_PROGRAM(divergent_loop);
WARPGAUGE_PROGRAM(histogram);
WARPGAUGE_PROGRAM(stream);
WARPGAUGE_PROGRAM(transcendental);
WARPGAUGE_PROGRAM(local_array);
WARPGAUGE_PROGRAM(many_small);

}  // namespace
}  // namespace warpgauge::benchmarks
