// Which work may run at the same time on a GPU: what streams, events and waits of the program leave
// unordered.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "harness/emulator/machine/core/launch.h"

namespace warpgauge::emulator::runtime {

/// A clock for each stream, event, and the program: for each stream the last launch, or other work
/// with a number, that is known to have ended. A wait of the program counts as one for all streams:
/// that may hide a race, and invents none.
class LaunchOrder {
 public:
  using Clock = std::map<cudaStream_t, std::uint64_t>;
  /// Whether work of the first stream waits for what the second one got before.
  using WaitsFor = std::function<bool(cudaStream_t, cudaStream_t)>;

  /// Work with a number.
  struct Mark {
    cudaStream_t stream = nullptr;
    std::uint64_t number = 0;
  };
  /// The place of a launch among the others.
  struct Place {
    std::uint64_t number = 0;  ///< 0: it is ordered behind those before and before those after
    std::vector<machine::ConcurrentLaunch> concurrent = {};
    cudaStream_t stream = nullptr;
    std::set<const void*> unallocated = {};  ///< memory whose allocation need not have ended
  };
  /// `is_dependent`: it may begin before the launch before it in its stream has ended.
  Place launch(cudaStream_t stream, bool is_dependent, const WaitsFor& waits_for);
  /// The stream gets other work.
  void add_work(cudaStream_t stream) { last_.erase(stream); }
  /// The stream has got other work, which is given a number.
  Mark mark(cudaStream_t stream, const WaitsFor& waits_for);
  /// Whether that work has ended before what the stream gets next begins.
  bool has_ended(const Mark& work, cudaStream_t before, const WaitsFor& waits_for);
  /// What the stream has got so far, for an event.
  Clock record(cudaStream_t stream, const WaitsFor& waits_for);
  /// The stream waits for an event.
  void wait(cudaStream_t stream, const Clock& event);
  /// The program has waited.
  void wait();

 private:
  struct Launched {
    std::uint64_t number;
    cudaStream_t stream;
  };
  Clock& clock_of(cudaStream_t stream, const WaitsFor& waits_for);

  std::map<cudaStream_t, Clock> streams_;
  std::map<cudaStream_t, std::uint64_t> last_;  ///< launches with no other work behind them
  std::deque<Launched> recent_;                 ///< which the program has not waited for
  std::uint64_t number_ = 0, waited_ = 0;  ///< the last, and the last that the program waited for
};

}  // namespace warpgauge::emulator::runtime
