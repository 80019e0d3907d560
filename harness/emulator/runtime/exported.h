// How functions of CUDA are declared that programs call.
#pragma once

// The functions are the process's own in the shared library and in programs linked with it alike.
#define WARPGAUGE_API extern "C" __attribute__((visibility("default")))

// The same function under the name that code compiled with --default-stream=per-thread calls
// (suffix _ptsz, or _ptds where it has no stream). Everything is done when a call returns, so
// streams make no difference.
#define WARPGAUGE_PER_THREAD(function, suffix)     \
  extern "C" __attribute__((visibility("default"), \
                            alias(#function))) decltype(function) function##suffix;
