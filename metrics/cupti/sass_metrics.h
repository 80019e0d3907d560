// The SASS metrics behind Counts, and the arithmetic from the values of an instruction to Counts.
// Needs neither CUPTI nor a GPU.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/counting/counts.h"

namespace warpgauge::metrics {

/// The metrics, in the order of kSassMetrics.
enum class SassMetric : std::size_t {
  global_sectors,
  global_sectors_ideal,
  global_l1_tags,
  global_loads,
  global_stores,
  global_atomics,
  global_reductions,
  async_copies,
  shared_wavefronts,
  shared_wavefronts_ideal,
  shared_requests,
  local_sectors,
  local_requests,
  divergent_branches,
  instructions,
  bulk_loads,
  bulk_stores,
  bulk_reductions,
  cluster_accesses,
  wgmmas,
};

inline constexpr std::array<std::string_view, 20> kSassMetrics = {
    "smsp__sass_sectors_mem_global",
    "smsp__sass_sectors_mem_global_ideal",
    "smsp__sass_l1tex_tags_mem_global",
    "smsp__sass_inst_executed_op_global_ld",
    "smsp__sass_inst_executed_op_global_st",
    "smsp__sass_inst_executed_op_global_atom",
    "smsp__sass_inst_executed_op_global_red",
    "smsp__sass_inst_executed_op_ldgsts",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
    "smsp__sass_inst_executed_op_shared",
    "smsp__sass_sectors_mem_local",
    "smsp__sass_inst_executed_op_local",
    "smsp__sass_branch_targets_threads_divergent",
    "smsp__sass_inst_executed",
    "smsp__sass_inst_executed_op_tma_ld",
    "smsp__sass_inst_executed_op_tma_st",
    "smsp__sass_inst_executed_op_tma_red",
    "smsp__sass_inst_executed_op_dshared",
    "smsp__sass_inst_executed_op_shared_gmma",
};

constexpr std::size_t index(SassMetric metric) { return static_cast<std::size_t>(metric); }
constexpr std::string_view name(SassMetric metric) { return kSassMetrics[index(metric)]; }

/// True for a metric whose instructions some chips do not have (cp.async came with Ampere, TMA,
/// clusters and wgmma with Hopper): where the chip's list lacks it, its value is 0.
bool is_optional(std::string_view cupti_name);

/// The values of one instruction (all its executions).
struct SassValues {
  std::array<std::uint64_t, kSassMetrics.size()> values{};

  std::uint64_t& operator[](SassMetric metric) { return values[index(metric)]; }
  std::uint64_t operator[](SassMetric metric) const { return values[index(metric)]; }
  SassValues& operator+=(const SassValues& other) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
    return *this;
  }
};

/// An instruction of a kernel, or of a function that kernels call. `pc` is its offset into that
/// code.
struct Instruction {
  std::uint32_t cubin_crc = 0;
  std::string kernel;
  std::uint32_t pc = 0;
  std::string owner =
      {};  ///< the kernel that called the function; empty: no function, or not known
  auto operator<=>(const Instruction&) const = default;
};

using SassRecords = std::map<Instruction, SassValues>;

/// The counts of one instruction; its kind (load, store, atomic) decides where its sectors belong.
/// nullopt if it touched sectors and is of another kind.
std::optional<Counts> counts_of(const SassValues& values);

}  // namespace warpgauge::metrics
