// The emulated runtime as a shared library, libcudart.so, for programs that were not built with it:
// when such a program ends, however it does, its counts and faults go to the file that `warpgauge
// emulate` asked for.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/emulator.h"
#include "harness/emulator/launch_watch.h"
#include "harness/emulator/runtime/refuse.h"
#include "harness/emulator/uninterrupted_mutex.h"
#include "harness/files/printable.h"
#include "harness/process/flush_at_exit.h"
#include "harness/process/progress.h"
#include "harness/programs/launch_filter.h"
#include "harness/runtime.h"
#include "metrics/base/append_file.h"
#include "metrics/base/demangled.h"
#include "metrics/counting/coverage.h"
#include "metrics/counting/emulator_report.h"

namespace warpgauge::emulator::preload {
namespace {

/// The value of a variable when the program started, which may clear its environment.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Never destroyed, as Launches.
const std::string& report_file() {
  static const std::string& file = *new std::string(variable(metrics::kReportVariable));
  return file;
}

const std::string& coverage_file() {
  static const std::string& file = *new std::string(variable(metrics::kCoverageVariable));
  return file;
}

bool append(const metrics::CountsReport& report) {
  if (report_file().empty()) return true;
  try {
    metrics::append_report(report_file(), report);
    return true;
  } catch (const std::exception& error) {
    static std::atomic<bool> is_said = false;
    if (!is_said.exchange(true)) std::fprintf(stderr, "warpgauge: %s\n", error.what());
    return false;
  }
}

/// The launches of this process, and which of them are counted.
class Launches : public LaunchWatch {
 public:
  /// Says that this process will report.
  void process_launches() override {
    const std::lock_guard lock(mutex_);
    if (!process::in_flushing_process()) process::flush_forked_child();
    // A process that calls exec() keeps its number.
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    process_ = {.id = std::to_string(getpid()) + "-" + std::to_string(now),
                .program = program_invocation_name,
                .ended = false};
    kernels_.clear();
    choices_.clear();
    begun_ = counted_ = 0;
    append({.processes = {*process_}});
  }

  bool begins(const std::string& kernel, const metrics::Launch& launch,
              const metrics::ReportedCode& code) override {
    const std::lock_guard lock(mutex_);
    ++begun_;
    if (line_.is_there()) {
      line_.show(fmt::format("[{}] emulating {}, {} blocks", begun_,
                             files::printable(metrics::plain_name(metrics::demangled(kernel))),
                             std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]));
    }
    metrics::ReportedKernel& known = kernel_of(kernel);
    ++known.launches;
    known.add(code);
    const auto [chosen, is_new] = choices_.try_emplace(kernel);
    if (is_new) chosen->second.is_skipped = choice_.skips(kernel);
    return !chosen->second.is_skipped && !choice_.is_enough(chosen->second.counted, counted_);
  }

  void progresses(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (line_.is_there()) line_.show(files::printable(std::string(text)));
  }

  void ends(const std::string& kernel, const metrics::Launch& launch,
            const std::optional<KeptLaunch>& kept) override {
    const std::lock_guard lock(mutex_);
    line_.clear();
    if (!kept) return;
    ++counted_;
    ++choices_[kernel].counted;
    metrics::Launch shape = launch;
    shape.unequal_sectors = kept->unequal_sectors;
    metrics::add(kernel_of(kernel).counted, shape);
  }

  /// The launches since the last call; nullopt if this process has launched nothing.
  std::optional<metrics::CountsReport> take() {
    const std::lock_guard lock(mutex_);
    line_.clear();
    if (!process_) return std::nullopt;
    metrics::CountsReport report;
    for (auto& [name, kernel] : std::exchange(kernels_, {})) {
      report.kernels.push_back(std::move(kernel));
    }
    report.processes = {*process_};
    report.processes.front().ended = true;
    return report;
  }

 private:
  struct Chosen {
    bool is_skipped = false;
    std::uint64_t counted = 0;
  };

  metrics::ReportedKernel& kernel_of(const std::string& name) {
    return kernels_.try_emplace(name, metrics::ReportedKernel{.name = name}).first->second;
  }

