// Counts of bulk copies, accesses to the cluster's shared memory, matrices and products of tiles,
// from the machine code to the lines of source: oracle/bulk.cu, oracle/product.cu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/counting/line_counts.h"
#include "harness/emulator/machine/machine.h"
#include "harness/emulator/machine/memory/memory.h"
#include "harness/emulator/machine/memory/whole_requests.h"
#include "tests/emulator/kernel_run.h"
#include "tests/emulator/recorded_code.h"

namespace warpgauge::emulator::counting::bulk_counts_test {
namespace {

using metrics::Confidence;
using metrics::Counts;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kBlocks = 2;

/// The counts of a launch of two blocks, and how far they can be trusted.
class CountsOfLaunch : public testing::Test {
 protected:
  explicit CountsOfLaunch(const char* file) : recorded_(Recorded::with_ptx(file)) {}

  /// The kernel takes `pointers` pointers and nothing else.
  void run(const char* kernel, std::uint32_t threads, bool in_a_cluster = false,
           std::size_t pointers = 2) {
    machine::Machine machine(machine::Architecture{}, machine::limited());
    machine::Program& program = machine.load(ptx::parse(recorded_.ptx, "recorded.ptx"));
    machine::Kernel& found = *machine.find_kernel(program, kernel);
    OracleAnswer answer = recorded_.about(kernel);
    EXPECT_THAT(answer.extras, IsEmpty());
    machine.set_access_plans(found, answer.plans);
    std::vector<std::byte*> parameters(pointers);
    for (std::byte*& parameter : parameters) parameter = memory(machine);
    machine::Launch launch{.grid = {kBlocks, 1, 1},
                           .block = {threads, 1, 1},
                           .parameters = std::as_bytes(std::span(parameters))};
    if (in_a_cluster) launch.cluster = {kBlocks, 1, 1};
    CountTable table;
    table.add(kernel, machine.run(found, launch),
              std::make_shared<KernelTrust>(std::move(answer.trust)));
    lines_ = table.take();
    for (const metrics::LineCounts& line : lines_) counts_ += line.counts;
  }

  /// The trust of the least sure line that counts in the group of `metric`.
  metrics::Trust trust(std::string_view metric) const {
    metrics::Trust worst;
    for (const metrics::LineCounts& line : lines_) {
      const metrics::Trust& own = metrics::trust_in(line, metric);
      if (own.confidence > worst.confidence) worst = own;
    }
    return worst;
  }

  std::vector<metrics::LineCounts> lines_;
  Counts counts_;

 private:
  static std::byte* memory(machine::Machine& machine) {
    constexpr std::size_t kBytes = 4 * 4096;
    std::byte* const at =
        machine.memory().allocate(kBytes, machine::memory::Memory::Kind::device, "test");
    std::memset(at, 0, kBytes);
    return at;
  }

  const Recorded recorded_;
};

class BulkCounts : public CountsOfLaunch {
 protected:
  BulkCounts() : CountsOfLaunch("oracle/bulk.sm_90.cubin") {}
};

class ProductCounts : public CountsOfLaunch {
 protected:
  ProductCounts() : CountsOfLaunch("oracle/product.sm_90a.cubin") { run("product", 256, false, 3); }

