// The counting rules against CUPTI: one warp, one access, random addresses and lanes. Compile with
// -lineinfo. Costs that the rules call exact must be what CUPTI counts; of the others the number
// that differ is printed. What differs is printed as calibration rows (tests/data/calibration: JSON
// lines), and WARPGAUGE_CALIBRATION=FILE writes all rows there. Unlike the first calibration these
// rows have no load of a table of offsets in their global columns, null for L1 tags, and, for
// copies, the offsets of the global side as "source_offsets".
#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/counting/counting_rules.h"
#include "metrics/counting/line_counts.h"
#include "metrics/cupti/cupti.h"
#include "tests/gpu/access_kernels.cuh"
#include "warpgauge/cuda_error.h"

namespace warpgauge::metrics::access_gpu_test {
namespace {

using namespace access_test;  // NOLINT: named so that the symbols of kernels are stable

constexpr std::uint32_t kAll = 0xffffffff;
constexpr std::size_t kBytes = 32 * 1024;  // of shared memory, and of the global buffer

template <typename Access>
void launch(const Pattern& pattern, unsigned char* buffer, unsigned* out) {
  access<Access><<<1, 32, kBytes>>>(pattern, buffer, out);
}

struct Op {
  const char* name;
  const char* space;
  int width;
  AccessKind kind;  // where `space` is shared, ldsm or async
  void (*launch)(const Pattern&, unsigned char* buffer, unsigned* out);
  int patterns;
  int since = 75;                  // the first architecture that has it
  std::uint32_t row_lanes = kAll;  // lanes whose addresses a matrix instruction reads
};

constexpr int kFew = 60;    // for rules of one case
constexpr int kMany = 800;  // for rules that depend on which lanes are on, or on two addresses

std::vector<Op> shared_ops() {
  using enum AccessKind;
  return {
      {"lds_u8", "shared", 1, shared_load, launch<SharedLoad<std::uint8_t>>, kFew},
      {"lds_u16", "shared", 2, shared_load, launch<SharedLoad<std::uint16_t>>, kFew},
      {"lds_u32", "shared", 4, shared_load, launch<SharedLoad<std::uint32_t>>, kFew},
      {"lds_u64", "shared", 8, shared_load, launch<SharedLoad<unsigned long long>>, kMany},
      {"lds_v4", "shared", 16, shared_load, launch<SharedLoad<uint4>>, 2 * kMany},
      {"sts_u8", "shared", 1, shared_store, launch<SharedStore<std::uint8_t>>, kFew},
      {"sts_u16", "shared", 2, shared_store, launch<SharedStore<std::uint16_t>>, kFew},
      {"sts_u32", "shared", 4, shared_store, launch<SharedStore<std::uint32_t>>, kFew},
      {"sts_u64", "shared", 8, shared_store, launch<SharedStore<unsigned long long>>, kFew},
      {"sts_v4", "shared", 16, shared_store, launch<SharedStore<uint4>>, kFew},
      {"atoms_add", "shared", 4, shared_atomic, launch<SharedAdd>, kFew},
      {"atoms_exch", "shared", 4, shared_atomic, launch<SharedExchange>, kFew},
      {"atoms_exch64", "shared", 8, shared_atomic, launch<SharedExchange64>, kFew},
      {"reds_add", "shared", 4, shared_atomic, launch<SharedReduceAdd>, kFew},
      {"reds_max", "shared", 4, shared_atomic, launch<SharedReduceMax>, kFew},
      {"atoms_inc1", "shared", 4, shared_popc_increment, launch<SharedIncrement>, kFew},
      {"atoms_cas", "shared", 4, shared_cas, launch<SharedCas>, kFew},
      {"atoms_cas64", "shared", 8, shared_cas, launch<SharedCas64>, kFew},
      {"ldsm_x1", "ldsm", 16, ldmatrix, launch<LoadMatrix1>, kFew, 75, 0xff},
      {"ldsm_x2", "ldsm", 16, ldmatrix, launch<LoadMatrix2>, kFew, 75, 0xffff},
      {"ldsm_x4", "ldsm", 16, ldmatrix, launch<LoadMatrix4>, kFew},
      {"stsm_x1", "ldsm", 16, stmatrix, launch<StoreMatrix1>, kFew, 90, 0xff},
      {"stsm_x4", "ldsm", 16, stmatrix, launch<StoreMatrix4>, kFew, 90},
  };
}

std::vector<Op> async_ops() {
  using enum AccessKind;
  return {
      {"ldgsts_4", "async", 4, async_copy, launch<AsyncCopy<4>>, kMany, 80},
      {"ldgsts_8", "async", 8, async_copy, launch<AsyncCopy<8>>, kMany, 80},
      {"ldgsts_16ca", "async", 16, async_copy, launch<AsyncCopyThroughL1>, kMany, 80},
      {"ldgsts_16", "async", 16, async_copy_bypass, launch<AsyncCopy<16>>, 2 * kMany, 80},
  };
}

std::vector<Op> global_ops() {
  constexpr AccessKind kNone{};
  return {
      {"ldg_u8", "global", 1, kNone, launch<GlobalLoad<std::uint8_t>>, kFew},
      {"ldg_u16", "global", 2, kNone, launch<GlobalLoad<std::uint16_t>>, kFew},
      {"ldg_u32", "global", 4, kNone, launch<GlobalLoad<std::uint32_t>>, kFew},
      {"ldg_u64", "global", 8, kNone, launch<GlobalLoad<unsigned long long>>, kFew},
      {"ldg_v4", "global", 16, kNone, launch<GlobalLoad<uint4>>, kFew},
      {"stg_u8", "global", 1, kNone, launch<GlobalStore<std::uint8_t>>, kFew},
      {"stg_u16", "global", 2, kNone, launch<GlobalStore<std::uint16_t>>, kFew},
      {"stg_u32", "global", 4, kNone, launch<GlobalStore<std::uint32_t>>, kFew},
      {"stg_u64", "global", 8, kNone, launch<GlobalStore<unsigned long long>>, kFew},
      {"stg_v4", "global", 16, kNone, launch<GlobalStore<uint4>>, kFew},
      {"atomg_add", "global", 4, kNone, launch<GlobalAdd>, kFew},
      {"redg_add", "global", 4, kNone, launch<GlobalReduceAdd>, kFew},
      {"redg_add64", "global", 8, kNone, launch<GlobalReduceAdd64>, kFew},
      {"redg_f32", "global", 4, kNone, launch<GlobalReduceFloat>, kFew},
  };
}

std::vector<Op> local_ops() {
  constexpr AccessKind kNone{};
  return {
      {"ldl_u8", "local", 1, kNone, launch<LocalLoad<std::uint8_t>>, kFew},
      {"ldl_u32", "local", 4, kNone, launch<LocalLoad<std::uint32_t>>, kFew},
      {"ldl_u64", "local", 8, kNone, launch<LocalLoad<unsigned long long>>, kFew},
      {"ldl_v4", "local", 16, kNone, launch<LocalLoad<uint4>>, kFew},
  };
}

// --- Patterns ---------------------------------------------------------------------------------

class Random {
 public:
  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(engine_);
  }
  std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_{21};  // h100_random.csv was drawn with 20
};

// Offsets of 32 lanes, multiples of the width, below 32 KiB.
using Offsets = std::array<std::uint32_t, 32>;

Offsets strided(std::uint32_t width, std::uint32_t start, std::uint32_t stride) {
  Offsets offsets;
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = (start + lane * stride) * width;
  return offsets;
}

Offsets scattered(Random& random, std::uint32_t width) {
  constexpr std::array<std::uint32_t, 6> kSlots = {2, 8, 16, 32, 64, 256};
  const std::uint32_t slots = kSlots[random.below(kSlots.size())];
  Offsets offsets;
  for (std::uint32_t& offset : offsets) offset = random.below(slots) * width;
  return offsets;
}

// No bank twice, whichever lanes are on: what wide loads cost then is up to their pairs alone.
Offsets conflict_free(Random& random, std::uint32_t width) {
  const bool rows = random.below(2) == 1;
  std::array<std::uint32_t, 128> row_of{};
  for (std::uint32_t& row : row_of) row = rows ? random.below(16) : 0;
  const std::uint32_t distinct = 1 + random.below(128 / width);
  Offsets offsets;
  for (std::uint32_t& offset : offsets) {
    const std::uint32_t slot = random.below(distinct);
    offset = row_of[slot * width / 4] * 128 + slot * width;
  }
  return offsets;
}

// Some of the lanes take over the address of the lane 1, 2, 4, 8 or 16 below.
void repeat(Random& random, Offsets& offsets) {
  const std::uint32_t distance = 1u << random.below(5);
  const std::array<std::uint32_t, 4> kWhere = {kAll, 0xffff, 0xffff0000, 0xff00ff00};
  const std::uint32_t where = kWhere[random.below(kWhere.size())];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((lane & distance) != 0 && (where >> lane & 1) != 0)
      offsets[lane] = offsets[lane - distance];
  }
}

