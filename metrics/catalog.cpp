// The table of metrics.
#include "metrics/catalog.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "metrics/nearest.h"

namespace warpgauge::metrics {
namespace {

using enum Direction;
using enum Class;
using enum Source;

constexpr std::string_view kWavefronts = "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared";
constexpr std::string_view kWavefrontsIdeal =
    "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal";
constexpr std::string_view kSharedRequests = "smsp__sass_inst_executed_op_shared";
constexpr std::string_view kAsyncRequests = "smsp__sass_inst_executed_op_ldgsts";
constexpr std::string_view kSectors = "smsp__sass_sectors_mem_global";
constexpr std::string_view kSectorsIdeal = "smsp__sass_sectors_mem_global_ideal";
constexpr std::string_view kLoads = "smsp__sass_inst_executed_op_global_ld";
constexpr std::string_view kStores = "smsp__sass_inst_executed_op_global_st";
constexpr std::string_view kAtomics = "smsp__sass_inst_executed_op_global_atom";
constexpr std::string_view kReductions = "smsp__sass_inst_executed_op_global_red";

constexpr std::string_view kCoalesce =
    "Let neighbouring lanes touch neighbouring addresses, aligned to 32 bytes.";
constexpr std::string_view kFewerRegisters =
    "Shorten live ranges, or raise the cap (__launch_bounds__, -maxrregcount).";
constexpr std::string_view kKeepInRegisters =
    "Index local arrays with compile-time constants, unroll, and avoid spills.";

// A table reads best as one: a metric to an entry, its words on lines of their own.
// clang-format off
const std::vector<Metric>& table() {
  static const std::vector<Metric> kTable = {
      {"result.correct", "bool", higher, exact, run, {},
       "1 where every output equals the CPU reference within the family's tolerance, or where the "
       "problem says that it has none (counts_only), else 0.",
       "Compare with the reference at the element named; run compute-sanitizer."},

      {"result.max_error", "1", lower, info, run, {},
       "The largest |result - reference| / max(1, |reference|), where the family compares with a "
       "tolerance.", ""},
      {"result.mean_absolute_error", "1", lower, info, run, {},
       "The mean of |result - reference|.", ""},
      {"result.mean_relative_error", "1", lower, info, run, {},
       "The mean of |result - reference| / |reference|, where the reference is not 0.", ""},

      {"registers", "registers/thread", lower, exact, ptxas, {},
       "Registers each thread of the kernel holds.", kFewerRegisters},
      {"barriers", "barriers/block", lower, exact, ptxas, {},
       "Named barriers that a block of the kernel uses.",
       "Reuse a barrier where its uses cannot overlap."},
      {"spill.store_bytes", "bytes/thread", lower, exact, ptxas, {},
       "Bytes of registers written to local memory because there were too few registers.",
       kFewerRegisters},
      {"spill.load_bytes", "bytes/thread", lower, exact, ptxas, {},
       "Bytes of spilled registers read back from local memory.", kFewerRegisters},
      {"stack.bytes", "bytes/thread", lower, exact, ptxas, {},
       "Stack frame of each thread: local arrays, call frames and spills.", kKeepInRegisters},
      {"shared.static_bytes", "bytes/block", lower, exact, ptxas, {},
       "Shared memory declared with a fixed size.",
       "Reuse buffers whose lifetimes do not overlap."},
      {"constant.bytes", "bytes", none, exact, ptxas, {},
       "Constant banks that belong to the kernel alone: what the driver keeps in front (352 bytes up "
       "to compute capability 8.9, 528 on 9.0, 896 from 10.0 on), its parameters and literals.",
       "Pass less by value; move tables to global memory."},
      {"occupancy.theoretical", "fraction", higher, exact, occupancy, {},
       "Warps that fit on a multiprocessor over the most it can hold.",
       "Use fewer registers or less shared memory per block, or another block size."},
      {"occupancy.limiter", "resource", none, exact, occupancy, {},
       "The resource that stops another block from fitting on a multiprocessor.", ""},

      {"shared.wavefronts", "wavefronts", lower, exact, sass, {kWavefronts},
       "Passes through the 32 shared-memory banks that the accesses took.",
       "Remove bank conflicts; use wider accesses."},
      {"shared.wavefronts_ideal", "wavefronts", none, exact, sass, {kWavefrontsIdeal},
       "Passes that the same lanes and widths would take without conflicts.", ""},
      {"shared.bank_conflicts", "wavefronts", lower, exact, sass,
       {kWavefronts, kWavefrontsIdeal},
       "Passes taken beyond the ideal: lanes of a warp wanted different words of one bank.",
       "Pad each row by one word, or swizzle the column index (XOR with the row)."},
      {"shared.bank_ways", "wavefronts/ideal", lower, exact, sass,
       {kWavefronts, kWavefrontsIdeal},
       "Wavefronts over ideal of the worst source line: 32 means every lane waits for its turn.",
       "Pad each row by one word, or swizzle the column index (XOR with the row)."},
      {"shared.requests", "requests", lower, exact, sass, {kSharedRequests, kAsyncRequests},
       "Warp instructions that touch shared memory.",
       "Use wider accesses, or keep values in registers."},

      {"global.load.sectors", "sectors", lower, exact, sass, {kSectors, kLoads, kAsyncRequests},
       "32-byte sectors that global loads touch.", kCoalesce},
      {"global.load.requests", "requests", lower, exact, sass, {kLoads, kAsyncRequests},
       "Warp instructions that load from global memory.", "Load wider words (float4)."},
      {"global.load.sectors_per_request", "sectors/request", lower, exact, sass,
       {kSectors, kLoads, kAsyncRequests},
       "Sectors per load instruction: 4 is ideal for 4-byte words, 32 is the worst.", kCoalesce},
      {"global.store.sectors", "sectors", lower, exact, sass, {kSectors, kStores},
       "32-byte sectors that global stores touch.", kCoalesce},
      {"global.store.requests", "requests", lower, exact, sass, {kStores},
       "Warp instructions that store to global memory.", "Store wider words (float4)."},
      {"global.store.sectors_per_request", "sectors/request", lower, exact, sass,
       {kSectors, kStores},
       "Sectors per store instruction: 4 is ideal for 4-byte words, 32 is the worst.", kCoalesce},
      {"global.atomic.sectors", "sectors", lower, exact, sass,
       {kSectors, kAtomics, kReductions}, "32-byte sectors that global atomics touch.",
       "Reduce within the warp or block first."},
      {"global.atomic.requests", "requests", lower, exact, sass, {kAtomics, kReductions},
       "Warp instructions that update global memory atomically.",
       "Reduce within the warp or block first."},
      {"global.atomic.sectors_per_request", "sectors/request", lower, exact, sass,
       {kSectors, kAtomics, kReductions}, "Sectors per atomic instruction.",
       "Reduce within the warp or block first."},
      {"global.sectors_ideal", "sectors", none, exact, sass, {kSectorsIdeal},
       "Sectors that the same lanes and widths would need if they were packed.", ""},
      {"global.excess_sectors", "sectors", lower, exact, sass, {kSectors, kSectorsIdeal},
       "Sectors touched beyond the ideal: bytes moved that no lane asked for.", kCoalesce},

      {"local.sectors", "sectors", lower, exact, sass, {"smsp__sass_sectors_mem_local"},
       "32-byte sectors of local memory touched: spills and arrays that are not in registers.",
       kKeepInRegisters},
      {"local.requests", "requests", lower, exact, sass, {"smsp__sass_inst_executed_op_local"},
       "Warp instructions that touch local memory.", kKeepInRegisters},
      {"instructions", "instructions", lower, exact, sass, {"smsp__sass_inst_executed"},
       "Warp instructions executed.", "Do less per element; use wider accesses."},
      {"branches.divergent", "branches", lower, exact, sass,
       {"smsp__sass_branch_targets_threads_divergent"},
       "Branches at which the lanes of a warp went different ways.",
       "Let whole warps decide alike: compute the condition from the warp, not the lane."},

      {"time.median_us", "us", lower, bounded, timer, {},
       "Time of the launches by CUDA events, launch overhead included: the median of many runs.", ""},
      {"time.relative_to", "times", higher, bounded, timer, {},
       "Speed in multiples of the yardstick's: the yardstick's median time over that of the case, of "
       "the same run.", ""},
      {"throughput.bytes_per_second", "B/s", higher, bounded, timer, {},
       "The bytes that any solution must move over the median time.",
       "Move each byte once, in whole sectors; have more loads in flight."},
      {"throughput.percent_of_peak", "% of peak", higher, bounded, timer, {},
       "The same as a share of the device memory's peak: its clock times the width of its bus.",
       "Move each byte once, in whole sectors; have more loads in flight."},
      {"throughput.percent_of_measured_peak", "% of measured peak", higher, bounded, timer, {},
       "The same as a share of what the runtime's own copy and fill reach on this device.",
       "Move each byte once, in whole sectors; have more loads in flight."},
      {"throughput.flops_per_second", "FLOP/s", higher, bounded, timer, {},
       "The arithmetic operations that any solution must do over the median time.",
       "Keep operands in registers; let each load feed more operations."},
      {"time.profiled_us", "us", lower, bounded, range, {"gpu__time_duration.sum"},
       "Time that the GPU spent on the launches, the median of several profiled rounds.", ""},
      {"occupancy.achieved", "fraction", higher, bounded, range,
       {"sm__warps_active.avg.pct_of_peak_sustained_active"},
       "Warps that were resident on average over the most a multiprocessor can hold.",
       "Launch enough blocks, of even length."},
      {"dram.bytes", "bytes", lower, bounded, range, {"dram__bytes.sum"},
       "Bytes moved to and from device memory.",
       "Read each byte once; keep what is reused in cache."},
      {"dram.percent_of_peak", "%", higher, bounded, range,
       {"dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       "Share of the peak bandwidth of device memory.", "Have more loads in flight."},
      {"l2.hit_percent", "%", higher, bounded, range, 
       {"lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum"},
       "Share of L2 accesses that found their sector there.", "Work on tiles that fit into L2."},
      {"shared.raw_bank_conflicts", "conflicts", lower, info, range,
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
       "The hardware's conflict counter: it also counts arbitration and differs from run to run, "
       "so it is shown and never judged.",
       ""},
  };
  return kTable;
}
// clang-format on

}  // namespace

std::span<const Metric> catalog() { return table(); }

const Metric* find_metric(std::string_view id) {
  const auto found = std::ranges::find(table(), id, &Metric::id);
  return found == table().end() ? nullptr : &*found;
}

const Metric& metric(std::string_view id) {
  if (const Metric* found = find_metric(id)) return *found;
  std::vector<std::string> ids;
  for (const Metric& row : table()) ids.emplace_back(row.id);
  throw std::out_of_range("unknown metric '" + std::string(id) + "'" + did_you_mean(id, ids));
}

std::vector<std::string_view> cupti_names(Source source) {
  std::vector<std::string_view> names;
  for (const Metric& row : table()) {
    if (row.source != source) continue;
    for (std::string_view name : row.cupti_names) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

bool is_run_time(const Metric& metric) {
  return metric.source != ptxas && metric.source != occupancy;
}

bool is_word(const Metric& metric) { return metric.unit == "resource"; }

std::string_view to_string(Direction direction) {
  return direction == lower ? "lower" : direction == higher ? "higher" : "-";
}

std::string_view to_string(Class cls) {
  return cls == exact ? "exact" : cls == bounded ? "bounded" : "info";
}

std::string_view to_string(Source source) {
  switch (source) {
    case run:
      return "run";
    case ptxas:
      return "ptxas";
    case occupancy:
      return "occupancy";
    case sass:
      return "cupti-sass";
    case range:
      return "cupti-range";
    case timer:
      return "cuda-events";
  }
  return "";
}

}  // namespace warpgauge::metrics
