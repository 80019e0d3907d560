// Clusters: the blocks of one run together, meet at its barrier and reach each other's memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/kernel_run.h"

namespace warpgauge::emulator::machine::cluster_test {
namespace {

using ::testing::HasSubstr;

/// Blocks of one warp in clusters of `cluster`.
Shape in_clusters(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> cluster) {
  Shape shape{grid, {32, 1, 1}};
  shape.cluster = cluster;
  return shape;
}

/// The word of the first thread of each block.
Words of_blocks(const KernelRun& run) {
  return words(run.output.size() / 32, [&](auto n) { return run.output[32 * n]; });
}

/// Stores a special register of the grid's block, linear in x and y.
std::string store_special(const std::string& name) {
  return R"(
    mov.u32 %r10, %ctaid.y;
    mov.u32 %r11, %nctaid.x;
    mov.u32 %r12, %ctaid.x;
    mad.lo.u32 %r10, %r10, %r11, %r12;
    mad.lo.u32 %r10, %r10, 32, %r0;
    mul.wide.u32 %rd10, %r10, 4;
    add.u64 %rd10, %rd0, %rd10;
    mov.u32 %r13, )" +
         name + R"(;
    st.global.u32 [%rd10], %r13;
    ret;)";
}

TEST(Cluster, SpecialRegistersSayWhereABlockIs) {
  const Shape shape = in_clusters({4, 4, 1}, {2, 2, 1});
  const auto of = [&](const char* name) { return of_blocks(run_body(store_special(name), shape)); };
  EXPECT_EQ(of("%cluster_ctaid.x"), words(16, [](auto n) { return n % 4 % 2; }));
  EXPECT_EQ(of("%cluster_ctaid.y"), words(16, [](auto n) { return n / 4 % 2; }));
  EXPECT_EQ(of("%cluster_ctarank"), words(16, [](auto n) { return n % 4 % 2 + n / 4 % 2 * 2; }));
  EXPECT_EQ(of("%clusterid.x"), words(16, [](auto n) { return n % 4 / 2; }));
  EXPECT_EQ(of("%clusterid.y"), words(16, [](auto n) { return n / 8; }));
  EXPECT_EQ(of("%nclusterid.x"), words(16, [](auto) { return 2; }));
  EXPECT_EQ(of("%cluster_nctaid.y"), words(16, [](auto) { return 2; }));
  EXPECT_EQ(of("%cluster_nctaid.z"), words(16, [](auto) { return 1; }));
  EXPECT_EQ(of("%cluster_nctarank"), words(16, [](auto) { return 4; }));
}

TEST(Cluster, ALaunchWithoutThemHasClustersOfOneBlock) {
  const Shape shape{{4, 1, 1}, {32, 1, 1}};
  const auto of = [&](const char* name) { return of_blocks(run_body(store_special(name), shape)); };
  EXPECT_EQ(of("%cluster_nctarank"), words(4, [](auto) { return 1; }));
  EXPECT_EQ(of("%clusterid.x"), words(4, [](auto n) { return n; }));
}

// Each block reads what the next one of its cluster has written, in each of several ways.
std::string neighbour(const std::string& read) {
  return R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, s;
    mad.lo.u32 %r10, %r0, 4, %r10;
    st.shared.u32 [%r10], %r1;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    mov.u32 %r11, %cluster_ctarank;
    mov.u32 %r12, %cluster_nctarank;
    add.u32 %r13, %r11, 1;
    rem.u32 %r13, %r13, %r12;
)" + read +
         R"(
    st.global.u32 [%rd1], %r14;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;)";
}

void expect_neighbours(const std::string& read) {
  const KernelRun run = run_body(neighbour(read), in_clusters({8, 1, 1}, {4, 1, 1}));
  EXPECT_EQ(run.output, words(256,
                              [](auto n) {
                                const auto block = n / 32;
                                return (block / 4 * 4 + (block + 1) % 4) * 32 + n % 32;
                              }))
      << read;
}

TEST(Cluster, BlocksReadEachOthersSharedMemory) {
  expect_neighbours(
      "mapa.shared::cluster.u32 %r15, %r10, %r13;\n"
      "ld.shared::cluster.u32 %r14, [%r15];");
  expect_neighbours(
      "cvt.u64.u32 %rd10, %r10; cvta.shared.u64 %rd10, %rd10;\n"
      "mapa.u64 %rd11, %rd10, %r13;\n"
      "ld.u32 %r14, [%rd11];");
  expect_neighbours(
      "mapa.shared::cluster.u32 %r15, %r10, %r13; cvt.u64.u32 %rd10, %r15;\n"
      "cvta.shared::cluster.u64 %rd11, %rd10; ld.u32 %r14, [%rd11];");
  expect_neighbours(
      "mapa.shared::cluster.u32 %r15, %r10, %r13;\n"
      "atom.shared::cluster.add.u32 %r14, [%r15], 0;");
}

