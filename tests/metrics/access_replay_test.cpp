// Replays every measured access against the counting rules. Cases known from theory are in
// counting_rules_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "metrics/counting/counting_rules.h"

namespace warpgauge::metrics::access_replay_test {
namespace {

using ::testing::IsEmpty;
using ::testing::PrintToString;

constexpr std::uint32_t kAll = 0xffffffff;
using Offsets = std::array<std::uint32_t, 32>;
using Addresses = std::array<std::uint64_t, 32>;

// The measured counts in the order of the columns, or those that the rules predict.
using Columns = std::array<std::uint32_t, 7>;

struct Row {
  std::string op, what;
  std::uint32_t mask;
  Offsets offsets;
  Columns counts;
};

struct Predicted {
  Columns counts;
  bool exact;
};

using Predict = std::function<Predicted(const Offsets&, std::uint32_t mask)>;

Addresses global_addresses(const Offsets& offsets) {
  constexpr std::uint64_t kBase = 0x7f1234567800;  // cudaMalloc's are multiples of 256
  Addresses addresses;
  for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = kBase + offsets[lane];
  return addresses;
}

// Each lane that was on loaded its offset first.
GlobalCost table_load(std::uint32_t mask) {
  Offsets offsets;
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = 4 * lane;
  return global_cost(4, global_addresses(offsets).data(), mask);
}

Predict shared(AccessKind kind, int width) {
  return [=](const Offsets& offsets, std::uint32_t mask) -> Predicted {
    const SharedCost cost = shared_cost(kind, width, offsets.data(), mask);
    const GlobalCost table = table_load(mask);
    return {{cost.wavefronts, cost.ideal, table.sectors, table.ideal, 0, table.tags, 1},
            cost.exact};
  };
}

// The rows of the first `row_lanes`: of 8 lanes for x1, of 16 for x2.
Predict matrix(AccessKind kind, std::uint32_t row_lanes) {
  return [=](const Offsets& offsets, std::uint32_t mask) -> Predicted {
    Predicted predicted = shared(kind, 16)(offsets, mask);
    const SharedCost cost = shared_cost(kind, 16, offsets.data(), row_lanes);
    predicted.counts[0] = cost.wavefronts;
    predicted.counts[1] = cost.ideal;
    predicted.exact = cost.exact;
    return predicted;
  };
}

Predict global(int width) {
  return [=](const Offsets& offsets, std::uint32_t mask) -> Predicted {
    const GlobalCost cost = global_cost(width, global_addresses(offsets).data(), mask);
    const GlobalCost table = table_load(mask);
    return {{0, 0, cost.sectors + table.sectors, cost.ideal + table.ideal, 0,
             cost.tags + table.tags, 0},
            cost.exact};
  };
}

Predict async(AccessKind kind, int width) {
  return [=](const Offsets& offsets, std::uint32_t mask) -> Predicted {
    const AsyncCost cost =
        async_cost(kind, width, offsets.data(), global_addresses(offsets).data(), mask);
    const GlobalCost table = table_load(mask);
    return {{cost.shared.wavefronts, cost.shared.ideal, cost.global.sectors + table.sectors,
             cost.global.ideal + table.ideal, 0, cost.global.tags + table.tags, 0},
            cost.shared.exact && cost.global.exact};
  };
}

Predict local(int width) {
  return [=](const Offsets& offsets, std::uint32_t mask) -> Predicted {
    return {{0, 0, 0, 0, local_sectors(width, offsets.data(), mask), 0, 0}, true};
  };
}

struct Op {
  Predict predict;
  int rows;  // in the calibration
};

// All ops of the calibration. lds_u64, ldg_u64 and ldl_u64 became accesses of 4 bytes.
const std::map<std::string, Op>& ops() {
  using enum AccessKind;
  static const std::map<std::string, Op> kOps = {
      {"lds_u8", {shared(shared_load, 1), 607}},
      {"lds_u16", {shared(shared_load, 2), 607}},
      {"lds_u32", {shared(shared_load, 4), 607}},
      {"lds_u64", {shared(shared_load, 4), 607}},
      {"lds_v2", {shared(shared_load, 8), 607}},
      {"lds_v4", {shared(shared_load, 16), 607}},
      {"sts_u8", {shared(shared_store, 1), 607}},
      {"sts_u16", {shared(shared_store, 2), 607}},
      {"sts_u32", {shared(shared_store, 4), 607}},
      {"sts_u64", {shared(shared_store, 8), 607}},
      {"sts_v4", {shared(shared_store, 16), 607}},
      {"atoms_add", {shared(shared_atomic, 4), 607}},
      {"atoms_exch", {shared(shared_atomic, 4), 607}},
      {"reds_add", {shared(shared_atomic, 4), 607}},
      {"reds_max", {shared(shared_atomic, 4), 607}},
      {"atoms_inc1", {shared(shared_popc_increment, 4), 607}},
      {"atoms_cas", {shared(shared_cas, 4), 607}},
      {"atoms_cas64", {shared(shared_cas, 8), 607}},
      {"ldsm_x1", {matrix(ldmatrix, 0xff), 47}},
      {"ldsm_x2", {matrix(ldmatrix, 0xffff), 47}},
      {"ldsm_x4", {matrix(ldmatrix, kAll), 47}},
      {"stsm_x1", {matrix(stmatrix, 0xff), 47}},
      {"stsm_x4", {matrix(stmatrix, kAll), 47}},
      {"ldgsts_4", {async(async_copy, 4), 607}},
      {"ldgsts_8", {async(async_copy, 8), 607}},
      {"ldgsts_16", {async(async_copy_bypass, 16), 607}},
      {"ldg_u8", {global(1), 607}},
      {"ldg_u16", {global(2), 607}},
      {"ldg_u32", {global(4), 607}},
      {"ldg_u64", {global(4), 607}},
      {"ldg_v4", {global(16), 607}},
      {"stg_u8", {global(1), 607}},
      {"stg_u16", {global(2), 607}},
      {"stg_u32", {global(4), 607}},
      {"stg_u64", {global(8), 607}},
      {"stg_v4", {global(16), 607}},
      {"atomg_add", {global(4), 607}},
      {"redg_add", {global(4), 607}},
      {"redg_f32", {global(4), 607}},
      {"ldl_u8", {local(1), 607}},
      {"ldl_u32", {local(4), 607}},
      {"ldl_u64", {local(4), 607}},
      {"ldl_v4", {local(16), 607}},
  };
  return kOps;
}

std::vector<std::vector<std::string>> read_table(const std::string& name) {
  std::ifstream in(std::string(WARPGAUGE_TEST_DATA) + "/calibration/" + name);
  EXPECT_TRUE(in) << name;
  std::vector<std::vector<std::string>> rows;
  std::string line, cell;
  std::getline(in, line);  // names of the columns
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    while (std::getline(cells, cell, ',')) rows.back().push_back(cell);
  }
  return rows;
}

std::uint32_t number(const std::string& text, int base = 10) {
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, base));
}

