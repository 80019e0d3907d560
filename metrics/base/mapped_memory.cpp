// Reads the maps of this process (proc(5)): begin-end permissions ..., in hexadecimal and
// ascending.
#include "metrics/base/mapped_memory.h"

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace warpgauge::metrics {

std::size_t readable_bytes(const void* address) {
  constexpr auto kLine = std::numeric_limits<std::streamsize>::max();
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  std::uintptr_t end_so_far = first;
  // Those of /proc/self are empty when the first thread has ended and others run.
  std::ifstream maps("/proc/thread-self/maps");
  std::uintptr_t begin = 0, end = 0;
  char dash = 0;
  std::string permissions;
  while (maps >> std::hex >> begin >> dash >> end >> permissions && maps.ignore(kLine, '\n')) {
    if (end <= end_so_far) continue;
    if (begin > end_so_far || !permissions.starts_with('r')) break;
    end_so_far = end;
  }
  return end_so_far - first;
}

}  // namespace warpgauge::metrics
