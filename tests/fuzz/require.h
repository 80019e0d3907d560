// What fuzz targets promise of the values that a reader returns and of its errors.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Aborts, which libFuzzer reports with the input, unless the promise holds.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}
