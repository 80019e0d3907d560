// Threads of warpgauge in a program of others.
#pragma once

#include <pthread.h>

namespace warpgauge::metrics {

/// The name of each such thread. The program's own threads have others.
inline constexpr const char* kOwnThread = "warpgauge";

/// Called by such a thread when it begins.
inline void begin_own_thread() { pthread_setname_np(pthread_self(), kOwnThread); }

/// The threads of this process that are not such ones.
int threads_of_program();

}  // namespace warpgauge::metrics
