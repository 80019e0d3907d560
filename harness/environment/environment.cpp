// A library that is preloaded into a program and keeps variables in the environment of all programs
// that it starts, whatever environment it gives them. Its functions stand before the C library's.
// They may run in a child of vfork(), so they allocate on the stack alone.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "harness/environment/kept_variables.h"

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
  decltype(&::fexecve) fexecve;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
  decltype(&::system) system;
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
  find(all.fexecve, "fexecve");
  find(all.posix_spawn, "posix_spawn");
  find(all.posix_spawnp, "posix_spawnp");
  find(all.system, "system");
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

/// The kept variable of this entry; kept_count: none.
std::size_t kept_in(const char* entry) {
  std::size_t n = 0;
  while (n < kept_count && std::strncmp(entry, kept[n].text, kept[n].name_length) != 0) ++n;
  return n;
}

/// Calls `run` with an environment: the given one with what it lacks.
template <typename Run>
auto with_kept(char* const* given, Run run) {
  if (libraries == nullptr) return run(given);
  std::size_t count = 0, preload_bytes = 0;
  for (; given != nullptr && given[count] != nullptr; ++count) {
    if (is_preload(given[count])) preload_bytes = std::strlen(given[count]);
  }
  char** const entries =
      static_cast<char**>(__builtin_alloca((count + kMostKept + 2) * sizeof(char*)));
  const std::size_t most = sizeof kPreload + std::strlen(libraries) + 1 + preload_bytes;
  char* const preload = static_cast<char*>(__builtin_alloca(most));
  std::snprintf(preload, most, "%s%s", kPreload, libraries);
  bool has[kMostKept] = {};
  std::size_t out = 0;
  for (std::size_t n = 0; n < count; ++n) {
    char* const entry = given[n];
    const std::size_t known = kept_in(entry);
    if (is_preload(entry)) {
      const char* const value = entry + sizeof kPreload - 1;
      if (std::strstr(value, libraries) != nullptr) {
        std::snprintf(preload, most, "%s", entry);
      } else if (*value != '\0') {
        std::snprintf(preload, most, "%s%s:%s", kPreload, libraries, value);
      }
    } else if (known == kept_count) {
      entries[out++] = entry;
    } else if (entry[kept[known].name_length] != '\0') {
      entries[out++] = entry;
      has[known] = true;
    }
  }
  for (std::size_t n = 0; n < kept_count; ++n) {
    if (!has[n]) entries[out++] = kept[n].text;
  }
  entries[out++] = preload;
  entries[out] = nullptr;
  return run(static_cast<char* const*>(entries));
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
    if (out >= 0) static_cast<void>(!write(out, line, length + 1));
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

int system(const char* command) {
  return in_kept([&] { return next().system(command); });
}

FILE* popen(const char* command, const char* mode) {
  return in_kept([&] { return next().popen(command, mode); });
}

}  // extern "C"
