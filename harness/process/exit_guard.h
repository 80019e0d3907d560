// A program ends with the exit code that its main() has declared, or with kFault: user code that
// calls exit(0) in a case, in a registration, or while static objects are made or destroyed, must
// not make a run that broke off look like a success.
#pragma once

namespace warpgauge::process {

/// From now on this process ends with kFault, and says why, unless it ends with the code that
/// declare_exit_code() was called with. Covers exit(), quick_exit(), _exit() and _Exit(), called by
/// the program or a library that it is linked with; child processes made with fork() end as they
/// like. Does not cover what the C library has no part in: a system call made directly, and exec().
void guard_exit();

/// The exit code of main(), when all is done. Only the last call counts.
void declare_exit_code(int code);

/// The process may end with any code: it is the child of a death test.
void allow_any_exit();

}  // namespace warpgauge::process
