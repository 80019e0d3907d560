// Lets processes that share something work with it one after the other, where that is quicker than
// all at once.
#pragma once

#include <chrono>

namespace warpgauge::process {

/// Processes that are forked from the one that makes it take turns. It saves time and keeps nothing
/// safe: who has waited for long enough goes on without a turn, and threads of one process share
/// it.
class Turns {
 public:
  Turns();  ///< throws std::system_error
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

 private:
  friend class Turn;
  int lock_;
};

/// A turn, until its end; of a process that dies, too.
class Turn {
 public:
  /// Waits while another process has a turn, for `patience` at most.
  Turn(const Turns& turns, std::chrono::milliseconds patience);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int lock_;
};

}  // namespace warpgauge::process
