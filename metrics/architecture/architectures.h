// The only table of architectures: limits, features and best-known chip by compute capability.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// One compute capability. Sizes in bytes.
struct Architecture {
  int major = 0, minor = 0;
  std::string_view generation;  ///< "Hopper"
  std::string_view features;    ///< instructions and units for kernels that it introduces

  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int registers_per_block = 0;
  int multiply_adds_per_clock = 0;  ///< in float, per multiprocessor, without tensor cores
  std::uint32_t shared_per_multiprocessor = 0;
  std::uint32_t shared_per_block = 0;           ///< without opt-in
  std::uint32_t shared_per_block_opt_in = 0;    ///< the most a block can have
  std::uint32_t shared_reserved_per_block = 0;  ///< taken by the system from each block

  int multiprocessors = 0;  ///< this and the next two are the best-known chip's
  int l2_mib = 0;
  int bus_bits = 0;

  /// "sm_90"
  std::string name() const;

  /// Floating-point operations a second of a chip with so many multiprocessors at this clock in Hz,
  /// in float and without tensor cores. A multiply-add is two operations.
  double peak_flops_per_second(int multiprocessors, double clock) const;
};

/// The table, by compute capability: 7.5 to 12.1.
std::span<const Architecture> architectures();

/// The row of an architecture, given its full name. sm_90a and sm_90 share a row, because they are
/// the same chips, although code for sm_90a runs on these alone. nullptr for a name that nothing
/// can be compiled for: an "a" exists from sm_90 on, and an "f" from sm_100 on.
const Architecture* find_architecture(std::string_view name);

/// The row of an architecture. Throws std::invalid_argument, with the known names, for an unknown
/// one.
const Architecture& architecture(std::string_view name);

/// "Emulated GPU (sm_90)": the name of the emulator's device for `arch`.
std::string emulated_gpu(std::string_view arch);

/// "sm_75, ... sm_121, with an 'a' from sm_90 on, ...": the names that find_architecture() knows,
/// as text.
std::string known_architectures();

/// ", did you mean 'sm_90'?" or "", for a name that find_architecture() does not find.
std::string meant_architecture(std::string_view name);

/// ", did you mean 'sm_90'?" or "", for a name that is not among `known`. CMake's 90 means sm_90.
std::string meant_architecture(std::string_view name, std::span<const std::string> known);

}  // namespace warpgauge::metrics
