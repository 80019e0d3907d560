// Has the table of architectures, with the source of each column.
#include "metrics/architecture/architectures.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "metrics/architecture/arch_name.h"
#include "metrics/base/nearest.h"

namespace warpgauge::metrics {
namespace {

constexpr int kRegisters = 65536;
constexpr std::uint32_t kKiB = 1024;

struct Chip {
  int multiprocessors, l2_mib, bus_bits;
};

constexpr Architecture row(int major, int minor, std::string_view generation, int threads,
                           int blocks, std::uint32_t shared_kib, int multiply_adds, Chip chip,
                           std::string_view features) {
  const std::uint32_t reserved = major < 8 ? 0 : kKiB;
  return {.major = major,
          .minor = minor,
          .generation = generation,
          .features = features,
          .max_threads_per_multiprocessor = threads,
          .max_blocks_per_multiprocessor = blocks,
          .registers_per_multiprocessor = kRegisters,
          .registers_per_block = kRegisters,
          .multiply_adds_per_clock = multiply_adds,
          .shared_per_multiprocessor = shared_kib * kKiB,
          .shared_per_block = 48 * kKiB,
          .shared_per_block_opt_in = shared_kib * kKiB - reserved,
          .shared_reserved_per_block = reserved,
          .multiprocessors = chip.multiprocessors,
          .l2_mib = chip.l2_mib,
          .bus_bits = chip.bus_bits};
}

// Limits: CUDA Programming Guide 13.1, section 5.1.3 "Features and Technical Specifications": table
// 30 (threads, blocks) and table 31 with its footnote (registers, shared memory, 48 KiB without
// opt-in). The KiB that the system takes of each block: "Shared Memory" in the tuning guides from
// Ampere on. The guide leaves 8.8 out: its shared memory is that of cuda_occupancy.h. Threads and
// blocks of all rows are also those that ptxas 13.0 lets .minnctapersm ask for.
// Multiply-adds: the guide's table of the throughput of arithmetic instructions.
// Features: PTX ISA 9.0, "Target ISA Notes" of the instructions; CUDA Programming Guide 13, feature
// table and tuning guides.
// Chips: T4, A100, RTX 3090, Orin, Orin, RTX 4090, H100, B200, B300, Thor, RTX 5090, GB10. Launches
// depend on the number of multiprocessors alone.
constexpr Architecture kTable[] = {
    // cc and generation | threads, blocks, KiB of shared memory, float multiply-adds a clock, all
    // of a multiprocessor | multiprocessors, MiB of L2, bits of the memory bus of the chip |
    // features
    row(7, 5, "Turing", 1024, 16, 64, 64, {40, 4, 256},
        "ldmatrix, mma of 8-bit integers, uniform data path"),
    row(8, 0, "Ampere", 2048, 32, 164, 64, {108, 40, 5120},
        "cp.async, mbarrier, redux.sync, mma of bf16, tf32 and f64, L2 persistence"),
    row(8, 6, "Ampere", 1536, 16, 100, 128, {82, 6, 384},
        "twice the float units of 8.0, fewer double units"),
    row(8, 7, "Ampere", 1536, 16, 164, 128, {16, 4, 256}, "for embedded systems"),
    row(8, 8, "Ampere", 1536, 16, 100, 128, {16, 4, 256}, "for embedded systems"),
    row(8, 9, "Ada", 1536, 24, 100, 128, {128, 72, 384}, "mma of fp8"),
    row(9, 0, "Hopper", 2048, 32, 228, 128, {132, 50, 5120},
        "clusters, distributed shared memory, TMA (cp.async.bulk), wgmma, setmaxnreg"),
    row(10, 0, "Blackwell", 2048, 32, 228, 128, {148, 126, 8192},
        "tcgen05 and tensor memory, fp4 and fp6, 256-bit loads and stores"),
    row(10, 3, "Blackwell", 2048, 32, 228, 128, {148, 126, 8192}, "faster fp4 and exponentials"),
    row(11, 0, "Blackwell", 1536, 24, 228, 128, {20, 32, 256},
        "for embedded systems (10.1 before CUDA 13)"),
    row(12, 0, "Blackwell", 1536, 24, 100, 128, {170, 96, 512},
        "mma of fp4 and fp6, clusters and TMA without tcgen05"),
    row(12, 1, "Blackwell", 1536, 24, 100, 128, {48, 24, 256}, "for integrated systems"),
};

// PTX ISA 9.0, ".target": the first compute capabilities of code for one chip, and for a family.
constexpr int kFirstOfOneChip = 90, kFirstOfAFamily = 100;

int number_of(const Architecture& row) { return row.major * 10 + row.minor; }

}  // namespace

std::string Architecture::name() const { return ArchName{.number = number_of(*this)}.str(); }

double Architecture::peak_flops_per_second(int multiprocessors, double clock) const {
  return 2.0 * multiply_adds_per_clock * multiprocessors * clock;
}

std::span<const Architecture> architectures() { return kTable; }

const Architecture* find_architecture(std::string_view name) {
  const auto arch = ArchName::parse(name);
  if (!arch || (arch->suffix == 'a' && arch->number < kFirstOfOneChip) ||
      (arch->suffix == 'f' && arch->number < kFirstOfAFamily)) {
    return nullptr;
  }
  const auto* const found = std::ranges::find(kTable, arch->number, number_of);
  return found == std::end(kTable) ? nullptr : found;
}

const Architecture& architecture(std::string_view name) {
  if (const Architecture* found = find_architecture(name)) return *found;
  throw std::invalid_argument("unknown architecture '" + std::string(name) + "'" +
                              meant_architecture(name) + "; choose one of " +
                              known_architectures());
}

std::string emulated_gpu(std::string_view arch) {
  return "Emulated GPU (" + std::string(arch) + ")";
}

std::string known_architectures() {
  std::string text;
  for (const Architecture& row : kTable) text += (text.empty() ? "" : ", ") + row.name();
  return text + ", with an 'a' from sm_90 on, or an 'f' from sm_100 on";
}

std::string meant_architecture(std::string_view name) {
  std::vector<std::string> known;
  for (const Architecture& row : kTable) known.push_back(row.name());
  return meant_architecture(name, known);
}

std::string meant_architecture(std::string_view name, std::span<const std::string> known) {
  const std::string meant = did_you_mean(name, known);
  return meant.empty() ? did_you_mean("sm_" + std::string(name), known) : meant;
}

}  // namespace warpgauge::metrics
