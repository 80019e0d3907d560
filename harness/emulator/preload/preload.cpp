// The emulated runtime as a shared library, libcudart.so, for programs that were not built with it:
// when such a program ends, however it does, its counts and faults go to the file that `warpgauge
// emulate` asked for.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <string>

#include "harness/emulator/emulator.h"
#include "harness/process/flush_at_exit.h"
#include "metrics/counts_report.h"

namespace warpgauge::emulator::preload {
namespace {

/// This process, from its first launch on.
std::optional<metrics::ReportedProcess> process_here;

bool append(const metrics::CountsReport& report) {
  const char* path = std::getenv(metrics::kReportVariable);
  if (path == nullptr) return true;
  try {
    metrics::append_report(path, report);
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "warpgauge: %s\n", error.what());
    return false;
  }
}

/// Says that this process will report.
void announce() {
  if (!process::in_flushing_process()) process::flush_forked_child();
  // A process that calls exec() keeps its number.
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  process_here = {.id = std::to_string(getpid()) + "-" + std::to_string(now),
                  .program = program_invocation_name,
                  .ended = false};
  append({.processes = {*process_here}});
}

/// Writes what was counted since the last report.
bool report(std::chrono::seconds) {
  if (!process_here) return true;
  Emulator& emulator = Emulator::instance();
  metrics::CountsReport report{.lines = emulator.take_counts(), .faults = emulator.take_faults()};
  std::ranges::move(emulator.take_failed_launches(), std::back_inserter(report.faults));
  report.processes = {*process_here};
  report.processes.front().ended = true;
  return append(report);
}

const bool reports_at_exit = [] {
  Emulator::instance();  // made before this, it is taken down after it
  Emulator::instance().on_first_launch(announce);
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
