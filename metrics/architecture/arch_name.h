// The full name of an architecture taken apart, and where code made for it runs.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace warpgauge::metrics {

/// An architecture such as sm_90, sm_90a or sm_100f. These are three, although a chip may run the
/// code of several. Sorted by number, and with one number as sm_100, sm_100a, sm_100f.
struct ArchName {
  int number = 0;   ///< the compute capability, 90 for 9.0
  char suffix = 0;  ///< 'a': code for this chip alone; 'f': for its family; 0: for later chips, too

  /// Parses sm_, two or three digits, and perhaps a or f; nullopt for other texts.
  static std::optional<ArchName> parse(std::string_view name);
  std::string str() const;

  /// Does machine code of this name run on a GPU of this compute capability (90)?
  bool machine_code_runs_on(int gpu) const;
  /// Does the driver compile PTX of this name for it?
  bool ptx_compiles_for(int gpu) const;
  /// Does the driver prefer this one to `other`, if a GPU can run both? It takes the higher number,
  /// and with one number a before f before neither.
  bool goes_before(const ArchName& other) const;

  auto operator<=>(const ArchName&) const = default;
};

/// A sort key for names: invalid names first, then architectures by ArchName.
std::pair<std::optional<ArchName>, std::string_view> arch_order(std::string_view name);

/// The architecture among `built` whose machine code the driver runs on a GPU of this compute
/// capability; empty where none runs.
std::string running_code(std::span<const std::string> built, int gpu);

}  // namespace warpgauge::metrics