  const programs::LaunchFilter choice_ = programs::LaunchFilter::from_environment();
  UninterruptedMutex mutex_;                         ///< protects the members below
  std::optional<metrics::ReportedProcess> process_;  ///< from its first launch on
  std::map<std::string, metrics::ReportedKernel> kernels_;
  std::map<std::string, Chosen> choices_;
  std::uint64_t begun_ = 0, counted_ = 0;
  process::TerminalLine line_;
};

/// Never destroyed: the program may launch after static objects are gone.
Launches& launches() {
  static Launches& launches = *new Launches;
  return launches;
}

/// Adds what of this process's code ran, and what not.
bool append_coverage() {
  if (coverage_file().empty()) return true;
  const std::string text = metrics::lcov_text(take_coverage());
  if (metrics::append_at_once(coverage_file().c_str(), text)) return true;
  std::fprintf(stderr, "warpgauge: %s: %s\n", coverage_file().c_str(), std::strerror(errno));
  return false;
}

/// Writes what was counted since the last report.
bool report(std::chrono::seconds) {
  // Launches first: one that ends meanwhile counts as missing, and never as counted and missing.
  std::optional<metrics::CountsReport> report = launches().take();
  const bool launched = report.has_value();
  if (last_call().empty()) return true;
  if (!launched) report.emplace();
  report->runtimes = {{program_invocation_name, last_call(), last_failure()}};
  report->refused = refused_calls();
  if (std::string tables = private_tables(); !tables.empty()) {
    report->private_tables.push_back(std::move(tables));
  }
  std::ranges::move(take_wrong_calls(), std::back_inserter(report->refused));
  std::ranges::move(take_findings(), std::back_inserter(report->faults));
  if (!launched) return append(*report);
  report->replayed = order_was_replayed();
  report->lines = take_counts();
  std::ranges::move(take_faults(), std::back_inserter(report->faults));
  std::ranges::move(take_failed_launches(), std::back_inserter(report->faults));
  report->empty_launches = take_empty_launches();
  const bool covered = append_coverage();
  return append(*report) && covered;
}

const bool kReportsAtExit = [] {
  if (!report_file().empty()) print_no_findings();
  watch_launches(&launches());
  if (!coverage_file().empty()) count_coverage(true);
  process::flush_at_exit(report);
  std::atexit(find_leaks);  // before the report
  return true;
}();

/// For calls that end a process without what is done at exit.
[[noreturn]] void report_and_end(int code) {
  if (process::in_flushing_process()) report(std::chrono::seconds(0));
  for (;;) syscall(SYS_exit_group, code);
}

using SigAction = int (*)(int, const struct sigaction*, struct sigaction*);

/// The C library's.
SigAction real_sigaction() {
  static const auto real = reinterpret_cast<SigAction>(dlsym(RTLD_NEXT, "sigaction"));
  return real;
}

/// Programs see the default action where our handler is, and set it where they set that: Python
/// would else find a handler that it does not know, and have no KeyboardInterrupt.
int sigaction_of_program(int signal, const struct sigaction* wanted, struct sigaction* before) {
  void (*const own)(int) = process::flushing_handler(signal);
  struct sigaction ours = {};
  if (own != nullptr && wanted != nullptr && wanted->sa_handler == SIG_DFL) {
    ours.sa_handler = own;
    ours.sa_flags = SA_NODEFER;
    wanted = &ours;
  }
  const int result = real_sigaction()(signal, wanted, before);
  if (result == 0 && own != nullptr && before != nullptr && before->sa_handler == own) {
    *before = {};
  }
  return result;
}

}  // namespace
}  // namespace warpgauge::emulator::preload

// The program's calls come here instead of to the C library.
extern "C" {

int sigaction(int signal, const struct sigaction* wanted, struct sigaction* before) noexcept {
  return warpgauge::emulator::preload::sigaction_of_program(signal, wanted, before);
}

sighandler_t signal(int signal, sighandler_t handler) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction wanted = {}, before = {};
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_RESTART;
  return sigaction(signal, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

void _exit(int code) { warpgauge::emulator::preload::report_and_end(code); }

void _Exit(int code) noexcept { warpgauge::emulator::preload::report_and_end(code); }

// Stands in the place of a function of a runtime that is linked statically (harness/audit)
// which the emulator does not have.
int warpgauge_refuse(const char* what) {
  return warpgauge::emulator::runtime::refuse(what, __builtin_return_address(0));
}

}  // extern "C"
