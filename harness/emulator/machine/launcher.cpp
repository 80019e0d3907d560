// A launch: blocks in the order of their numbers, over worker threads.
#include "harness/emulator/machine/launcher.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/control/device_queue.h"
#include "harness/emulator/machine/control/interleaver.h"
#include "harness/emulator/machine/control/tallies.h"
#include "harness/emulator/machine/core/fault.h"
#include "harness/emulator/machine/core/parameter_layout.h"
#include "harness/emulator/machine/lowest_problem.h"
#include "harness/emulator/machine/settled_reads.h"
#include "harness/emulator/machine/stillness.h"
#include "metrics/base/available_cores.h"

namespace warpgauge::emulator::machine {
namespace {

constexpr std::uint64_t kDefaultStack = 512 * 1024;
constexpr std::uint64_t kThreadsPerMultiprocessor = 2048;
// Between looks at a launch that only waits.
constexpr std::chrono::milliseconds kBetweenLooks{100};
// Long turns of all clusters before another one begins beside them, which may be what they wait
// for.
constexpr unsigned kPassesBusy = 4;
// Warp instructions that are executed sooner by one thread than it wakes others.
constexpr std::uint64_t kForOneThread = 20'000;

void check(const Kernel& kernel, const Launch& launch, const Architecture& architecture) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("launch of " + kernel.code->display + ": " + why);
  };
  const std::uint64_t threads = volume(launch.block);
  if (threads == 0 || threads > architecture.max_threads_per_block) {
    refuse(std::to_string(threads) + " threads a block; there may be 1 to " +
           std::to_string(architecture.max_threads_per_block));
  }
  if (volume(launch.grid) == 0) refuse("the grid is empty");
  const auto cluster = control::cluster_size(launch);
  constexpr auto kMostBlocks = memory::ClusterMemory::kMostBlocks;
  if (volume(cluster) == 0 || volume(cluster) > kMostBlocks) {
    refuse(std::to_string(volume(cluster)) + " blocks a cluster; there may be 1 to " +
           std::to_string(kMostBlocks));
  }
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    if (launch.grid[n] % cluster[n] != 0) refuse("the grid is no multiple of the cluster");
  }
  const std::uint64_t shared = kernel.code->shared_bytes + launch.dynamic_shared_bytes;
  if (shared > architecture.shared_per_block_opt_in) {
    refuse(std::to_string(shared) + " bytes of shared memory a block; there may be " +
           std::to_string(architecture.shared_per_block_opt_in));
  }
  if (launch.parameters.size() < kernel.info.parameter_bytes) {
    refuse("parameters of " + std::to_string(launch.parameters.size()) + " bytes; it takes " +
           std::to_string(kernel.info.parameter_bytes));
  }
}

SpecialInputs inputs_of(const Kernel& kernel, const Launch& launch, const LaunchHost& host) {
  SpecialInputs inputs{};
  inputs.grid = launch.grid;
  inputs.block = launch.block;
  inputs.cluster = control::cluster_size(launch);
  inputs.has_clusters = launch.cluster.has_value();
  inputs.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  inputs.total_shared_bytes = kernel.code->shared_bytes + launch.dynamic_shared_bytes;
  inputs.grid_id = host.number;
  inputs.multiprocessors = static_cast<std::uint32_t>(host.architecture.multiprocessors);
  return inputs;
}

/// Memory for the barrier of the grid: the size of all of it, then the barrier itself, all zeros at
/// first (cooperative_groups, grid_workspace).
class GridWorkspace {
 public:
  explicit GridWorkspace(memory::Memory& memory)
      : memory_(memory),
        begin_(memory.allocate(kBytes, memory::Memory::Kind::device, "the barrier of the grid")) {
    if (begin_ == nullptr) throw std::bad_alloc();
    std::memset(begin_, 0, kBytes);
    memory.note_written(begin_, kBytes);
  }
  ~GridWorkspace() { memory_.free(begin_); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(begin_); }

