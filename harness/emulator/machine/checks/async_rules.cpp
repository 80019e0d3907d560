// The table of rules about asynchronous accesses.
#include "harness/emulator/machine/checks/async_rules.h"

#include <cstddef>

namespace warpgauge::emulator::machine::checks {
namespace {

constexpr AsyncRuleRow kRules[] = {
    {AsyncRule::unfenced_source, "unfenced source",
     "it may read what was there before, for no proxy fence stands between",
     "put fence.proxy.async (cuda::ptx::fence_proxy_async) behind the writes and before the "
     "barrier that its thread waits at"},
    {AsyncRule::unordered_source, "unordered source",
     "it may come first, for no barrier stands between",
     "let all writing threads come to a barrier, behind their fence.proxy.async, before"},
    {AsyncRule::early_access, "early access",
     "the thread has not waited for the copy, nor come behind a thread that has",
     "wait for the phase of the copy's mbarrier (mbarrier.try_wait) before"},
    {AsyncRule::early_result, "early result",
     "wgmma may not have written it yet, or ptxas lets each product wait for the one before",
     "wait for its group (wgmma.wait_group) before, and keep the compiler from reading ahead of "
     "that (cutlass::warpgroup_fence_operand)"},
    {AsyncRule::overwritten_source, "overwritten source", "it may not have been read yet",
     "let the thread that begins the copy or product commit it, wait for its group "
     "(cp.async.bulk.wait_group.read, wgmma.wait_group), and come to a barrier, before"},
    {AsyncRule::refilled_buffer, "refilled buffer",
     "the copy may come first, for nothing tells its thread that the buffer is free",
     "let the threads that use the buffer arrive at a barrier when they are done, and wait for it "
     "before the copy"},
    {AsyncRule::unfenced_refill, "unfenced refill",
     "the copy may come first, for no proxy fence stands between",
     "put fence.proxy.async (cuda::ptx::fence_proxy_async) behind the accesses and before the "
     "barrier that the copying thread waits at"},
    {AsyncRule::unawaited_copy, "unawaited copy",
     "the shared memory may be gone before it is used, for no thread has waited for that",
     "wait for the mbarrier, or for the group (cp.async.bulk.wait_group.read, wgmma.wait_group), "
     "before the end"},
    {AsyncRule::wrong_bytes, "wrong bytes", "what the phase was told to expect is not what arrives",
     "make expect_tx the sum of the bytes of all copies that arrive in the phase"},
    {AsyncRule::ended_block, "ended block",
     "the block whose shared memory it is may have ended, for nothing orders its end behind this",
     "let all blocks of the cluster meet at its barrier (barrier.cluster, cluster.sync()) before "
     "they end"},
    {AsyncRule::unordered_mbarrier, "unordered mbarrier",
     "the mbarrier may not be initialised yet, for no barrier stands between",
     "put __syncthreads(), or cluster.sync() for other blocks, behind mbarrier.init"},
    {AsyncRule::unfenced_mbarrier, "unfenced mbarrier",
     "the async proxy may not see that the mbarrier is initialised, for no fence stands between",
     "put fence.mbarrier_init.release.cluster (cuda::ptx::fence_mbarrier_init) or "
     "fence.proxy.async behind mbarrier.init, in the same thread"},
    {AsyncRule::unavailable_registers, "unavailable registers",
     "an increase waits on a GPU until the block has the registers, here for good",
     "decrease other warpgroups by as much, or launch the kernel with more registers "
     "(__launch_bounds__)"},
};

}  // namespace

const AsyncRuleRow& row_of(AsyncRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

void report(Findings& findings, const Act& act, AsyncRule rule, const std::string& other,
            const std::string& details) {
  const AsyncRuleRow& row = row_of(rule);
  findings.report(act, row.name, other, details + "; " + row.wrong + ": " + row.fix);
}

}  // namespace warpgauge::emulator::machine::checks
