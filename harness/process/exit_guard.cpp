// Stands in the way of exit(), quick_exit(), _exit() and _Exit() with another code than the
// declared one.
#include "harness/process/exit_guard.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/outcome/exit_code.h"

namespace warpgauge::process {
namespace {

constexpr int kNoneYet = -1;

// Used before constructors and after destructors have run.
constinit std::atomic<pid_t> guarded = 0;
constinit std::atomic<int> declared = kNoneYet;

bool is_guarded() { return guarded == getpid(); }

[[noreturn]] void end_now(int code) {
  for (;;) syscall(SYS_exit_group, code);
}

/// Calls only what a signal handler may.
void say(const char* text) { static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text))); }

[[noreturn]] void refuse(const char* call) {
  say(program_invocation_short_name);
  say(": a fault: ");
  say(call);
  say(declared == kNoneYet
          ? " was called before the run was over, and what was left of it did not run: take the "
            "call out of the case, registration or static object that makes it\n"
          : " was called with another exit code than that of the run: take the call out of the "
            "destructor or exit handler that makes it\n");
  end_now(outcome::kFault);
}

void at_exit(int code, void*) {
  if (!is_guarded() || code == declared) return;
  std::fflush(nullptr);
  refuse("exit()");
}

// The handler gets no exit code; no program of ours ends like this.
void at_quick_exit() {
  if (is_guarded()) refuse("quick_exit()");
}

[[noreturn]] void end_at_once(const char* call, int code) {
  if (is_guarded() && code != declared) refuse(call);
  end_now(code);
}

}  // namespace

void guard_exit() {
  // Not atexit(): its functions get no exit code, and run before the last destructors.
  if (on_exit(at_exit, nullptr) != 0 || std::at_quick_exit(at_quick_exit) != 0) {
    say("the end of the program cannot be guarded\n");
    end_now(outcome::kFault);
  }
  guarded = getpid();
}

void declare_exit_code(int code) { declared = code; }

void allow_any_exit() { guarded = 0; }

}  // namespace warpgauge::process

// The program calls these functions in place of the C library's.
extern "C" {

void _exit(int code) { warpgauge::process::end_at_once("_exit()", code); }

void _Exit(int code) noexcept { warpgauge::process::end_at_once("_Exit()", code); }

}  // extern "C"
