// The choice of the host's instruction set.
#include "harness/emulator/machine/isa/isa.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgauge::emulator::machine::isa {
namespace {

#define WARPGAUGE_ISA_ROW(isa)                                                              \
  Isa {                                                                                     \
#isa, isa::alu_handler, isa::convert_handler, isa::matrix_handler, isa::memory_handler, \
        isa::atomic_handler, isa::async_handler, isa::warp_op_handler                       \
  }

struct Choice {
  Isa isa;
  bool possible;
};

// The best first.
#ifdef __x86_64__
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("popcnt");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
const Choice* choices() {
  static const Choice kChoices[] = {{WARPGAUGE_ISA_ROW(avx512), has_avx512()},
                                    {WARPGAUGE_ISA_ROW(avx2), has_avx2()},
                                    {WARPGAUGE_ISA_ROW(baseline), true}};
  return kChoices;
}
constexpr int kChoices = 3;
#else
const Choice* choices() {
  static const Choice kOnly[] = {{WARPGAUGE_ISA_ROW(baseline), true}};
  return kOnly;
}
constexpr int kChoices = 1;
#endif
#undef WARPGAUGE_ISA_ROW

}  // namespace

const Isa& best_isa() {
  const char* const wanted = std::getenv("WARPGAUGE_ISA");
  for (int n = 0; n < kChoices; ++n) {
    const Choice& choice = choices()[n];
    if (wanted == nullptr ? choice.possible : std::string_view(wanted) == choice.isa.name) {
      if (choice.possible) return choice.isa;
      throw std::invalid_argument(std::string("WARPGAUGE_ISA=") + wanted +
                                  ": this CPU has not these instructions");
    }
  }
  throw std::invalid_argument(std::string("WARPGAUGE_ISA=") + wanted +
                              ": write baseline, avx2 or avx512");
}

}  // namespace warpgauge::emulator::machine::isa
