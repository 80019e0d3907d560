// A library that is preloaded into a program and keeps variables in the environment of all programs
// that it starts, whatever environment it gives them. Its functions stand before the C library's.
// They may run in a child of vfork(), so they allocate on the stack alone.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <type_traits>

#include "harness/environment/kept_variables.h"

extern "C" {
// Since version 2.39 of the C library.
int pidfd_spawn(int* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* variables);
int pidfd_spawnp(int* child, const char* name, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* variables);
}

namespace warpgauge::environment {
namespace {

constexpr std::size_t kMostKept = 32;
constexpr char kPreload[] = "LD_PRELOAD=";

/// "NAME=value", as it was when the program started.
struct Entry {
  char* text = nullptr;
  std::size_t name_length = 0;  ///< with the "="
};

Entry kept[kMostKept];
std::size_t kept_count = 0;
char* libraries = nullptr;  ///< nullptr: nothing is kept
char* notes = nullptr;

/// The functions of the C library.
struct Next {
  decltype(&::execve) execve;
  decltype(&::execvpe) execvpe;
  decltype(&::execveat) execveat;
  decltype(&::fexecve) fexecve;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
  decltype(&::pidfd_spawn) pidfd_spawn;
  decltype(&::pidfd_spawnp) pidfd_spawnp;
  decltype(&::syscall) syscall;
  decltype(&::system) system;
  decltype(&::wordexp) wordexp;
  decltype(&::popen) popen;
};

const Next& next() {
  static constinit Next all{};
  if (all.popen != nullptr) return all;
  const auto find = [](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_NEXT, name));
  };
  find(all.execve, "execve");
  find(all.execvpe, "execvpe");
  find(all.execveat, "execveat");
  find(all.fexecve, "fexecve");
  find(all.posix_spawn, "posix_spawn");
  find(all.posix_spawnp, "posix_spawnp");
  find(all.pidfd_spawn, "pidfd_spawn");
  find(all.pidfd_spawnp, "pidfd_spawnp");
  find(all.syscall, "syscall");
  find(all.system, "system");
  find(all.wordexp, "wordexp");
  find(all.popen, "popen");
  return all;
}

void keep(std::string_view name) {
  char entry[64];  // ours are shorter
  if (name.empty() || name.size() >= sizeof entry || kept_count == kMostKept) return;
  std::memcpy(entry, name.data(), name.size());
  entry[name.size()] = '\0';
  const char* const value = std::getenv(entry);
  char* text = nullptr;
  if (value != nullptr && asprintf(&text, "%s=%s", entry, value) > 0) {
    kept[kept_count++] = {text, name.size() + 1};
  }
}

