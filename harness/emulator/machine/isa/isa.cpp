// The choice of the host's instruction set.
#include "harness/emulator/machine/isa/isa.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::emulator::machine::isa {
namespace {

#define WARPGAUGE_ISA_ROW(name, compiles, isa)                                                \
  Isa {                                                                                       \
    name, compiles, isa::alu_handler, isa::convert_handler, isa::matrix_handler,              \
        isa::memory_handler, isa::atomic_handler, isa::transfer_handler, isa::warp_op_handler \
  }

struct Choice {
  Isa isa;
  bool possible;
};

#if defined(WARPGAUGE_HAS_avx2) || defined(WARPGAUGE_HAS_avx512)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("popcnt");
}
#endif
#ifdef WARPGAUGE_HAS_avx512
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
#endif

// The instruction sets of this build, the best first.
const std::vector<Choice>& choices() {
  static const std::vector<Choice> kChoices = {
#ifdef WARPGAUGE_HAS_avx512
      {WARPGAUGE_ISA_ROW("compiled", true, avx512), has_avx512()},
      {WARPGAUGE_ISA_ROW("avx512", false, avx512), has_avx512()},
#endif
#ifdef WARPGAUGE_HAS_avx2
      {WARPGAUGE_ISA_ROW("avx2", false, avx2), has_avx2()},
#endif
      {WARPGAUGE_ISA_ROW("baseline", false, baseline), true},
  };
  return kChoices;
}
#undef WARPGAUGE_ISA_ROW

}  // namespace

const Isa& best_isa() {
  const char* const wanted = std::getenv("WARPGAUGE_ISA");
  std::string known;
  for (const Choice& choice : choices()) {
    if (wanted == nullptr ? choice.possible : std::string_view(wanted) == choice.isa.name) {
      if (choice.possible) return choice.isa;
      throw std::invalid_argument(std::string("WARPGAUGE_ISA=") + wanted +
                                  ": this CPU does not have these instructions");
    }
    known += std::string(" ") + choice.isa.name;
  }
  throw std::invalid_argument(std::string("WARPGAUGE_ISA=") + wanted + ": this build has" + known);
}

}  // namespace warpgauge::emulator::machine::isa
