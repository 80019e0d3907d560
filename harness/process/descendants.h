// The processes that this one has started, directly or not, as /proc has them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace warpgauge::process {

/// A process that runs one program.
struct Descendant {
  pid_t id = 0;
  std::uint64_t started = 0;  ///< with its number, what tells it from all others
  /// Where its environment lies. Another program in the same process has it elsewhere; 0 if it
  /// may not be known.
  std::uint64_t environment = 0;

  /// Its place in /proc.
  std::string folder() const { return "/proc/" + std::to_string(id); }
  /// The program that it runs and its first arguments, for people.
  std::string str() const;
  auto operator<=>(const Descendant&) const = default;
};

/// Those of this process, without ended ones, and without those of a process whose number is in
/// `others`. Throws std::runtime_error if /proc cannot be read.
std::vector<Descendant> descendants(const std::vector<pid_t>& others = {});

/// From now on processes whose parent has ended are children of this one, if it is their ancestor.
/// Throws std::system_error.
void adopt_orphans();

/// All of a file of /proc; nullopt if it cannot be read, or its process has ended meanwhile.
std::optional<std::string> text_in_proc(const std::string& file);

}  // namespace warpgauge::process
