// The table of metrics.
#include "metrics/facts/catalog.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "metrics/base/nearest.h"
#include "metrics/facts/counter_row.h"

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
constexpr std::string_view kBulkLoads = "smsp__sass_inst_executed_op_tma_ld";
constexpr std::string_view kBulkStores = "smsp__sass_inst_executed_op_tma_st";
constexpr std::string_view kBulkReductions = "smsp__sass_inst_executed_op_tma_red";
constexpr std::string_view kClusterAccesses = "smsp__sass_inst_executed_op_dshared";
constexpr std::string_view kWgmmas = "smsp__sass_inst_executed_op_shared_gmma";

// Nsight Compute's.
constexpr std::string_view kNsightWavefronts = "memory_l1_wavefronts_shared";
constexpr std::string_view kNsightWavefrontsIdeal = "memory_l1_wavefronts_shared_ideal";
constexpr std::string_view kNsightSectorsIdeal = "memory_l2_theoretical_sectors_global_ideal";

constexpr std::string_view kCoalesce =
    "Let neighbouring lanes touch neighbouring addresses, aligned to 32 bytes.";
constexpr std::string_view kPadRows =
    "Pad rows of n x 128 bytes by what an access takes of each (4 at least), or XOR the column "
    "with the row.";
constexpr std::string_view kFewerRegisters =
    "Shorten live ranges, or raise the cap (__launch_bounds__, -maxrregcount).";
constexpr std::string_view kRounding =
    "Sum in a tree or with compensation (Kahan), or in a wider type.";
constexpr std::string_view kLargerCopies =
    "Copy larger tiles, from one thread of the block: each lane that executes it makes a copy.";
constexpr std::string_view kReuseTiles =
    "Reuse a tile for more work, or let the blocks of a cluster share it (multicast).";
constexpr std::string_view kWideLoads = "Few narrow ones: a load of 128 bits replaces four of 32.";
constexpr std::string_view kLoadWider =
    "Load float4 or the like from aligned addresses, known as such to the compiler.";
constexpr std::string_view kKeepInRegisters =
    "Index local arrays with compile-time constants, unroll, and avoid spills.";