/// Takes what stands before the first `separator` out of `text`, with that.
std::string_view take(std::string_view& text, char separator) {
  const std::string_view taken = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

[[gnu::constructor]] void keep_variables() {
  next();  // a child of vfork() had better not look for them
  const char* const names = std::getenv(kKeptVariables);
  const char* const preloaded = std::getenv(kKeptLibraries);
  if (names == nullptr || preloaded == nullptr || *preloaded == '\0') return;
  for (const char* name : {kKeptVariables, kKeptLibraries, kStartedPrograms}) keep(name);
  for (std::string_view rest = names; !rest.empty();) keep(take(rest, ' '));
  libraries = strdup(preloaded);
  if (const char* file = std::getenv(kStartedPrograms)) notes = strdup(file);
}

bool is_preload(const char* entry) {
  return std::strncmp(entry, kPreload, sizeof kPreload - 1) == 0;
}

bool is_kept(const char* entry) {
  return std::any_of(kept, kept + kept_count, [&](const Entry& variable) {
    return std::strncmp(entry, variable.text, variable.name_length) == 0;
  });
}

/// The value of a variable; empty if there is none.
std::string_view value_in(char* const* entries, std::string_view name) {
  for (; entries != nullptr && *entries != nullptr; ++entries) {
    std::string_view entry = *entries;
    if (!entry.starts_with(name)) continue;
    entry.remove_prefix(name.size());
    if (!entry.starts_with('=')) continue;
    entry.remove_prefix(1);
    return entry;
  }
  return "";
}

/// An environment of another `warpgauge emulate` or `attach`, which the program has started.
bool is_of_another(char* const* given) {
  const std::string_view others = value_in(given, kKeptLibraries);
  return !others.empty() && others != libraries &&
         value_in(given, "LD_PRELOAD").starts_with(others) &&
         !value_in(given, kStartedPrograms).empty();
}

/// Calls `run` with an environment: the given one with the kept variables as they were.
template <typename Run>
auto with_kept(char* const* given, Run run) {
  if (libraries == nullptr || is_of_another(given)) return run(given);
  std::size_t count = 0, preload_bytes = 0;
  for (; given != nullptr && given[count] != nullptr; ++count) {
    if (is_preload(given[count])) preload_bytes = std::strlen(given[count]);
  }
  char** const entries =
      static_cast<char**>(__builtin_alloca((count + kMostKept + 2) * sizeof(char*)));
  const std::size_t most = sizeof kPreload + std::strlen(libraries) + 1 + preload_bytes;
  char* const preload = static_cast<char*>(__builtin_alloca(most));
  std::snprintf(preload, most, "%s%s", kPreload, libraries);
  std::size_t out = 0;
  for (std::size_t n = 0; n < count; ++n) {
    char* const entry = given[n];
    if (is_preload(entry)) {
      const char* const value = entry + sizeof kPreload - 1;
      if (std::strstr(value, libraries) != nullptr) {
        std::snprintf(preload, most, "%s", entry);
      } else if (*value != '\0') {
        std::snprintf(preload, most, "%s%s:%s", kPreload, libraries, value);
      }
    } else if (!is_kept(entry)) {
      entries[out++] = entry;
    }
  }
  for (std::size_t n = 0; n < kept_count; ++n) entries[out++] = kept[n].text;
  entries[out++] = preload;
  entries[out] = nullptr;
  return run(static_cast<char* const*>(entries));
}

/// Writes a text to a file. A limit of the size of files, which ends a process by
/// a signal, only keeps the text away.
void write_within_limit(int file, const char* text, std::size_t bytes) {
  sigset_t beyond, pending, mask;
  sigpending(&pending);
  sigemptyset(&beyond);
  sigaddset(&beyond, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &beyond, &mask);
  static_cast<void>(!write(file, text, bytes));
  const timespec now{};
  if (sigismember(&pending, SIGXFSZ) == 0) sigtimedwait(&beyond, nullptr, &now);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
}

/// Notes a program that is about to be started.
void note(const char* path) {
  if (notes == nullptr || path == nullptr) return;
  const int before = errno;
  char line[PATH_MAX + 2];
  if (realpath(path, line) != nullptr) {
    const std::size_t length = std::strlen(line);
    line[length] = '\n';
    const int out = open(notes, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (out >= 0) write_within_limit(out, line, length + 1);
    if (out >= 0) close(out);
  }
  errno = before;
}

/// The same of a program that is searched in PATH.
void look_for(const char* name) {
  if (notes == nullptr || name == nullptr || *name == '\0') return;
  if (std::strchr(name, '/') != nullptr) return note(name);
  const char* const folders = std::getenv("PATH");
  if (folders == nullptr) return;
  for (std::string_view rest = folders; !rest.empty();) {
    const std::string_view folder = take(rest, ':');
    char path[PATH_MAX];
    std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(folder.size()), folder.data(),
                  name);
    if (access(path, X_OK) == 0) return note(path);
  }
}

/// Calls `run` with the arguments of a variadic function of the exec family, and with what stands
/// behind them.
template <typename Run>
int with_arguments(const char* first, va_list words, Run run) {
  va_list ahead;
  va_copy(ahead, words);
  std::size_t count = first == nullptr ? 0 : 1;
  if (first != nullptr) {
    while (va_arg(ahead, char*) != nullptr) ++count;
  }
  va_end(ahead);
  char** const arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  arguments[0] = const_cast<char*>(first);
  for (std::size_t n = 1; n <= count; ++n) arguments[n] = va_arg(words, char*);
  return run(arguments, words);
}

/// While it lives, the environment of this process is the kept one.
template <typename Run>
auto in_kept(Run run) {
  return with_kept(environ, [&](char* const* entries) {
    char** const before = environ;
    environ = const_cast<char**>(entries);
    const auto result = run();
    environ = before;
    return result;
  });
}

}  // namespace
}  // namespace warpgauge::environment