  static constexpr std::uint32_t kProducts = kBlocks * 4;  // of a warpgroup: a round each
};

TEST_F(BulkCounts, OneLaneCountsItsCopies) {
  run("one_lane", 64);
  EXPECT_EQ(counts_.bulk_load_instructions, kBlocks);
  EXPECT_EQ(counts_.bulk_load_bytes, kBlocks * 4096);
  EXPECT_EQ(counts_.bulk_store_instructions, kBlocks * 2) << "a copy and a reduction";
  EXPECT_EQ(counts_.bulk_store_bytes, kBlocks * (64 + 128));
  // 64 bytes that begin in the middle of a sector touch 3.
  EXPECT_EQ(counts_.bulk_sectors, kBlocks * (4096 / 32 + 3 + 128 / 32));
  EXPECT_EQ(counts_.global_load_requests, 0u);
  EXPECT_EQ(counts_.global_store_sectors, 0u);
  EXPECT_EQ(counts_.cluster_requests, 0u);
  EXPECT_EQ(metrics::copies_left_out(counts_, "global.load.sectors"), kBlocks);
}

TEST_F(BulkCounts, InstructionsOfOneLaneAreExactAndBytesPredicted) {
  run("one_lane", 64);
  for (const char* const id : {"bulk.load.instructions", "bulk.store.instructions"}) {
    EXPECT_EQ(trust(id), metrics::Trust{}) << id;
  }
  for (const char* const id : {"bulk.load.bytes", "bulk.store.bytes", "bulk.sectors"}) {
    EXPECT_EQ(trust(id).confidence, Confidence::predicted) << id;
    EXPECT_EQ(trust(id).reason, "no counter of a GPU has the bytes and sectors of bulk copies");
  }
  EXPECT_EQ(trust("global.load.sectors"), metrics::Trust{});
}

TEST_F(BulkCounts, CountAtTheirLines) {
  run("one_lane", 64);
  int loads = 0, stores = 0;
  for (const metrics::LineCounts& line : lines_) {
    loads += line.counts.bulk_load_instructions > 0 ? 1 : 0;
    stores += line.counts.bulk_store_instructions > 0 ? 1 : 0;
    if (line.counts.bulk_sectors == 0) continue;
    EXPECT_THAT(line.file, HasSubstr("bulk.cu"));
  }
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(stores, 2);
}

TEST_F(BulkCounts, CopiesOfSeveralLanesAreExact) {
  run("all_lanes", 32);
  EXPECT_EQ(counts_.bulk_store_instructions, kBlocks * 32);
  EXPECT_EQ(counts_.bulk_store_bytes, kBlocks * 32 * 16);
  EXPECT_EQ(trust("bulk.store.instructions"), metrics::Trust{});
}

TEST_F(BulkCounts, RequestsToTheClusterAreExact) {
  run("remote", 32, true);
  EXPECT_EQ(counts_.cluster_requests, kBlocks * 3) << "a load, a store and an atomic";
  EXPECT_EQ(counts_.shared_requests, kBlocks * 2) << "the block's own memory";
  EXPECT_EQ(counts_.bulk_load_instructions + counts_.bulk_store_instructions, 0u);
  EXPECT_EQ(trust("cluster.requests"), metrics::Trust{});
}

TEST_F(BulkCounts, CopiesWithinTheClusterAreRequestsToIt) {
  run("sent", 32, true);
  EXPECT_EQ(counts_.cluster_requests, kBlocks * 2) << "a bulk copy and st.async";
  EXPECT_EQ(counts_.bulk_load_instructions + counts_.bulk_store_instructions, 0u);
  EXPECT_EQ(counts_.bulk_sectors, 0u);
  EXPECT_EQ(trust("cluster.requests"), metrics::Trust{});
}

TEST_F(BulkCounts, AMatrixThatLanesStoreTogetherIsOneRequest) {
  run("stored_matrix", 32);
  EXPECT_EQ(counts_.shared_requests, kBlocks * 2) << "it and a load";
  EXPECT_EQ(trust("shared.requests"), metrics::Trust{});
}

TEST_F(ProductCounts, EachWarpCountsItsInstructions) {
  EXPECT_EQ(counts_.wgmma_instructions, kProducts * 4);
  constexpr unsigned kOperands = (64 + 16) * 16 * 2;  // bytes
  EXPECT_EQ(counts_.wgmma_wavefronts, kProducts * kOperands / 128);
  for (const char* const id : {"wgmma.instructions", "wgmma.wavefronts"}) {
    EXPECT_EQ(trust(id), metrics::Trust{}) << id;
  }
}

TEST_F(ProductCounts, HowLongAWaitLastsDecidesNothing) {
  EXPECT_EQ(counts_.bulk_load_instructions, kProducts * 2) << "A and B";
  EXPECT_EQ(trust("bulk.load.instructions"), metrics::Trust{});
  EXPECT_EQ(trust("shared.requests"), metrics::Trust{});
  EXPECT_EQ(trust("global.load.sectors"), metrics::Trust{});
}

TEST_F(ProductCounts, WhatTheMachineCodeStoresOnceForAWarpCountsOnce) {
  EXPECT_EQ(counts_.bulk_store_instructions, kBlocks);
  EXPECT_EQ(counts_.bulk_store_bytes, kBlocks * 64 * 16 * 4);
  EXPECT_EQ(trust("bulk.store.instructions"), metrics::Trust{});
}

TEST(CountsOfWgmma, AreOfSharedMemoryToo) {
  const Counts counts = counts_of({.space = machine::AccessTotals::Space::wgmma,
                                   .requests = 4,
                                   .wavefronts = 32,
                                   .wavefronts_ideal = 32});
  EXPECT_EQ(counts.wgmma_instructions, 4u);
  EXPECT_EQ(counts.wgmma_wavefronts, 32u);
  EXPECT_EQ(counts.shared_requests, 4u);
  EXPECT_EQ(counts.shared_wavefronts, 32u);
  EXPECT_EQ(counts.shared_wavefronts_ideal, 32u);
}

TEST(SectorsOf, AreThoseTouched) {
  using machine::memory::sectors_of;
  EXPECT_EQ(sectors_of(64, 0), 0u);
  EXPECT_EQ(sectors_of(64, 32), 1u);
  EXPECT_EQ(sectors_of(80, 16), 1u);
  EXPECT_EQ(sectors_of(80, 32), 2u);
  EXPECT_EQ(sectors_of(80, 4096), 129u);
}

}  // namespace
}  // namespace warpgauge::emulator::counting::bulk_counts_test
