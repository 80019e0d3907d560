// Processes that share a GPU: how many of them count fastest, and turns where those are quicker
// than all at once.
#pragma once

#include <chrono>
#include <cstddef>

namespace warpgauge::process {

/// Processes that are forked from the one that makes it take turns. It saves time and keeps nothing
/// safe: who has waited for long enough goes on without a turn, and threads of one process share
/// it.
class GpuTurns {
 public:
  GpuTurns();  ///< throws std::system_error
  ~GpuTurns();
  GpuTurns(const GpuTurns&) = delete;
  GpuTurns& operator=(const GpuTurns&) = delete;

 private:
  friend class GpuTurn;
  int lock_;
};

/// A turn, until its end; of a process that dies, too.
class GpuTurn {
 public:
  /// Waits while another process has a turn, for `patience` at most.
  GpuTurn(const GpuTurns& turns, std::chrono::milliseconds patience);
  ~GpuTurn();
  GpuTurn(const GpuTurn&) = delete;
  GpuTurn& operator=(const GpuTurn&) = delete;

 private:
  int lock_;
};

/// The number of processes that count so many cases on one GPU fastest. More would wait for one
/// another longer than they save.
std::size_t processes_on_gpu(std::size_t cases, bool is_exclusive);

}  // namespace warpgauge::process
