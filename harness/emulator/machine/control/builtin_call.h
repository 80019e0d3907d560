// A call of a built-in function by one lane, as the function sees it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/engine.h"
#include "harness/emulator/machine/control/frames.h"
#include "harness/emulator/machine/core/access.h"
#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/fault.h"

namespace warpgauge::emulator::machine::control {

/// A call of a built-in function by one lane.
class BuiltinCall {
 public:
  BuiltinCall(Warp& warp, const Instruction& instruction, const CallSite& site, int lane)
      : warp_(warp), instruction_(instruction), site_(site), lane_(lane) {}

  template <typename T = std::uint64_t>
  T argument(std::size_t n) const {
    T value{};
    const Passed& passed = site_.arguments.at(n);
    std::memcpy(&value, location(passed), std::min<std::size_t>(passed.bytes, sizeof value));
    return value;
  }
  void return_value(std::uint64_t value) const {
    if (site_.results.empty()) return;
    const Passed& passed = site_.results.front();
    std::memcpy(location(passed), &value, std::min<std::size_t>(passed.bytes, sizeof value));
  }
  [[noreturn]] void fail(Fault::Kind kind, const std::string& what) const {
    fault(warp_, instruction_, Mask{1} << lane_, kind, what.c_str());
  }
  // At generic addresses. The lane's fault is thrown where it may not read or write all bytes.
  std::uint64_t load(std::uint64_t address, std::size_t bytes) const;
  void store(std::uint64_t address, std::uint64_t value, std::size_t bytes) const;
  /// The text up to its zero byte, which must be there unless the first `most` bytes are enough.
  std::string text_at(std::uint64_t address, std::size_t most = std::string::npos) const;
  /// Memory of the heap of kernels; nullptr where it is full.
  std::byte* allocate(std::uint64_t bytes) const;
  /// False if no live memory of the heap begins there.
  bool release(std::uint64_t address) const;
  Block& block() const { return *warp_.engine->block; }
  LaunchContext& launch() const { return block().launch; }
  std::array<std::uint32_t, 3> thread() const {
    return index_in(launch().launch.block, act_of(warp_, instruction_, lane_).thread);
  }

 private:
  /// The memory from `address` on, in which the bytes of the access lie.
  std::span<const std::byte> readable(std::uint64_t address, std::size_t bytes) const;
  std::span<std::byte> writable(std::uint64_t address, std::size_t bytes) const;
  /// The same, of memory that kernels read and write.
  std::span<std::byte> reached(std::uint64_t address, const Access& access) const;
  /// The part from `address` on of the memory of its window.
  template <typename Byte>
  std::span<Byte> part_of(std::span<Byte> memory, std::uint64_t address,
                          const Access& access) const;

  std::byte* location(const Passed& passed) const {
    const PassedValues values = passed_values(warp_, *warp_.engine->frame, passed);
    return values.data + static_cast<std::uint64_t>(lane_) * values.stride;
  }

  Warp& warp_;
  const Instruction& instruction_;
  const CallSite& site_;
  int lane_;
};

template <void (*kCall)(const BuiltinCall&)>
void each_lane(Warp& warp, const Instruction& instruction, const CallSite& site) {
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    kCall(BuiltinCall(warp, instruction, site, std::countr_zero(left)));
  }
}

/// The functions of the device runtime; nullptr if there is none of this name.
Builtin find_device_runtime(std::string_view name);

}  // namespace warpgauge::emulator::machine::control