 private:
  static constexpr std::uint64_t kBytes = 8;
  memory::Memory& memory_;
  std::byte* begin_;
};

std::uint64_t lane_stack(const KernelCode& code, const Options& options) {
  const std::uint64_t unbounded = options.stack_bytes != 0 ? options.stack_bytes : kDefaultStack;
  const std::uint64_t bytes = code.stack_bytes.value_or(unbounded);
  return bytes == 0 ? 0 : control::odd_cache_lines(bytes);
}

using Clock = std::chrono::steady_clock;

/// Shared by the workers of a launch.
struct Shared {
  Shared(control::LaunchContext& context, std::uint64_t clusters, std::size_t residents)
      : context(context), clusters(clusters), residents(residents) {}

  control::LaunchContext& context;
  const std::uint64_t clusters;
  const std::size_t residents;  ///< clusters that may have begun and not ended
  std::atomic<std::size_t> active = 0;
  std::atomic<std::uint64_t> next_cluster = 0;
  Stillness stillness;
  std::function<void()> recruit;            ///< the other workers; nothing: they are there
  std::optional<Clock::duration> patience;  ///< with waiting for memory; nothing: no end of it
  std::atomic<int> busy = 0;                ///< workers that do not wait for memory
  std::atomic<bool> pauses = false;         ///< the patience is over
  LowestProblem problem;

  void fail(std::uint64_t block, std::exception_ptr what) {
    problem.note(block, std::move(what));
    context.stop = true;
  }
};

/// Runs clusters in one thread. Usually one at a time; while all that it has begun poll memory or
/// run for long, it begins further ones, as on a GPU they would be resident together.
class Worker {
 public:
  /// `tallies` are those of a launch before; nullptr: there are none.
  Worker(Shared& shared, std::unique_ptr<control::Tallies> tallies)
      : shared_(shared), tallies_(std::move(tallies)) {
    const KernelCode& code = shared.context.code;
    if (tallies_ == nullptr) {
      tallies_ = std::make_unique<control::Tallies>(code);
    } else {
      tallies_->begin_launch();
    }
    if (shared.context.launch.hits == nullptr) return;
    for (const auto& function : code.functions) {
      tallies_->hits.emplace_back(function->instructions.size());
    }
  }

  /// Runs until no block is left, the launch stops, or it pauses. It counts as busy before.
  void work() {
    Advance last = Advance::some_ended;
    shared_.stillness.begin();
    if (shared_.context.launch.interleaving != nullptr) interleave();
    while (!shared_.context.stop && !shared_.pauses) {
      const bool wants_more = active_.empty() || last == Advance::all_poll ||
                              (last == Advance::some_busy && ++busy_passes_ % kPassesBusy == 0);
      const bool begun = wants_more && begin_cluster();
      if (active_.empty()) break;
      note_waiting(last == Advance::all_poll && !begun);
      if (waits_) wait_for_memory();
      last = advance_all();
      const bool is_long = last != Advance::some_ended || steps() > kForOneThread;
      if (shared_.recruit && is_long && is_any_left()) {
        std::exchange(shared_.recruit, nullptr)();
      }
    }
    shared_.stillness.end(this);
    note_waiting(true);
    waits_ = false;
  }

  control::Tallies& tallies() { return *tallies_; }
  /// When the launch is over and all has been looked at.
  std::unique_ptr<control::Tallies> take_tallies() { return std::move(tallies_); }
  std::uint64_t steps() const {
    std::uint64_t total = 0;
    for (const auto& cluster : idle_) {
      for (const auto& block : cluster->blocks()) {
        for (const control::WarpState& state : block->warps) total += state.engine.counts.steps;
      }
    }
    return total;
  }

 private:
  bool is_any_left() const { return shared_.next_cluster < shared_.clusters; }

  bool begin_cluster() {
    if (++shared_.active > shared_.residents || !is_any_left()) {
      --shared_.active;
      return false;
    }
    const std::uint64_t number = shared_.next_cluster++;
    if (number >= shared_.clusters) {
      --shared_.active;
      return false;
    }
    begin(number);
    return true;
  }