Offsets any_offsets(Random& random, std::uint32_t width) {
  const std::uint32_t family = random.below(4);
  if (family == 0) return strided(width, random.below(64), random.below(41));
  Offsets offsets = family == 1 ? scattered(random, width) : conflict_free(random, width);
  for (std::uint32_t n = random.below(3); n > 0; --n) repeat(random, offsets);
  return offsets;
}

// At least one lane.
std::uint32_t any_mask(Random& random) {
  constexpr std::array<std::uint32_t, 12> kRegular = {
      0x55555555, 0xaaaaaaaa, 0x33333333, 0xcccccccc, 0x0f0f0f0f, 0xf0f0f0f0,
      0x00ff00ff, 0xff00ff00, 0x0000ffff, 0xffff0000, 0x11111111, 0x88888888};
  const std::uint32_t lane = random.below(32);
  switch (random.below(9)) {
    case 0:
      return kAll;
    case 1:
      return kAll & ~(1u << lane);
    case 2:
      return kAll & ~(1u << lane) & ~(1u << random.below(32));
    case 3:
      return kAll >> lane;
    case 4:
      return kAll << lane;
    case 5:
      return kRegular[random.below(kRegular.size())];
    case 6:
      return random.bits() | random.bits() | 1u << lane;
    case 7:
      return (random.bits() & random.bits()) | 1u << lane;
    default:
      return random.bits() | 1u << lane;
  }
}

