// The launches of a program that are counted: what its user chose, handed to the library inside it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpgauge::programs {

/// The time that a launch may take, unless the user names another one.
inline constexpr std::chrono::seconds kUsualLaunchLimit{600};

struct LaunchFilter {
  std::uint64_t sample = 0;       ///< launches of each kernel that are counted, at least; 0: all
  std::uint64_t limit = 0;        ///< the first ones of each process; 0: all
  std::vector<std::string> skip;  ///< globs of the names of kernels that are not counted

  /// True where some launches of kernels that are not skipped are left out.
  bool is_partial() const { return sample > 0 || limit > 0; }
  /// True for a kernel that no more has to be counted of: `of_kernel` of its launches are, and
  /// `of_all` of those of all kernels.
  bool is_enough(std::uint64_t of_kernel, std::uint64_t of_all) const;
  /// `kernel` is a mangled name.
  bool skips(const std::string& kernel) const;

  /// The environment variables that hold it, and back.
  std::map<std::string, std::string> variables() const;
  static LaunchFilter from_environment();
};

}  // namespace warpgauge::programs