  void begin(std::uint64_t cluster) {
    if (idle_.empty()) {
      idle_.push_back(std::make_unique<control::Cluster>(shared_.context, *tallies_));
    }
    active_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    active_.back()->start(cluster);
  }

  /// Runs all clusters, alone, as Launch::interleaving says.
  void interleave() {
    control::Interleaver interleaver(shared_.context);
    while (!shared_.context.stop) {
      const auto turn = interleaver.next(active_, active_.size() < shared_.residents);
      if (!turn) return;
      if (turn->begins) {
        begin(*turn->begins);
        ++shared_.next_cluster;
      }
      note_waiting(turn->all_poll);
      if (turn->all_poll) look_or_wait();
      control::Block* block = nullptr;
      const auto cluster = std::ranges::find_if(active_, [&](const auto& each) {
        block = each->find(turn->warp.block);
        return block != nullptr;
      });
      run_guarded(**cluster, [&] {
        (*cluster)->before_turn(*block);
        interleaver.run(*block, *turn);
        if (!(*cluster)->after_turn(*block)) return;
        finish(*cluster);
        active_.erase(cluster);
      });
    }
  }

  /// The same as wait_for_memory(), but that nothing changes where the program waits.
  void look_or_wait() {
    const auto& waits = shared_.context.options.program_waits;
    if (waits && !waits()) return wait_for_memory();
    look_for_progress(Clock::now());
  }

  void note_waiting(bool waits) {
    if (waits == waits_) return;
    waits_ = waits;
    shared_.busy += waits ? -1 : 1;
    waiting_since_ = Clock::now();
  }

  void wait_for_memory() {
    std::this_thread::yield();
    const Clock::time_point now = Clock::now();
    if (shared_.busy != 0) waiting_since_ = now;
    if (shared_.patience) {
      if (now - waiting_since_ >= *shared_.patience) shared_.pauses = true;
    } else if (now - std::max(looked_, waiting_since_) >= kBetweenLooks) {
      looked_ = now;
      look_for_progress(now);
    }
  }

  /// Finds a deadlock of loops. The program may change what they wait for, as long as it does not
  /// wait itself, for as long as the launch may take: on a busy machine a launch that waits gets
  /// hardly any CPU time, so that the time counts in which nothing changes.
  void look_for_progress(Clock::time_point now) {
    const auto& waits = shared_.context.options.program_waits;
    std::uint64_t fingerprint = 1;
    for (const auto& cluster : active_) fingerprint += cluster->fingerprint();
    const bool still = shared_.stillness.look(this, fingerprint);
    if (!still) {
      changed_ = now;
      return;
    }
    const std::chrono::milliseconds limit = shared_.context.options.cpu_limit;
    const bool too_long = limit.count() != 0 && now - std::max(changed_, waiting_since_) >= limit;
    if (!too_long && waits && !waits()) return;
    const auto first = std::ranges::min_element(
        active_, {}, [](const auto& cluster) { return cluster->running(); });
    if (first == active_.end()) return;
    try {
      if (too_long) (*first)->report_long_wait(limit);
      (*first)->report_spinning(why_not_begun());
    } catch (...) {
      shared_.fail((*first)->running(), std::current_exception());
    }
  }

  /// "; 1 block has not begun, as the GPU holds 660 at once", or nothing.
  std::string why_not_begun() const {
    const std::uint64_t begun = shared_.next_cluster;
    if (begun >= shared_.clusters) return "";
    const std::uint64_t size = volume(control::cluster_size(shared_.context.launch));
    const std::uint64_t left = (shared_.clusters - begun) * size;
    return "; " + std::to_string(left) + (left == 1 ? " block has" : " blocks have") +
           " not begun, as the GPU holds " + std::to_string(shared_.residents * size) + " at once";
  }