using namespace warpgauge::environment;

extern "C" {

int execve(const char* path, char* const* arguments, char* const* variables) noexcept {
  note(path);
  return with_kept(variables,
                   [&](char* const* kept) { return next().execve(path, arguments, kept); });
}

int execvpe(const char* name, char* const* arguments, char* const* variables) noexcept {
  look_for(name);
  return with_kept(variables,
                   [&](char* const* kept) { return next().execvpe(name, arguments, kept); });
}

int execv(const char* path, char* const* arguments) noexcept {
  return execve(path, arguments, environ);
}

int execvp(const char* name, char* const* arguments) noexcept {
  return execvpe(name, arguments, environ);
}

int execveat(int folder, const char* path, char* const* arguments, char* const* variables,
             int flags) noexcept {
  char named[PATH_MAX];
  const bool is_below = path != nullptr && *path != '/' && folder != AT_FDCWD;
  if (is_below) {  // an empty path: `folder` is the file itself
    std::snprintf(named, sizeof named, "/proc/self/fd/%d%s%s", folder, *path == '\0' ? "" : "/",
                  path);
  }
  note(is_below ? named : path);
  return with_kept(variables, [&](char* const* kept) {
    return next().execveat(folder, path, arguments, kept, flags);
  });
}

int fexecve(int file, char* const* arguments, char* const* variables) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  note(path);
  return with_kept(variables,
                   [&](char* const* kept) { return next().fexecve(file, arguments, kept); });
}

int execl(const char* path, const char* first, ...) noexcept {
  va_list words;
  va_start(words, first);
  const int failed = with_arguments(
      first, words, [&](char** arguments, va_list) { return execve(path, arguments, environ); });
  va_end(words);
  return failed;
}

int execlp(const char* name, const char* first, ...) noexcept {
  va_list words;
  va_start(words, first);
  const int failed = with_arguments(
      first, words, [&](char** arguments, va_list) { return execvpe(name, arguments, environ); });
  va_end(words);
  return failed;
}

int execle(const char* path, const char* first, ...) noexcept {
  va_list words;
  va_start(words, first);
  const int failed = with_arguments(first, words, [&](char** arguments, va_list behind) {
    return execve(path, arguments, va_arg(behind, char* const*));
  });
  va_end(words);
  return failed;
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* variables) {
  note(path);
  return with_kept(variables, [&](char* const* kept) {
    return next().posix_spawn(child, path, actions, attributes, arguments, kept);
  });
}

int posix_spawnp(pid_t* child, const char* name, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* variables) {
  look_for(name);
  return with_kept(variables, [&](char* const* kept) {
    return next().posix_spawnp(child, name, actions, attributes, arguments, kept);
  });
}

int pidfd_spawn(int* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* variables) {
  note(path);
  return with_kept(variables, [&](char* const* kept) {
    return next().pidfd_spawn(child, path, actions, attributes, arguments, kept);
  });
}

int pidfd_spawnp(int* child, const char* name, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* variables) {
  look_for(name);
  return with_kept(variables, [&](char* const* kept) {
    return next().pidfd_spawnp(child, name, actions, attributes, arguments, kept);
  });
}

long syscall(long number, ...) noexcept {
  long words[6];
  va_list behind;
  va_start(behind, number);
  for (long& word : words) word = va_arg(behind, long);
  va_end(behind);
  const auto text = [&](int n) { return reinterpret_cast<const char*>(words[n]); };
  const auto texts = [&](int n) { return reinterpret_cast<char* const*>(words[n]); };
  if (number == SYS_execve) return execve(text(0), texts(1), texts(2));
  if (number == SYS_execveat) {
    return execveat(static_cast<int>(words[0]), text(1), texts(2), texts(3),
                    static_cast<int>(words[4]));
  }
  return next().syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int wordexp(const char* words, wordexp_t* found, int flags) {
  return in_kept([&] { return next().wordexp(words, found, flags); });
}

int system(const char* command) {
  return in_kept([&] { return next().system(command); });
}

FILE* popen(const char* command, const char* mode) {
  return in_kept([&] { return next().popen(command, mode); });
}

}  // extern "C"
