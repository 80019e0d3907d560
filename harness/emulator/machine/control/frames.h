// Frames of device functions: their registers, their place in the lanes' local memory, and how
// arguments and results get from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/core/code.h"

namespace warpgauge::emulator::machine::control {

/// The frames of device functions that a warp has used so far, by function.
class FrameStore {
 public:
  Frame& take(const Code& code);
  void give_back(Frame& frame);

 private:
  struct Owned {
    Frame frame;
    AlignedBytes registers;
  };
  std::vector<std::unique_ptr<Owned>> all_;
  std::vector<std::vector<Frame*>> spare_;  ///< by Code::number, up to the highest taken
};

/// Where the frame of a function that is called from `caller` begins in local memory.
std::uint64_t next_frame(std::uint64_t caller_begin, const Code& caller);

/// Fills the vectors of the frame that hold addresses of its local memory.
void write_local_addresses(const Frame& frame);

/// Where the values of an argument or result lie: that of lane l at data + l * stride.
struct PassedValues {
  std::byte* data;
  std::uint64_t stride;
};
PassedValues passed_values(const Warp& warp, const Frame& frame, const Passed& passed);

}  // namespace warpgauge::emulator::machine::control