  enum class Advance : std::uint8_t { some_ended, some_busy, all_poll };
  Advance advance_all() {
    using Progress = control::Block::Progress;
    bool any_finished = false, any_busy = false;
    for (auto& cluster : active_) {
      Progress progress = Progress::finished;
      if (!run_guarded(*cluster, [&] { progress = cluster->advance(); })) {
        return Advance::some_ended;
      }
      any_busy |= progress == Progress::busy;
      if (progress != Progress::finished) continue;
      any_finished = true;
      --shared_.active;
      finish(cluster);
    }
    std::erase(active_, nullptr);
    if (any_finished) return Advance::some_ended;
    return any_busy ? Advance::some_busy : Advance::all_poll;
  }

  /// The cluster has ended: it is moved to the idle ones.
  void finish(std::unique_ptr<control::Cluster>& cluster) {
    if (shared_.context.code.prints) {
      for (const auto& block : cluster->blocks()) shared_.context.output.finished(block->number);
    }
    idle_.push_back(std::move(cluster));
  }

  /// Calls `run`, which runs a part of the cluster. False: the launch is over.
  template <typename Run>
  bool run_guarded(const control::Cluster& cluster, Run run) {
    try {
      run();
      return true;
    } catch (const control::LaunchStopped&) {
    } catch (const Fault& fault) {
      const control::LaunchContext& context = shared_.context;
      shared_.fail(cluster.running(),
                   std::make_exception_ptr(with_place(fault, context.code, context.launch)));
    } catch (...) {
      shared_.fail(cluster.running(), std::current_exception());
    }
    return false;
  }

  Shared& shared_;
  std::unique_ptr<control::Tallies> tallies_;
  std::vector<std::unique_ptr<control::Cluster>> active_, idle_;
  bool waits_ = false;  ///< for memory to change
  unsigned busy_passes_ = 0;
  Clock::time_point waiting_since_;
  Clock::time_point looked_;   ///< for progress
  Clock::time_point changed_;  ///< the last look that saw some
};

/// The line of the PTX text of a counter or a branch.
int text_line(const auto& place) { return place.code->function->body[place.instruction].text_line; }

std::vector<BranchTotals> branches_of(const KernelCode& code,
                                      const std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<BranchTotals> branches;
  for (std::size_t n = 0; n < code.branches.size(); ++n) {
    BranchTotals totals;
    for (const auto& worker : workers) {
      const control::BranchWays& more = worker->tallies().branches[n];
      totals.divided += more.divided;
      totals.warps += more.warps;
      totals.taken += more.taken;
      if (more.warps == 0) continue;
      const std::uint64_t untaken = more.warps - more.taken + more.divided;
      totals.lane_groups += kLaneGroups * more.warps - more.lacking;
      totals.taken_groups += kLaneGroups * more.taken - more.lacking_taken;
      totals.untaken_groups += kLaneGroups * untaken - more.lacking_untaken;
    }
    if (totals.divided == 0 && totals.warps == 0) continue;
    const KernelCode::Branch& branch = code.branches[n];
    totals.text_line = text_line(branch);
    totals.source = branch.source;
    branches.push_back(totals);
  }
  std::ranges::sort(branches, {}, &BranchTotals::text_line);
  return branches;
}

/// The record that shows most of those that the workers kept of a counter: the same however they
/// shared the blocks, for each worker takes its blocks in ascending order. nullptr: none.
const metrics::WarpAccess* record_of(const std::vector<std::unique_ptr<Worker>>& workers,
                                     std::size_t counter) {
  const metrics::WarpAccess* most = nullptr;
  for (const auto& worker : workers) {
    const metrics::WarpAccess& record = worker->tallies().counters.records()[counter];
    if (record.mask == 0) continue;
    if (most == nullptr || metrics::shows_more(record, *most)) most = &record;
  }
  return most;
}

