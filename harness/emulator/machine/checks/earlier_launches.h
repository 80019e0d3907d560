// The launches whose traces global memory may have.
#pragma once

#include <cstdint>
#include <deque>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/machine/core/launch.h"

namespace warpgauge::emulator::machine::checks {

/// A launch, for those after it.
struct EarlierLaunch {
  std::uint64_t number = 0;  ///< Launch::number
  std::uint64_t begin = 0;   ///< its traces' times are not below
  const KernelCode* kernel = nullptr;
  Launch shape = {};                   ///< its grid and block
  bool lets_dependents_begin = false;  ///< by griddepcontrol.launch_dependents
};

/// The last launches, the latest one last.
class EarlierLaunches {
 public:
  void add(EarlierLaunch launch) {
    if (launch.number != 0 && !kept_.empty() && kept_.back().number == launch.number) return;
    if (kept_.size() == kMost) kept_.pop_front();
    kept_.push_back(launch);
  }
  EarlierLaunch& latest() { return kept_.back(); }
  /// nullptr: it is not known any more.
  const EarlierLaunch* numbered(std::uint64_t number) const {
    for (const EarlierLaunch& launch : kept_) {
      if (launch.number == number) return &launch;
    }
    return nullptr;
  }
  /// That which left traces at this time; nullptr: it is not known any more.
  const EarlierLaunch* at(std::uint64_t time) const {
    const EarlierLaunch* found = nullptr;
    for (const EarlierLaunch& launch : kept_) {
      if (launch.begin <= time) found = &launch;
    }
    return found;
  }
  void forget_all() { kept_.clear(); }

 private:
  static constexpr std::size_t kMost = 64;
  std::deque<EarlierLaunch> kept_;
};

}  // namespace warpgauge::emulator::machine::checks
