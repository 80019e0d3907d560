// The kernel of register_spill that nvcc's -maxrregcount caps, as it does every kernel of this file
// (options.cmake).
#include "kernels/register_spill/problem.h"

namespace register_spill {

__global__ void capped_by_flag(int* b, const int* a) { keep_and_subtract(b, a); }

WARPGAUGE_FAMILY(register_spill) {
  family.problem<SumsOfOthers>("i32", kSizes)
      .sizes_between({1}, {32})
      .variant("capped_by_flag", [](SumsOfOthers& p) { launch(p, capped_by_flag); });
}

}  // namespace register_spill
