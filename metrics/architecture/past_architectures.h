// The architectures before those of architectures.h, for documents alone: no kernel runs as them.
#pragma once

#include <span>
#include <string_view>

#include "metrics/architecture/architectures.h"

namespace warpgauge::metrics {

/// One compute capability that today's toolkits do not compile for.
struct PastArchitecture {
  int major = 0, minor = 0;
  std::string_view generation;     ///< "Fermi"
  std::string_view first_toolkit;  ///< CUDA that compiles for it
  std::string_view last_toolkit;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int registers_per_thread = 0;
  int shared_kib_per_multiprocessor = 0;
  int banks = 0;  ///< banks of shared memory
  int parameter_bytes = 0;
  int l2_kib = 0;  ///< the best-known chip's; 0: no L2 cache
  std::string_view features;
};

/// The table, by compute capability: 1.0 to 7.2.
std::span<const PastArchitecture> past_architectures();

/// Limits that all architectures of architectures.h share.
constexpr int kRegistersPerThread = 255;
constexpr int kSharedBanks = 32;
constexpr int kParameterBytes = 32764;  ///< from CUDA 12.1 on

/// The first CUDA toolkit that compiles for an architecture: "11.8". Throws std::invalid_argument
/// for an architecture that is not in its table.
std::string_view first_toolkit(const Architecture& architecture);

}  // namespace warpgauge::metrics
