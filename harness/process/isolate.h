// Runs work in child processes, so that a crash or a hang costs one item and not the run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace warpgauge {

/// How an item ended that did not end by itself.
struct CrashedItem {
  std::size_t item;
  std::string reason;  ///< "killed by SIGSEGV (Segmentation fault)", "time limit of 60 s exceeded"
};

/// Work on items 0..count-1 in order, in a child process that is replaced when it dies. What
/// children print goes to stderr.
struct IsolatedWork {
  std::size_t count = 0;
  std::chrono::seconds time_limit{60};  ///< for one item
  /// In the child, before its first item: what one process sets up once.
  std::function<void()> begin;
  /// In the child. Returning false says that this process can do no more (the item itself is
  /// done); the next item gets a new one.
  std::function<bool(std::size_t)> work;
  /// In the parent, when an item is done (crashed ones included).
  std::function<void(std::size_t)> done;
  /// In the parent, before `done`, for an item during which the child died.
  std::function<void(const CrashedItem&)> died;
};

/// The parent must not have used CUDA, which cannot be used in children forked after that. Throws
/// std::system_error if no process can be made, and std::runtime_error if two in a row get nothing
/// done.
void run_isolated(const IsolatedWork& work);

}  // namespace warpgauge
