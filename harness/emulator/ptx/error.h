// An error in a PTX text, with its place.
#pragma once

#include <stdexcept>

namespace warpgauge::emulator::ptx {

/// what() reads "file:line:column: problem", then the line itself with a caret, then what to do.
class PtxError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace warpgauge::emulator::ptx