Pattern any_pattern(Random& random, const Op& op) {
  const auto width = static_cast<std::uint32_t>(op.width);
  const bool whole_warp = std::string(op.space) == "ldsm";
  Pattern pattern{whole_warp ? kAll : any_mask(random), {}, {}};
  const Offsets offsets = any_offsets(random, width);
  const bool other_source = std::string(op.space) == "async" && random.below(4) != 0;
  const Offsets source = other_source ? any_offsets(random, width) : offsets;
  std::copy(offsets.begin(), offsets.end(), pattern.offsets);
  std::copy(source.begin(), source.end(), pattern.global_offsets);
  return pattern;
}

// --- Measured and predicted -------------------------------------------------------------------

// Columns of the calibration.
struct Columns {
  std::uint64_t shared_wavefronts = 0, shared_ideal = 0;
  std::uint64_t global_sectors = 0, global_ideal = 0;
  std::uint64_t local_sectors = 0, l1_tags = 0;
  bool operator==(const Columns&) const = default;
};

struct Predicted {
  Columns columns;
  bool exact = true;
};

Predicted predict(const Op& op, const Pattern& pattern) {
  const std::string space = op.space;
  std::array<std::uint64_t, 32> sources;
  std::copy(pattern.global_offsets, pattern.global_offsets + 32, sources.begin());
  if (space == "local") {
    Offsets offsets;
    for (std::size_t lane = 0; lane < 32; ++lane)
      offsets[lane] = pattern.offsets[lane] % kLocalBytes;
    return {{.local_sectors = local_sectors(op.width, offsets.data(), pattern.mask)}};
  }
  if (space == "global") {
    const GlobalCost cost = global_cost(op.width, sources.data(), pattern.mask);
    return {{.global_sectors = cost.sectors, .global_ideal = cost.ideal, .l1_tags = cost.tags},
            cost.exact};
  }
  if (space == "async") {
    const AsyncCost cost =
        async_cost(op.kind, op.width, pattern.offsets, sources.data(), pattern.mask);
    return {{.shared_wavefronts = cost.shared.wavefronts,
             .shared_ideal = cost.shared.ideal,
             .global_sectors = cost.global.sectors,
             .global_ideal = cost.global.ideal,
             .l1_tags = cost.global.tags},
            cost.shared.exact && cost.global.exact};
  }
  const SharedCost cost =
      shared_cost(op.kind, op.width, pattern.offsets, pattern.mask & op.row_lanes);
  return {{cost.wavefronts, cost.ideal}, cost.exact};
}

std::string json(const std::uint32_t (&numbers)[32]) {
  std::string text = "[";
  for (const std::uint32_t number : numbers) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  }
  return text + "]";
}

std::string json(const Op& op, int number, const Pattern& pattern, const Columns& columns) {
  const std::string space = op.space;
  std::ostringstream out;
  out << R"({"op": ")" << op.name << R"(", "width": )" << op.width << R"(, "space": ")" << space
      << R"(", "pattern": "access_)" << number << R"(", "mask": )" << pattern.mask
      << R"(, "offsets": )" << json(pattern.offsets);
  if (space == "async") out << R"(, "source_offsets": )" << json(pattern.global_offsets);
  out << R"(, "counts": [)" << columns.shared_wavefronts << ", " << columns.shared_ideal << ", "
      << columns.global_sectors << ", " << columns.global_ideal << ", " << columns.local_sectors
      << ", " << columns.l1_tags << ", " << (space == "shared" || space == "ldsm" ? 1 : 0) << "]}";
  return out.str();
}