/// The hits of the instructions of the bodies, without others that the decoder adds
/// (code_layout.h).
std::vector<FunctionHits> hits_of(const KernelCode& code,
                                  const std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<FunctionHits> sums;
  for (const auto& function : code.functions) {
    std::vector<InstructionHits> hits(function->function->body.size());
    for (const auto& worker : workers) {
      if (worker == nullptr) continue;  // there was no memory for it
      const auto& counted = worker->tallies().hits[function->number];
      for (std::size_t n = 0; n < hits.size(); ++n) {
        const InstructionHits& more = counted[function->places[n]];
        hits[n].warps += more.warps;
        hits[n].lanes += more.lanes;
        hits[n].guard_held += more.guard_held;
        hits[n].guard_failed += more.guard_failed;
      }
    }
    sums.push_back({function.get(), std::move(hits)});
  }
  return sums;
}

std::optional<control::DeviceKernel> launchable(const Program& program, std::uint64_t address) {
  const ptx::Function* const function = program.function_at(address);
  if (function == nullptr || !function->is_kernel || !function->has_body) return std::nullopt;
  return control::DeviceKernel{function->name, parameters_of(*function).bytes};
}

std::size_t workers_for(std::uint64_t clusters, const Launch& launch, const Options& options) {
  if (launch.interleaving != nullptr) return 1;
  const int threads = options.threads > 0 ? options.threads : metrics::available_cores();
  return std::min<std::uint64_t>(static_cast<unsigned>(threads), clusters);
}

/// Workers that the launch had no need of are not there.
LaunchOutcome outcome_of(const KernelCode& code, const Launch& launch,
                         const std::vector<std::unique_ptr<Worker>>& workers) {
  LaunchOutcome outcome;
  for (const auto& worker : workers) outcome.warp_instructions += worker->steps();
  const std::uint64_t threads = volume(launch.block);
  outcome.warps = volume(launch.grid) * ((threads + kLanes - 1) / kLanes);
  outcome.lane_groups =
      volume(launch.grid) * ((threads + kLanes / kLaneGroups - 1) / (kLanes / kLaneGroups));
  outcome.has_partial_warps = threads % kLanes != 0;
  outcome.branches = branches_of(code, workers);
  outcome.sources = code.sources;
  outcome.totals.reserve(code.counters.size());
  outcome.records.reserve(code.counters.size());
  for (std::size_t n = 0; n < code.counters.size(); ++n) {
    AccessTotals totals;
    for (const auto& worker : workers) add(totals, worker->tallies().counters.totals(n));
    if (totals.requests == 0) continue;
    const KernelCode::Counter& counter = code.counters[n];
    outcome.totals.push_back({text_line(counter), counter.source, totals});
    if (const metrics::WarpAccess* const record = record_of(workers, n)) {
      outcome.records.push_back({text_line(counter), counter.source, *record});
    }
  }
  return outcome;
}

}  // namespace

struct LaunchRun::Parts {
  Parts(const Kernel& its_kernel, const Launch& its_launch, const LaunchHost& its_host);

  std::uint64_t resident_clusters() const {
    if (launch.cooperative) return clusters;
    std::uint64_t resident = launch.resident_blocks;
    if (resident == 0) {
      resident = static_cast<std::uint64_t>(host.architecture.multiprocessors) *
                 std::max<std::uint64_t>(1, kThreadsPerMultiprocessor / volume(launch.block));
    }
    return std::max<std::uint64_t>(1, resident / volume(control::cluster_size(launch)));
  }

  const Kernel& kernel;
  const KernelCode& code;
  const Launch launch;
  const LaunchHost host;
  const std::uint64_t blocks, clusters;
  std::optional<GridWorkspace> workspace;
  control::OrderedOutput output;
  control::DeviceQueue queue;
  control::LaunchContext context;
  std::optional<checks::LaunchHistory> history;
  std::vector<std::unique_ptr<Worker>> workers;
  Shared shared;
};

