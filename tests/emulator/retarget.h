// PTX for another architecture, where nvcc writes the same text but for one line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace warpgauge::emulator {

/// `ptx` with `arch` ("sm_90") in its line `.target`. Throws if it has none.
inline std::string retarget(std::string ptx, std::string_view arch) {
  constexpr std::string_view kDirective = "\n.target ";
  const std::size_t directive = ptx.find(kDirective);
  if (directive == std::string::npos) throw std::invalid_argument("PTX without a line .target");
  const std::size_t begin = directive + kDirective.size();
  return ptx.replace(begin, ptx.find('\n', begin) - begin, arch);
}

}  // namespace warpgauge::emulator