std::vector<Row> calibration() {
  std::map<std::tuple<std::string, std::string, std::string>, Offsets> offsets;
  for (const auto& cells : read_table("h100_offsets.csv")) {
    Offsets& lanes = offsets[{cells.at(0), cells.at(1), cells.at(2)}];
    for (std::size_t lane = 0; lane < 32; ++lane) lanes[lane] = number(cells.at(3 + lane));
  }
  std::vector<Row> rows;
  for (const auto& cells : read_table("h100_accesses.csv")) {
    Row row{cells.at(0),
            cells.at(3) + " mask " + cells.at(4),
            number(cells.at(4), 16),
            offsets.at({cells.at(3), cells.at(1), cells.at(2)}),
            {}};
    for (std::size_t i = 0; i < 7; ++i) row.counts[i] = number(cells.at(5 + i));
    rows.push_back(row);
  }
  return rows;
}

// The results of the replay, by op.
struct Tally {
  std::map<std::string, int> rows, estimates, wrong;

  template <typename Counts>
  void add(const std::string& op, const std::string& what, bool exact, const Counts& counted,
           const Counts& predicted) {
    ++rows[op];
    if (!exact) ++estimates[op];
    if (predicted == counted || ++wrong[op] > 5) return;
    ADD_FAILURE() << op << " " << what << ": counted " << PrintToString(counted) << ", predicted "
                  << PrintToString(predicted);
  }
};

TEST(Access, AgreesWithEveryAccessOfTheCalibration) {
  const std::vector<Row> rows = calibration();
  ASSERT_EQ(rows.size(), 23301u);
  Tally tally;
  for (const Row& row : rows) {
    ASSERT_TRUE(ops().contains(row.op)) << row.op << " is not in the table of ops";
    const Predicted predicted = ops().at(row.op).predict(row.offsets, row.mask);
    tally.add(row.op, row.what, predicted.exact, row.counts, predicted.counts);
  }
  for (const auto& [name, op] : ops()) EXPECT_EQ(tally.rows[name], op.rows) << name;
  EXPECT_THAT(tally.estimates, IsEmpty());
  EXPECT_THAT(tally.wrong, IsEmpty());
}

// --- Random accesses --------------------------------------------------------------------------

// wavefronts, ideal, sectors, ideal: of the access alone.
using ShortColumns = std::array<std::uint32_t, 4>;

// A row of h100_random.csv. Inactive lanes have offset 0.
struct RandomRow {
  std::string op, what;
  int width;
  std::uint32_t mask;
  Offsets to;
  Addresses from;
  ShortColumns counts;
};

// The offsets, in units of the width: "start+step", or a list for the lanes that were on.
Offsets offsets_of(const std::string& text, std::uint32_t width, std::uint32_t mask) {
  Offsets offsets{};
  std::uint32_t start = 0, step = 0;
  char plus = 0;
  std::istringstream words(text);
  const bool spaced = text.find('+') != std::string::npos;
  if (spaced) words >> start >> plus >> step;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    offsets[lane] = start + lane * step;
    if (!spaced) words >> offsets[lane];
    offsets[lane] *= width;
  }
  EXPECT_TRUE(words) << text << " has too few numbers";
  return offsets;
}