// A table reads best as one: a metric to an entry, its words on lines of their own.
// clang-format off
const std::vector<Metric>& table() {
  static const std::vector<Metric> kTable = {
      {"result.correct", "bool", higher, exact, run, {},
       "1 where every output equals the CPU reference within the family's tolerance, or where "
       "the problem says that it has none (counts_only), else 0.",
       "1: no element is out of tolerance.",
       "Compare with the reference at the element named; run compute-sanitizer."},

      {"result.max_error", "1", lower, info, run, {},
       "The largest |result - reference| / max(1, |reference|), where the family compares with "
       "a tolerance.",
       "0 where the arithmetic is exact, else well within the family's tolerance; growth from "
       "one commit to the next is worth a look.",
       kRounding},
      {"result.mean_absolute_error", "1", lower, info, run, {},
       "The mean of |result - reference|.",
       "0 where the arithmetic is exact, else about the rounding error of the type at the size "
       "of the results.",
       kRounding},
      {"result.mean_relative_error", "1", lower, info, run, {},
       "The mean of |result - reference| / |reference|, where the reference is not 0.",
       "0 where the arithmetic is exact, else near the unit roundoff of the type (6e-8 for "
       "float, 1e-16 for double); long sums and results that cancel have more.",
       kRounding},

      {"registers", "registers/thread", lower, exact, cubin, {},
       "Registers each thread of the kernel holds.",
       "Few enough for the occupancy that hides the latencies, and enough to spill nothing; up "
       "to 32 cost no occupancy where a multiprocessor holds 2048 threads (40 at 1536, 64 at "
       "1024).",
       "Shorten live ranges, unroll less, or lower the cap (__launch_bounds__, -maxrregcount) "
       "as long as nothing spills.",
       {}, Cost::occupancy},
      {"registers.least", "registers/thread", none, exact, cubin, {},
       "The fewest registers that a warpgroup of the kernel changes to (setmaxnreg), or those of "
       "the launch where it has none.",
       "What a warpgroup that only copies needs (24 to 40), so that the others get the rest.",
       "Lower setmaxnreg.dec of the warpgroup that copies as long as nothing spills."},
      {"registers.most", "registers/thread", lower, exact, cubin, {},
       "The most registers that a warpgroup of the kernel changes to (setmaxnreg), or those of the "
       "launch where it has none.",
       "What the warpgroups that compute need: over all warpgroups of a block the sum is at most "
       "that of the launch.",
       "Give more of the registers of warpgroups that copy to those that compute.",
       {}, Cost::occupancy},
      {"barriers", "barriers/block", lower, exact, cubin, {},
       "Named barriers that a block of the kernel uses.",
       "1, or 0 where no block synchronises; more (at most 16) only where parts of a block wait "
       "on their own.",
       "Reuse a barrier where its uses cannot overlap.",
       {}, Cost::occupancy},
      {"spill.store_bytes", "bytes/thread", lower, exact, cubin, {},
       "Bytes of registers written to local memory because there were too few registers.",
       "0: all live values fit into registers.",
       kFewerRegisters},
      {"spill.load_bytes", "bytes/thread", lower, exact, cubin, {},
       "Bytes of spilled registers read back from local memory.",
       "0; where a spill cannot be avoided, few bytes, and read outside of loops.",
       kFewerRegisters},
      {"stack.bytes", "bytes/thread", lower, exact, cubin, {},
       "Stack of each thread: local arrays, spills, and the frames of the functions that it calls, "
       "along the deepest chain of calls. Where functions call themselves, no compiler knows how "
       "deep: one frame of each.",
       "0: nothing that a thread owns needs an address in memory.",
       "Index local arrays with compile-time constants, unroll, let calls be inlined, and avoid "
       "spills."},
      {"local.load_instructions", "instructions", lower, exact, cubin, {},
       "Instructions of the machine code that load from local memory: refills of spilled registers, "
       "and local arrays. With those of the functions that the kernel calls.",
       "0: everything that belongs to one thread is in registers.",
       kKeepInRegisters},
      {"local.store_instructions", "instructions", lower, exact, cubin, {},
       "Instructions of the machine code that store to local memory: spilled registers, and local "
       "arrays. With those of the functions that the kernel calls.",
       "0: everything that belongs to one thread is in registers.",
       kKeepInRegisters},
      {"code.bytes", "bytes", lower, exact, cubin, {},
       "Machine code of the kernel, without the functions that it calls.",
       "No value by itself: a loop should fit into the instruction caches, of which the first has "
       "32 KiB on 8.0 and 9.0.",
       "Unroll less; let large functions that are called often not be inlined.",
       {}, Cost::size},
      {"mix.tensor", "instructions", none, exact, cubin, {},
       "Instructions of the machine code that multiply tiles on tensor cores: HMMA, IMMA, BMMA, "
       "DMMA, QMMA, OMMA, HGMMA, IGMMA, BGMMA, QGMMA, UTCHMMA and the like.",
       "Those that the algorithm has, times the unrolling of its loops.",
       "0 where some are expected: types or shapes are not those of tensor cores."},
      {"mix.mufu", "instructions", none, exact, cubin, {},
       "Instructions of the machine code for approximate functions (MUFU): reciprocals, roots, "
       "exponentials, logarithms, sines.",
       "Those that the algorithm has, times the unrolling of its loops; divisions have one each.",
       "Divide once and multiply; take common factors out of loops."},
      {"mix.f64", "instructions", none, exact, cubin, {},
       "Instructions of the machine code with double precision: DADD, DMUL, DFMA, DSETP.",
       "0 in a kernel of float: GPUs without a unit for it take 32 or 64 times as long.",
       "Look for literals without an f (2.0) and calls of functions of double."},
      {"mix.uniform", "instructions", none, exact, cubin, {},
       "Instructions of the machine code that a warp executes once, on the uniform datapath: names "
       "that begin with U, such as UIADD3 and ULDC, with VOTEU and LDCU; not copies in bulk.",
       "No value by itself: what is the same for all lanes costs less there.",
       "Let addresses and conditions of loops depend on the block alone."},
      {"mix.lds_8", "instructions", none, exact, cubin, {},
       "Loads of 8 bits per lane from shared memory (LDS) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.lds_16", "instructions", none, exact, cubin, {},
       "Loads of 16 bits per lane from shared memory (LDS) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.lds_32", "instructions", none, exact, cubin, {},
       "Loads of 32 bits per lane from shared memory (LDS) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.lds_64", "instructions", none, exact, cubin, {},
       "Loads of 64 bits per lane from shared memory (LDS) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.lds_128", "instructions", none, exact, cubin, {},
       "Loads of 128 bits per lane from shared memory (LDS) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.ldg_8", "instructions", none, exact, cubin, {},
       "Loads of 8 bits per lane from global memory (LDG) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.ldg_16", "instructions", none, exact, cubin, {},
       "Loads of 16 bits per lane from global memory (LDG) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.ldg_32", "instructions", none, exact, cubin, {},
       "Loads of 32 bits per lane from global memory (LDG) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.ldg_64", "instructions", none, exact, cubin, {},
       "Loads of 64 bits per lane from global memory (LDG) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.ldg_128", "instructions", none, exact, cubin, {},
       "Loads of 128 bits per lane from global memory (LDG) in the machine code.",
       kWideLoads, kLoadWider},
      {"mix.ldg_256", "instructions", none, exact, cubin, {},
       "Loads of 256 bits per lane from global memory (LDG) in the machine code.",
       kWideLoads, kLoadWider},
      {"shared.static_bytes", "bytes/block", lower, exact, cubin, {},
       "Shared memory declared with a fixed size.",
       "What the reuse of data pays for, as long as shared memory does not limit occupancy; "
       "ptxas allows 48 KiB.",
       "Reuse buffers whose lifetimes do not overlap.",
       {}, Cost::occupancy, {"launch__shared_mem_per_block_static"}},
      {"constant.bytes", "bytes", none, exact, cubin, {},
       "Constant banks of the kernel: what the driver keeps in front (352 bytes up to compute "
       "capability 8.9, 528 on 9.0, 896 from 10.0 on), its parameters and literals, and the "
       "__constant__ variables of its module, which all kernels of the file share.",
       "Little more than what the driver keeps in front and the tables that are read: parameters "
       "are copied with every launch.",
       "Pass less by value; move tables to global memory."},
      {"cluster.blocks", "blocks/cluster", lower, exact, cubin, {},
       "Blocks of a cluster, as the launch (cudaLaunchAttributeClusterDimension) or the kernel "
       "(__cluster_dims__) says.",
       "1: no clusters. 2 leave no multiprocessor without work; larger clusters share more.",
       "Take clusters of 2, or blocks that use less of a multiprocessor, where larger ones leave "
       "multiprocessors empty (occupancy.limiter: clusters).",
       {}, Cost::occupancy},
      {"occupancy.theoretical", "fraction", higher, exact, occupancy, {},
       "Warps that fit on a multiprocessor over the most it can hold; with clusters over all "
       "multiprocessors of the chip, because a cluster lies in one GPC. A multiprocessor holds 8 "
       "blocks of clusters at most.",
       "Enough warps to hide the kernel's latencies: fewer are needed where each thread has "
       "independent work of its own (instruction-level parallelism), and more is not always "
       "faster.",
       "Use fewer registers or less shared memory per block, or another block size.",
       {}, Cost::direct, {"sm__maximum_warps_per_active_cycle_pct"}},
      {"occupancy.limiter", "resource", none, exact, occupancy, {},
       "The resource that stops another block from fitting on a multiprocessor.",
       "warps, the multiprocessor's own limit; another is worth a look only where "
       "occupancy.theoretical is too low to hide latencies.",
       "Use less of what it names (registers, shared memory, barriers); at blocks take larger "
       "blocks, at warps a block size that divides the multiprocessor's threads, at clusters "
       "larger blocks or smaller clusters."},

      {"shared.wavefronts", "wavefronts", lower, exact, sass, {kWavefronts},
       "Passes through the 32 shared-memory banks that the accesses took.",
       "As many as shared.wavefronts_ideal; of two variants without conflicts, the one with "
       "fewer asks less of shared memory.",
       "Remove bank conflicts; pack 1- and 2-byte values into words; keep in registers what is "
       "read again.",
       "shared.wavefronts_ideal", Cost::direct,
       {kNsightWavefronts}},
      {"shared.wavefronts_ideal", "wavefronts", none, exact, sass, {kWavefrontsIdeal},
       "Passes that the same lanes and widths would take without conflicts.",
       "What shared.wavefronts should be: about the bytes of all lanes over 128; a variant with "
       "a lower one asks less of shared memory.",
       "Keep in registers what is read again; pack 1- and 2-byte values into words.",
       {}, Cost::direct, {kNsightWavefrontsIdeal}},
      {"shared.bank_conflicts", "wavefronts", lower, exact, sass,
       {kWavefronts, kWavefrontsIdeal},
       "Passes taken beyond the ideal: lanes of a warp wanted different words of one bank.",
       "0: each request takes as few passes as its words need; atomics on one word mostly take "
       "turns, which counts too.",
       kPadRows, "shared.wavefronts_ideal", Cost::direct,
       {kNsightWavefronts, kNsightWavefrontsIdeal}},
      {"shared.bank_ways", "wavefronts/ideal", lower, exact, sass,
       {kWavefronts, kWavefrontsIdeal},
       "Wavefronts over ideal of the worst source line: 32 means every lane waits for its turn.",
       "1: no line that touches shared memory has a conflict; at n the worst line keeps the "
       "banks busy n times as long as it needs to.",
       kPadRows},
      {"shared.requests", "requests", lower, exact, sass, {kSharedRequests, kAsyncRequests},
       "Warp instructions that touch shared memory.",
       "Few for the bytes: a full warp moves 128 with 4 bytes a lane, and 512 with 16.",
       "Use wider accesses, or keep values in registers."},

      {"global.load.sectors", "sectors", lower, exact, sass, {kSectors, kLoads, kAsyncRequests},
       "32-byte sectors that global loads touch.",
       "The bytes of the input over 32; more are loaded again, or hold bytes that no lane uses.",
       "Let neighbouring lanes touch neighbouring addresses, aligned to 32 bytes; keep in "
       "shared memory or registers what is read again.",
       {}, Cost::direct, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}},
      {"global.load.requests", "requests", lower, exact, sass, {kLoads, kAsyncRequests},
       "Warp instructions that load from global memory.",
       "Few for the bytes: a full warp loads 128 with 4 bytes a lane, and 512 with 16.",
       "Load wider words (float4).",
       {}, Cost::direct, {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}},
      {"global.load.sectors_per_request", "sectors/request", lower, exact, sass,
       {kSectors, kLoads, kAsyncRequests},
       "Sectors per load instruction: 4 is ideal for 4-byte words, 32 is the worst.",
       "As many as a lane has bytes where a full warp loads neighbouring words: 4 for float, 16 "
       "for float4; fewer where lanes share words, 1 for a broadcast.",
       kCoalesce},
      {"global.store.sectors", "sectors", lower, exact, sass, {kSectors, kStores},
       "32-byte sectors that global stores touch.",
       "The bytes of the output over 32: each is stored once, in whole sectors.",
       "Let neighbouring lanes touch neighbouring addresses, aligned to 32 bytes; store only "
       "what is final.",
       {}, Cost::direct, {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
      {"global.store.requests", "requests", lower, exact, sass, {kStores},
       "Warp instructions that store to global memory.",
       "Few for the bytes: a full warp stores 128 with 4 bytes a lane, and 512 with 16.",
       "Store wider words (float4).",
       {}, Cost::direct, {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
      {"global.store.sectors_per_request", "sectors/request", lower, exact, sass,
       {kSectors, kStores},
       "Sectors per store instruction: 4 is ideal for 4-byte words, 32 is the worst.",
       "As many as a lane has bytes where a full warp stores neighbouring words: 4 for float, "
       "16 for float4.",
       kCoalesce},
      {"global.atomic.sectors", "sectors", lower, exact, sass,
       {kSectors, kAtomics, kReductions},
       "32-byte sectors that global atomics touch.",
       "Few beside those of the loads: each is updated in L2, where updates of one address wait "
       "for each other.",
       "Reduce within the warp or block first."},
      {"global.atomic.requests", "requests", lower, exact, sass, {kAtomics, kReductions},
       "Warp instructions that update global memory atomically.",
       "Few beside the loads: a reduction to one value needs one for each block, or fewer.",
       "Reduce within the warp or block first."},
      {"global.atomic.sectors_per_request", "sectors/request", lower, exact, sass,
       {kSectors, kAtomics, kReductions},
       "Sectors per atomic instruction.",
       "As many as a lane has bytes where a full warp updates neighbouring words; 1 can be "
       "worse, where all lanes update one word and take turns.",
       "Let neighbouring lanes update neighbouring words; where they update one, reduce within "
       "the warp or block first."},
      {"global.sectors_ideal", "sectors", none, exact, sass, {kSectorsIdeal},
       "Sectors that the same lanes and widths would need if they were packed.",
       "What the sectors of loads, stores and atomics should add up to; a variant with a lower "
       "one asks for fewer bytes.",
       "Ask for fewer bytes: smaller types, reuse in shared memory or registers, fused kernels.",
       {}, Cost::direct, {kNsightSectorsIdeal}},
      {"global.excess_sectors", "sectors", lower, exact, sass, {kSectors, kSectorsIdeal},
       "Sectors touched beyond the ideal: bytes moved that no lane asked for.",
       "0: each request touches as few sectors as its bytes need; rows that do not begin at a "
       "multiple of 32 bytes have one more a request.",
       kCoalesce, "global.sectors_ideal", Cost::direct,
       {"memory_l2_theoretical_sectors_global", kNsightSectorsIdeal}},
      {"global.l1_tags", "tags", lower, exact, sass, {"smsp__sass_l1tex_tags_mem_global"},
       "Look-ups of lines of 128 bytes in L1, one for each line that a request touches.",
       "As many as a full warp's neighbouring words have lines: 1 of 4 bytes, 2 of 8, 4 of 16.",
       "Let neighbouring lanes touch neighbouring addresses, aligned to 128 bytes.",
       {}, Cost::direct, {"memory_l1_tag_requests_global"}},

      {"bulk.load.instructions", "instructions", lower, exact, sass, {kBulkLoads},
       "Bulk copies (TMA) from global to shared memory that were executed, of plain memory and "
       "of tensors.",
       "Few for the bytes: one copies a whole tile, of up to 256 elements in each dimension.",
       kLargerCopies},
      {"bulk.load.bytes", "bytes", lower, exact, emulator, {},
       "Bytes that bulk copies read from global memory; one for several blocks counts once.",
       "The bytes of the input, times how often each tile is needed again.",
       kReuseTiles},
      {"bulk.store.instructions", "instructions", lower, exact, sass,
       {kBulkStores, kBulkReductions},
       "Bulk copies and reductions from shared to global memory that were executed.",
       "Few for the bytes: one copies a whole tile, of up to 256 elements in each dimension.",
       kLargerCopies},
      {"bulk.store.bytes", "bytes", lower, exact, emulator, {},
       "Bytes that bulk copies and reductions write to global memory.",
       "The bytes of the output: each is stored once.",
       "Store only what is final."},
      {"bulk.sectors", "sectors", lower, exact, emulator, {},
       "32-byte sectors of global memory that bulk copies touch, in both directions.",
       "The bytes that they move over 32; more are copied again, or hold bytes that no copy "
       "wants.",
       "Let copies and the rows of tiles begin and end at multiples of 32 bytes."},
      {"wgmma.instructions", "instructions", lower, exact, sass, {kWgmmas},
       "Warp instructions of asynchronous matrix products (wgmma); a warpgroup executes four at "
       "once.",
       "The operations of the product over those of the widest instruction (n256).",
       "Let each instruction compute a wider tile."},
      {"wgmma.wavefronts", "wavefronts", lower, exact, sass, {kWavefronts, kWgmmas},
       "Those of shared.wavefronts in which wgmma reads its operands: it has no bank conflicts.",
       "The bytes of the operands in shared memory over 128.",
       "Compute wider tiles, or keep the first operand in registers."},
      {"cluster.requests", "requests", lower, exact, sass, {kClusterAccesses},
       "Warp instructions that access shared memory of other blocks of the cluster, also by bulk "
       "copies between blocks. Lanes that access their own block's by an address of the cluster "
       "count in shared.requests.",
       "Few beside shared.requests: memory of another block is farther away.",
       "Copy what is used again into the block's own shared memory, by a bulk copy."},

      {"local.sectors", "sectors", lower, exact, sass, {"smsp__sass_sectors_mem_local"},
       "32-byte sectors of local memory touched: spills and arrays that are not in registers.",
       "0: everything that belongs to one thread is in registers.",
       kKeepInRegisters,
       {}, Cost::direct, {"memory_l2_theoretical_sectors_local"}},
      {"local.requests", "requests", lower, exact, sass, {"smsp__sass_inst_executed_op_local"},
       "Warp instructions that touch local memory.",
       "0: everything that belongs to one thread is in registers.",
       kKeepInRegisters},
      {"instructions", "instructions", lower, exact, sass, {"smsp__sass_inst_executed"},
       "Warp instructions executed.",
       "No value by itself: of variants at the same size on the same architecture, the one with "
       "fewer has less to issue.",
       "Do less per element; use wider accesses.",
       {}, Cost::direct, {"smsp__inst_executed.sum"}},
      {"branches.divergent", "branches", lower, exact, sass,
       {"smsp__sass_branch_targets_threads_divergent"},
       "Branches at which the lanes of a warp went different ways.",
       "0, or as many as there are warps at the edge of the data; short conditionals mostly "
       "become predicates, which are no branches.",
       "Let whole warps decide alike: compute the condition from the warp, not the lane.",
       {}, Cost::direct, {"smsp__sass_branch_targets_threads_divergent.sum"}},

      {"time.median_us", "us", lower, bounded, timer, {},
       "Time of the launches by CUDA events, all of them queued before the first begins: the "
       "median of many runs.",
       "Near the longer of two times: the least bytes divided by the peak bandwidth, and the least "
       "operations by the peak of arithmetic; a few microseconds are mostly the GPU's overhead of "
       "a launch.",
       "Fix what the exact counts show (excess sectors, conflicts, spills); near a peak, move "
       "or compute less; fuse short launches."},
      {"time.relative_to", "times", higher, bounded, timer, {},
       "Speed in multiples of the yardstick's: the yardstick's median time over that of the "
       "case, of the same run.",
       "1 or more: as fast as the yardstick, or faster.",
       "Fix what the exact counts show (excess sectors, conflicts, spills); compare "
       "throughputs and counts with the yardstick's."},
      {"throughput.bytes_per_second", "B/s", higher, bounded, timer, {},
       "The bytes that any solution must move over the median time.",
       "Near what the device's own copy reaches where bytes are the bound; low is right where "
       "arithmetic is.",
       "Move each byte once, in whole sectors; have more loads in flight."},
      {"throughput.percent_of_peak", "% of peak", higher, bounded, timer, {},
       "The same as a share of the device memory's peak: its clock times the width of its bus.",
       "80 or more where bytes are the bound, since no kernel reaches the whole peak; above 100 "
       "caches have kept some of the bytes.",
       "Move each byte once, in whole sectors; have more loads in flight."},
      {"throughput.percent_of_measured_peak", "% of measured peak", higher, bounded, timer, {},
       "The same as a share of what the runtime's own copy and fill reach on this device.",
       "About 100 where bytes are the bound: the kernel is as fast as a copy; low is right "
       "where arithmetic is.",
       "Move each byte once, in whole sectors; have more loads in flight."},
      {"throughput.flops_per_second", "FLOP/s", higher, bounded, timer, {},
       "The arithmetic operations that any solution must do over the median time.",
       "Near the peak of the units that do the work (FP32, FP64, tensor cores) where operations "
       "are the bound; low is right where bytes are.",
       "Keep operands in registers; let each load feed more operations."},
      {"throughput.percent_of_arithmetic_peak", "% of arithmetic peak", higher, bounded, timer, {},
       "The same, of cases of f32 and f64, as a share of the device's peak of this type without "
       "tensor cores: multiprocessors, multiply-adds of each in a clock, two operations of each, "
       "at the highest clock.",
       "60 or more where operations are the bound and are multiply-adds, half of it where they are "
       "additions or products alone; above 100 tensor cores did the work.",
       "Keep operands in registers; let each load feed more operations."},
      {"time.profiled_us", "us", lower, bounded, range, {"gpu__time_duration.sum"},
       "Time on the GPU from the first launch to the end of the last, the median of several "
       "profiled rounds. Between launches the GPU can wait for the host, which counts.",
       "Near time.median_us for long kernels; where it is far below, launch overhead or cold "
       "caches make the difference, where it is far above, the host.",
       "Fix what the exact counts show (excess sectors, conflicts, spills); near a peak, move "
       "or compute less."},
      {"occupancy.achieved", "fraction", higher, bounded, range,
       {"sm__warps_active.avg.pct_of_peak_sustained_active"},
       "Warps that were resident on average over the most a multiprocessor can hold.",
       "Near occupancy.theoretical; far below it blocks are too few, or of uneven length.",
       "Launch enough blocks, of even length."},
      {"dram.bytes", "bytes", lower, bounded, range, {"dram__bytes.sum"},
       "Bytes moved to and from device memory.",
       "About the bytes that any solution must move, or fewer where some stay in L2; more are "
       "read again, or lie unused in their sectors.",
       "Read each byte once; keep what is reused in cache."},
      {"dram.percent_of_peak", "%", higher, bounded, range,
       {"dram__throughput.avg.pct_of_peak_sustained_elapsed"},
       "Share of the peak bandwidth of device memory.",
       "80 or more where device memory is the bound; low is right where caches or arithmetic "
       "are.",
       "Have more loads in flight: wider words, independent loads in each thread, more warps."},
      {"l2.hit_percent", "%", higher, bounded, range,
       {"lts__t_sectors_lookup_hit.sum", "lts__t_sectors_lookup_miss.sum"},
       "Share of L2 accesses that found their sector there.",
       "High where blocks reuse data; low is right where each byte is touched once.",
       "Work on tiles that fit into L2."},
      {"shared.raw_bank_conflicts", "conflicts", lower, info, range,
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
       "The hardware's conflict counter: it also counts arbitration and differs from run to "
       "run, so it is shown and never judged.",
       "Nothing to judge: where shared.bank_conflicts is 0, what is left here is arbitration, "
       "and no access is at fault.",
       "Fix shared.bank_conflicts where that is not 0; no choice of addresses removes the "
       "rest."},
  };
  return kTable;
}
// clang-format on

}  // namespace

std::span<const Metric> catalog() { return table(); }

const Metric* find_metric(std::string_view id) {
  static const auto kPlaces = [] {
    std::unordered_map<std::string_view, const Metric*> places;
    for (const Metric& row : table()) places.emplace(row.id, &row);
    return places;
  }();
  const auto found = kPlaces.find(id);
  return found == kPlaces.end() ? find_counter(id) : found->second;
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
  return metric.source != cubin && metric.source != occupancy;
}

bool is_timed(const Metric& metric) { return metric.source == range || metric.source == timer; }

bool is_word(const Metric& metric) { return metric.unit == "resource"; }

std::string_view to_string(Direction direction) {
  return direction == lower ? "lower" : direction == higher ? "higher" : "-";
}

std::string_view to_string(Class cls) {
  return cls == exact ? "exact" : cls == bounded ? "bounded" : "info";
}

std::string_view to_string(Cost cost) {
  constexpr std::string_view kTexts[] = {"direct", "occupancy", "size"};
  return kTexts[static_cast<std::size_t>(cost)];
}

std::string_view to_string(Source source) {
  switch (source) {
    case run:
      return "run";
    case cubin:
      return "cubin";
    case occupancy:
      return "occupancy";
    case sass:
      return "cupti-sass";
    case range:
      return "cupti-range";
    case timer:
      return "cuda-events";
    case emulator:
      return "emulator";
  }
  return "";
}

}  // namespace warpgauge::metrics