// True for lines of the kernels that are not the access itself.
bool is_around(const LineCounts& line) {
  return line.file.ends_with("access_kernels.cuh") &&
         (line.line == kKeepLine || line.line == kLocalStoreLine);
}

class AccessGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      counter_ = std::make_unique<SassCounter>();
    } catch (const Unmeasured& error) {
      GTEST_SKIP() << error.what();
    }
    int major = 0, minor = 0;
    WARPGAUGE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    WARPGAUGE_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    architecture_ = 10 * major + minor;
    WARPGAUGE_CUDA(cudaMalloc(&buffer_, kBytes));
    WARPGAUGE_CUDA(cudaMalloc(&out_, 32 * sizeof(unsigned)));
    WARPGAUGE_CUDA(cudaMemset(buffer_, 0, kBytes));
    if (const char* path = std::getenv("WARPGAUGE_CALIBRATION")) {
      rows_.open(path, std::ios::app);
      ASSERT_TRUE(rows_) << path << " cannot be written";
    }
  }
  void TearDown() override {
    cudaFree(buffer_);
    cudaFree(out_);
  }

  // The counts of the access alone.
  Columns count(const std::function<void()>& launch) {
    Columns columns;
    for (const LineCounts& line : counter_->count(launch)) {
      EXPECT_FALSE(line.file.empty()) << "accesses cannot be separated without -lineinfo";
      if (is_around(line)) continue;
      const Counts& counts = line.counts;
      columns.shared_wavefronts += counts.shared_wavefronts;
      columns.shared_ideal += counts.shared_wavefronts_ideal;
      columns.global_sectors +=
          counts.global_load_sectors + counts.global_store_sectors + counts.global_atomic_sectors;
      columns.global_ideal += counts.global_sectors_ideal;
      columns.local_sectors += counts.local_sectors;
      columns.l1_tags += counts.global_l1_tags;
    }
    return columns;
  }

  void compare(const Op& op) {
    Random random;
    int wrong = 0, estimates = 0, wrong_estimates = 0;
    for (int i = 0; i < op.patterns; ++i) {
      const Pattern pattern = any_pattern(random, op);
      const Columns counted = count([&] { op.launch(pattern, buffer_, out_); });
      const Predicted predicted = predict(op, pattern);
      const bool differs = counted != predicted.columns;
      const std::string row = json(op, i, pattern, counted);
      if (rows_.is_open()) rows_ << row << "\n";
      if (differs) std::cout << row << "\n";
      (predicted.exact ? wrong : wrong_estimates) += differs ? 1 : 0;
      estimates += predicted.exact ? 0 : 1;
    }
    std::cout << op.name << ": " << op.patterns - estimates << " exact, of which " << wrong
              << " differ; " << estimates << " estimates, of which " << wrong_estimates
              << " differ\n";
    EXPECT_EQ(wrong, 0) << op.name;
  }

  void compare(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      if (op.since <= architecture_) {
        compare(op);
      } else {
        std::cout << op.name << ": needs sm_" << op.since << "\n";
      }
    }
  }

  unsigned* out_ = nullptr;

 private:
  std::unique_ptr<SassCounter> counter_;
  int architecture_ = 0;
  unsigned char* buffer_ = nullptr;
  std::ofstream rows_;
};

TEST_F(AccessGpu, SharedAccessesCostWhatTheRulesSay) { compare(shared_ops()); }

TEST_F(AccessGpu, AsyncCopiesCostWhatTheRulesSay) { compare(async_ops()); }

TEST_F(AccessGpu, GlobalAccessesCostWhatTheRulesSay) { compare(global_ops()); }

TEST_F(AccessGpu, LocalAccessesCostWhatTheRulesSay) { compare(local_ops()); }

TEST_F(AccessGpu, AnAccessOfNoLaneCostsNothing) {
  const auto launch = [&](std::uint32_t mask) {
    return count([&] { predicated_load<<<1, 32, kBytes>>>(mask, out_); });
  };
  EXPECT_EQ(launch(0), Columns{});
  EXPECT_EQ(launch(kAll), (Columns{.shared_wavefronts = 1, .shared_ideal = 1}));
}

}  // namespace
}  // namespace warpgauge::metrics::access_gpu_test