LaunchRun::Parts::Parts(const Kernel& its_kernel, const Launch& its_launch,
                        const LaunchHost& its_host)
    : kernel(its_kernel),
      code(*kernel.code),
      launch(its_launch),
      host(its_host),
      blocks(volume(launch.grid)),
      clusters(blocks / volume(control::cluster_size(launch))),
      output(host.options.print),
      queue([&program =
                 kernel.program](std::uint64_t address) { return launchable(program, address); },
            host.architecture, host.memory),
      context{code,
              launch,
              host.options,
              host.memory,
              inputs_of(kernel, launch, host),
              lane_stack(code, host.options),
              AlignedBytes(code.parameters.bytes()),
              Clock::now() + host.options.time_limit,
              CpuClock::now() + host.options.cpu_limit,
              false,
              output,
              host.heap_in_use,
              queue},
      workers(workers_for(clusters, launch, host.options)),
      shared(context, clusters, resident_clusters()) {
  kernel.tallies.resize(std::max(kernel.tallies.size(), workers.size()));
  code.parameters.fill(context.parameters.data(), launch.parameters);
  if (launch.cooperative) context.inputs.grid_workspace = workspace.emplace(host.memory).address();
  Checks checks = host.options.checks;
  checks.races |= launch.races != nullptr;
  if (checks.history(code.is_async)) {
    std::vector<bool> settled;
    if (!host.options.checks.history(false)) settled = settled_reads(kernel, launch, host.memory);
    context.history =
        &history.emplace(checks, host.memory, context.findings, blocks, std::move(settled));
  }
}

LaunchRun::LaunchRun(const Kernel& kernel, const Launch& launch, const LaunchHost& host) {
  check(kernel, launch, host.architecture);
  parts_ = std::make_unique<Parts>(kernel, launch, host);
}

LaunchRun::~LaunchRun() = default;

bool LaunchRun::run(std::optional<std::chrono::milliseconds> patience) {
  auto& [kernel, code, launch, host, blocks, clusters, workspace, output, queue, context, history,
         workers, shared] = *parts_;
  const int count = static_cast<int>(workers.size());
  const bool alone = workers.front() == nullptr && kernel.last_steps <= kForOneThread;
  shared.recruit = nullptr;
  if (alone) {
    shared.recruit = [&host, &shared, count] {
      shared.busy += count - 1;
      host.pool.recruit(count);
    };
  }
  shared.patience = patience;
  shared.pauses = false;
  shared.busy = alone ? 1 : count;
  host.pool.run(alone ? 1 : count, [&](int number) {
    const auto place = static_cast<std::size_t>(number);
    auto& worker = workers[place];
    try {
      if (worker == nullptr) {
        worker = std::make_unique<Worker>(shared, std::move(kernel.tallies[place]));
      }
      worker->work();
    } catch (...) {  // out of memory
      shared.fail(blocks, std::current_exception());
    }
  });
  if (shared.pauses && !shared.problem.is_there()) return false;
  if (launch.hits != nullptr) *launch.hits = hits_of(code, workers);
  if (launch.races != nullptr) *launch.races = context.findings.races();
  if (launch.findings != nullptr) *launch.findings = context.findings.take(host.options.checks);
  if (launch.uses != nullptr) *launch.uses = context.findings.take_uses();
  shared.problem.rethrow();
  return true;
}

LaunchOutcome LaunchRun::take_outcome() {
  std::erase(parts_->workers, nullptr);
  LaunchOutcome outcome = outcome_of(parts_->code, parts_->launch, parts_->workers);
  parts_->kernel.last_steps = outcome.warp_instructions;
  for (std::size_t n = 0; n < parts_->workers.size(); ++n) {
    parts_->kernel.tallies[n] = parts_->workers[n]->take_tallies();
  }
  outcome.work = parts_->queue.take();
  return outcome;
}

LaunchOutcome run_launch(const Kernel& kernel, const Launch& launch, const LaunchHost& host) {
  LaunchRun run(kernel, launch, host);
  run.run();
  return run.take_outcome();
}

}  // namespace warpgauge::emulator::machine
