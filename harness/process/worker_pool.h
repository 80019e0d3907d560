// Runs work in child processes, so that a crash or a hang costs one item and not the run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace warpgauge::process {

/// An item whose process died or was stopped.
struct CrashedItem {
  std::size_t item;
  std::string reason;  ///< "killed by SIGSEGV (Segmentation fault)", "time limit of 60 s exceeded"
};

/// How an item ended that a child was given.
enum class ItemEnd : std::uint64_t {
  done,
  /// It is done, but this process can do no more; the next item gets a new one.
  done_with_last,
  /// This process can do no more, and what other items did may be the cause: a new process does
  /// the item again when no other process is at work, and no other item can begin. A second time
  /// this is done_with_last.
  again,
};

/// The order to a child to do an item.
struct WorkOrder {
  std::size_t item;
  bool is_again = false;  ///< an earlier process has asked for it to be done again
  std::string note = {};  ///< IsolatedWork::note of the item
};

/// Work on items 0..count-1, which begin in this order in each group, those that are done again
/// behind the others, in child processes that are replaced when they die. The output of children
/// goes to stderr.
struct IsolatedWork {
  std::size_t count = 0;
  std::chrono::seconds time_limit{60};  ///< for one item
  /// The items before this one that must be done when it begins; without it: none.
  std::function<std::vector<std::size_t>(std::size_t)> after;
  /// The group of an item; without it all items are of one. A process knows things of the group
  /// that it works on: it goes on with it, and then takes up one that no other process is at, if it
  /// can.
  std::function<std::size_t(std::size_t)> group;
  /// Called in the parent before the first item begins. True for items that are not to be done
  /// after all.
  std::function<bool(std::size_t)> skip;
  /// Called in a child before its first item: sets the process up.
  std::function<void()> begin;
  /// Called in the parent when an item begins. Returns what its child could not know when it was
  /// forked, as WorkOrder::note, which is empty without this function.
  std::function<std::string(std::size_t)> note;
  /// Called in a child: does an item.
  std::function<ItemEnd(const WorkOrder&)> work;
  /// Called in the parent when an item is done (also if it crashed), with the children at work
  /// again. It is not called for items that were done just before an exception.
  std::function<void(std::size_t)> done;
  /// Called in the parent before `done`, for an item during which the child died.
  std::function<void(const CrashedItem&)> died;
};

/// The processes of some work. The parent must not have used CUDA before: children forked after
/// that cannot use it.
class WorkerPool {
 public:
  /// Starts `early` processes, which get ready while the parent does something else. Throws
  /// std::system_error if no process can be made.
  WorkerPool(IsolatedWork work, std::size_t early);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Does all work, with `processes` at most. Throws std::system_error if no process can be made,
  /// std::runtime_error if two in a row finish no item.
  void work_through(std::size_t processes);
  /// Kills all of them, and does not wait for their end, which takes a while where they used a GPU.
  void dismiss();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Does all work, with as many processes at most: see WorkerPool.
void run_isolated(const IsolatedWork& work, std::size_t processes = 1);

}  // namespace warpgauge::process
