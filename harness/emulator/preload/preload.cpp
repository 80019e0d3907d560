// The emulated runtime as a shared library, libcudart.so, for programs that were not built with it:
// when such a program ends, however it does, its counts and faults go to the file that `warpgauge
// emulate` asked for.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "harness/emulator/emulator.h"
#include "harness/process/flush_at_exit.h"
#include "metrics/counts_report.h"

namespace warpgauge::emulator::preload {
namespace {

/// Writes what was counted since the last report.
bool report(std::chrono::seconds) {
  const char* path = std::getenv(metrics::kReportVariable);
  if (path == nullptr) return true;
  try {
    Emulator& emulator = Emulator::instance();
    std::vector<metrics::DeviceFault> faults = emulator.take_faults();
    std::ranges::move(emulator.take_failed_launches(), std::back_inserter(faults));
    metrics::append_report(path, {emulator.take_counts(), std::move(faults)});
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpgauge: %s\n", error.what());
    return false;
  }
}

const bool reports_at_exit = [] {
  Emulator::instance();  // made before this, it is taken down after it
  process::flush_at_exit(report);
  return true;
}();

/// For calls that end a process without what is done at exit.
[[noreturn]] void report_and_end(int code) {
  if (process::in_flushing_process()) report(std::chrono::seconds(0));
  for (;;) syscall(SYS_exit_group, code);
}

}  // namespace
}  // namespace warpgauge::emulator::preload

// The program's calls come here instead of to the C library.
extern "C" {

void _exit(int code) { warpgauge::emulator::preload::report_and_end(code); }

void _Exit(int code) noexcept { warpgauge::emulator::preload::report_and_end(code); }

}  // extern "C"
