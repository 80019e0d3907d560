// The checks that a launch makes.
#pragma once

#include <string_view>

namespace warpgauge::emulator::machine {

struct Checks {
  bool async = true;     ///< mistakes with mbarriers, copies of the async proxy and clusters
  bool barriers = true;  ///< barriers of a block that the lanes of a warp come to in ways, or with
                         ///< numbers of threads, that the PTX ISA leaves undefined
  bool proxies = false;  ///< with async: what threads have accessed and a copy writes, without the
                         ///< fence that the PTX ISA asks for: libraries mostly leave it out
  bool races = false;    ///< accesses that no barrier, fence or atomic orders
  bool uninitialised = false;  ///< reads of memory that nothing wrote
  bool lanes = false;     ///< races of lanes of one warp that no __syncwarp() orders: many kernels
                          ///< rely on lanes that run together
  bool stores = false;    ///< different values that lanes of one warp store to one word at once
  bool shuffles = false;  ///< values that shfl takes from lanes that are not there, and lanes that
                          ///< their own member mask does not name
  bool allocations = false;  ///< memory that is never freed, wrong frees, and stream-ordered memory
                             ///< that is used in no order with its allocation and its free
  bool unequal = false;  ///< launches with equal arguments that moved unequal numbers of sectors

  /// Whether a kernel needs the history of its accesses; `is_async`: KernelCode::is_async.
  bool history(bool is_async) const {
    return races || uninitialised || lanes || (async && is_async);
  }
};

/// The checks with these names, commas between; "all" is every check, "none" is no check. Throws
/// std::invalid_argument.
Checks checks_called(std::string_view names);

}  // namespace warpgauge::emulator::machine