TEST(Cluster, AddressesTellTheirBlock) {
  const std::string body = R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, s;
    mov.u32 %r13, 2;
    mapa.shared::cluster.u32 %r15, %r10, %r13;
    getctarank.shared::cluster.u32 %r16, %r15;
    getctarank.shared::cluster.u32 %r17, %r10;
    cvt.u64.u32 %rd10, %r15;
    cvta.shared::cluster.u64 %rd11, %rd10;
    isspacep.shared::cta %p1, %rd11;
    isspacep.shared::cluster %p2, %rd11;
    selp.u32 %r18, 1, 0, %p1;
    selp.u32 %r19, 1, 0, %p2;
    mad.lo.u32 %r20, %r16, 10, %r17;
    mad.lo.u32 %r20, %r20, 10, %r18;
    mad.lo.u32 %r20, %r20, 10, %r19;
    st.global.u32 [%rd1], %r20;
    ret;)";
  const KernelRun run = run_body(body, in_clusters({4, 1, 1}, {4, 1, 1}));
  EXPECT_EQ(of_blocks(run), (Words{2001, 2101, 2211, 2301}));
}

TEST(Cluster, AtomicsOfAllBlocksMeet) {
  const std::string body = R"(
    .shared .align 4 .b32 s[1];
    mov.u32 %r10, s;
    mov.u32 %r13, 0;
    st.shared.u32 [%r10], %r13;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r15, %r10, %r13;
    red.shared::cluster.add.u32 [%r15], 1;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ld.shared.u32 %r14, [%r10];
    st.global.u32 [%rd1], %r14;
    ret;)";
  const KernelRun run = run_body(body, in_clusters({4, 1, 1}, {4, 1, 1}));
  EXPECT_EQ(of_blocks(run), (Words{128, 0, 0, 0}));
}

TEST(Cluster, ThreadsThatHaveExitedAreNotWaitedFor) {
  const std::string body = R"(
    mov.u32 %r10, %cluster_ctarank;
    setp.eq.u32 %p1, %r10, 1;
    @%p1 ret;
    setp.lt.u32 %p2, %r0, 5;
    @%p2 ret;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    st.global.u32 [%rd1], 7;
    ret;)";
  const KernelRun run = run_body(body, in_clusters({2, 1, 1}, {2, 1, 1}));
  EXPECT_EQ(run.output, words(64, [](auto n) { return n >= 5 && n < 32 ? 7 : 0; }));
}

TEST(Cluster, ABarrierThatIsNotReachedByAllIsADeadlock) {
  const std::string body = R"(
    .shared .align 8 .b64 m[1];
    mov.u32 %r10, m;
    mov.u32 %r11, %cluster_ctarank;
    setp.eq.u32 %p1, %r11, 1;
    @%p1 bra other;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    ret;
  other:
    bar.sync 1, 64;
    ret;)";
  const auto fault = fault_of(kernel_text(body), in_clusters({2, 1, 1}, {2, 1, 1}));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), Fault::Kind::deadlock);
  EXPECT_THAT(fault->what(), HasSubstr("cluster of block (0,0,0): deadlock"));
  EXPECT_THAT(fault->what(), HasSubstr("block (0,0,0), warp 0, all lanes, waiting at the barrier "
                                       "of the cluster, where 32 of 64 threads have arrived"));
  EXPECT_THAT(fault->what(), HasSubstr("block (1,0,0), warp 0, all lanes, waiting at barrier 1"));
}

TEST(Cluster, AnAddressOfABlockThatIsNotThereFaults) {
  const std::string body = R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, s;
    mov.u32 %r13, 2;
    mapa.shared::cluster.u32 %r15, %r10, %r13;
    ret;)";
  const auto fault = fault_of(kernel_text(body), in_clusters({2, 1, 1}, {2, 1, 1}));
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->what(), HasSubstr("mapa to block 2 of a cluster of 2 blocks"));
}

TEST(Cluster, AnAccessBehindTheOtherBlocksMemoryFaults) {
  const std::string body = R"(
    .shared .align 4 .b32 s[32];
    mov.u32 %r10, s;
    mov.u32 %r13, 1;
    mapa.shared::cluster.u32 %r15, %r10, %r13;
    ld.shared::cluster.u32 %r14, [%r15+128];
    ret;)";
  const auto fault = fault_of(kernel_text(body), in_clusters({2, 1, 1}, {2, 1, 1}));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind(), Fault::Kind::illegal_address);
  EXPECT_THAT(fault->what(), HasSubstr("4 bytes at byte 128 of shared memory of block 1 of the "
                                       "cluster, which ends at byte 128"));
}

TEST(Cluster, TheGridMustBeAMultiple) {
  EXPECT_THROW(run_body("ret;", in_clusters({3, 1, 1}, {2, 1, 1})), std::invalid_argument);
  EXPECT_THROW(run_body("ret;", in_clusters({32, 1, 1}, {32, 1, 1})), std::invalid_argument);
}

TEST(Cluster, EveryOrderOfBlocksGivesTheSame) {
  Options options = limited();
  options.schedules = 3;
  const KernelRun run =
      run_kernel(kernel_text(neighbour("mapa.shared::cluster.u32 %r15, %r10, %r13;\n"
                                       "ld.shared::cluster.u32 %r14, [%r15];")),
                 in_clusters({8, 1, 1}, {4, 1, 1}), {}, options);
  EXPECT_EQ(run.output[0], 32u);
  EXPECT_TRUE(run.findings.empty());
}

}  // namespace
}  // namespace warpgauge::emulator::machine::cluster_test
