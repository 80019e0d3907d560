// Lets a process that ends, in whatever way, first write down what it has counted.
#pragma once

#include <chrono>

namespace warpgauge {

/// Calls `speak` when the process exits, and when a signal ends it that it does not handle itself
/// (then in another thread, for at most a few seconds). `speak` waits for locks no longer than
/// `patience`. Once a process; a child that it forks does not speak.
void speak_at_the_end(bool (*speak)(std::chrono::seconds patience));

/// False in a child that the process has forked.
bool in_attached_process();

}  // namespace warpgauge
