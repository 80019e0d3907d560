// Writes what a process has counted before it ends, whether it returns, exits or is killed by a
// signal.
#pragma once

#include <chrono>

namespace warpgauge::process {

/// Calls `flush` when the process exits (also by quick_exit()), and when a signal that it does not
/// handle ends it (then in another thread, for at most a few seconds). `flush` waits for locks no
/// longer than `patience`. Call it once a process, in its first thread: if that ends by
/// pthread_exit(), the process ends with the last thread that is not of warpgauge
/// (metrics/base/own_thread.h). Forked children do not flush by themselves.
void flush_at_exit(bool (*flush)(std::chrono::seconds patience));

/// The handler that stands where a program sees the default action of a signal; nullptr where the
/// signal has none of ours, or ends the process already. Who stands between the program and the C
/// library hides it.
void (*flushing_handler(int signal))(int);

/// False in a child that the process has forked.
bool in_flushing_process();

/// Makes such a child flush as well, from now on.
void flush_forked_child();

}  // namespace warpgauge::process