std::vector<RandomRow> random_accesses() {
  std::vector<RandomRow> rows;
  for (const auto& cells : read_table("h100_random.csv")) {
    const std::uint32_t width = number(cells.at(1)), mask = number(cells.at(2), 16);
    const std::string& source = cells.at(4) == "=" ? cells.at(3) : cells.at(4);
    RandomRow row{cells.at(0),
                  cells.at(3) + " from " + source + " mask " + cells.at(2),
                  static_cast<int>(width),
                  mask,
                  offsets_of(cells.at(3), width, mask),
                  {},
                  {}};
    if (!source.empty()) row.from = global_addresses(offsets_of(source, width, mask));
    for (std::size_t i = 0; i < 4; ++i) row.counts[i] = number(cells.at(5 + i));
    rows.push_back(row);
  }
  return rows;
}

struct RandomOp {
  AccessKind kind;
  int rows;
};

const std::map<std::string, RandomOp>& random_ops() {
  using enum AccessKind;
  static const std::map<std::string, RandomOp> kOps = {
      {"lds_u64", {shared_load, 800}},         {"lds_v4", {shared_load, 1600}},
      {"atoms_exch64", {shared_atomic, 60}},   {"ldgsts_4", {async_copy, 800}},
      {"ldgsts_8", {async_copy, 800}},         {"ldgsts_16ca", {async_copy, 800}},
      {"ldgsts_16", {async_copy_bypass, 1600}}};
  return kOps;
}

TEST(Access, AgreesWithEveryRandomAccess) {
  Tally tally;
  for (const RandomRow& row : random_accesses()) {
    ASSERT_TRUE(random_ops().contains(row.op)) << row.op << " is not in the table of ops";
    const AccessKind kind = random_ops().at(row.op).kind;
    AsyncCost cost{.shared = {}, .global = {}};
    if (row.op.starts_with("ldgsts")) {
      cost = async_cost(kind, row.width, row.to.data(), row.from.data(), row.mask);
    } else {
      cost.shared = shared_cost(kind, row.width, row.to.data(), row.mask);
    }
    const ShortColumns predicted = {cost.shared.wavefronts, cost.shared.ideal, cost.global.sectors,
                                    cost.global.ideal};
    tally.add(row.op, row.what, cost.shared.exact && cost.global.exact, row.counts, predicted);
  }
  for (const auto& [name, op] : random_ops()) EXPECT_EQ(tally.rows[name], op.rows) << name;
  EXPECT_THAT(tally.estimates, IsEmpty());
  EXPECT_THAT(tally.wrong, IsEmpty());
}

/// Where the lanes of a copy lie, `together` of them side by side.
Offsets grouped(std::uint32_t bytes, std::uint32_t together, std::uint32_t stride, bool swizzled) {
  Offsets offsets;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t at = lane / together * stride + lane % together * bytes;
    offsets[lane] = swizzled ? at ^ (at >> 3 & 0x30) : at;
  }
  return offsets;
}

TEST(AccessReplay, CopiesWithAPredicateOnTheirSources) {
  std::ifstream file(WARPGAUGE_TEST_DATA "/calibration/h200_masked_copies.csv");
  std::string line;
  std::getline(file, line);
  int rows = 0, exact = 0;
  while (std::getline(file, line)) {
    SCOPED_TRACE(line);
    std::array<std::uint32_t, 14> cells{};
    std::istringstream in(line);
    std::string cell;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      ASSERT_TRUE(std::getline(in, cell, ','));
      constexpr std::size_t kReading = 7, kPredicate = 8;
      if (i == kPredicate && cell == "T") cell = "7";
      cells[i] = static_cast<std::uint32_t>(std::stoul(cell, nullptr, i == kReading ? 16 : 10));
    }
    const auto [bytes, bypass, reads, read_stride, writes, write_stride, swizzled, reading,
                predicate, wavefronts, ideal, tags, sectors, sectors_ideal] = cells;
    const auto kind = bypass != 0 ? AccessKind::async_copy_bypass : AccessKind::async_copy;
    const Offsets to = grouped(bytes, writes, write_stride, swizzled != 0);
    const Addresses from = global_addresses(grouped(bytes, reads, read_stride, false));
    const AsyncCost cost =
        masked_async_cost(kind, static_cast<int>(bytes), to.data(), from.data(),
                          predicate == 0 ? CopyMask::p0 : CopyMask::other, {kAll, reading});
    EXPECT_EQ(cost.global.tags, tags);
    EXPECT_EQ(cost.global.sectors, sectors);
    EXPECT_EQ(cost.global.ideal, sectors_ideal);
    if (cost.shared.exact) {
      EXPECT_EQ(cost.shared.ideal, ideal);
      EXPECT_EQ(cost.shared.wavefronts, wavefronts);
      ++exact;
    }
    ++rows;
  }
  EXPECT_EQ(rows, 516);
  EXPECT_EQ(exact, 221) << "with P0 past L1, or of which all or none of the lanes read";
}

}  // namespace
}  // namespace warpgauge::metrics::access_replay_test
