// Makes the model of a kernel: which blocks its machine code has, and which ways lead to each.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/emulator/counting/counterparts.h"
#include "harness/emulator/counting/execution_model.h"
#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/ptx_flow.h"

namespace warpgauge::emulator::counting {

using metrics::FlowGraph;

class ExecutionModelBuilder {
 public:
  ExecutionModelBuilder(ExecutionModel& model, const PtxFlow& flow, std::span<const PtxFlow> all,
                        const MachineFlow& machine)
      : model_(model), flow_(flow), machine_(machine), counterparts_(flow, all, machine) {
    divide();
    find_lines(all);
  }

  void build(const metrics::SourceLines& sources) {
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (reached_[block]) add_ways(block);
    }
    leave_copies_open();
    add_gatherings();
    check_loops();
    judge_removed();
    put_in_order();
    find_sources(sources);
  }

 private:
  static constexpr const char* kOtherRounds =
      "ptxas has unrolled a loop, or taken a round out of it";
  using Block = ExecutionModel::Block;
  using Edge = ExecutionModel::Edge;
  using Way = ExecutionModel::Way;

  void refuse(std::string why) {
    if (model_.unknown_.empty()) model_.unknown_ = std::move(why);
  }

  void refuse_block(std::size_t block, std::string why) {
    blocks_[block].is_known = false;
    leave_open(block, std::move(why));
  }

  /// Only the ways from it are not known.
  void leave_open(std::size_t block, std::string why) {
    blocks_[block].is_open = true;
    if (model_.partly_.empty()) model_.partly_ = std::move(why);
  }

  /// Into blocks that end also behind a BSYNC.
  void divide() {
    std::set<std::size_t> meetings;
    for (const MachineFlow::Gathering& gathering : machine_.gatherings())
      meetings.insert(gathering.end + 1);
    for (const metrics::SassBlock& block : machine_.blocks()) {
      std::size_t begin = block.begin;
      first_.push_back(blocks_.size());
      for (auto meeting = meetings.upper_bound(block.begin);
           meeting != meetings.end() && *meeting < block.end; ++meeting) {
        blocks_.push_back({.begin = begin, .end = *meeting});
        begin = *meeting;
      }
      blocks_.push_back({.begin = begin, .end = block.end});
      last_.push_back(blocks_.size() - 1);
    }
    reached_.resize(blocks_.size());
    machine_.walk({0}, {}, [&](std::size_t block) {
      std::fill(reached_.begin() + static_cast<std::ptrdiff_t>(first_[block]),
                reached_.begin() + static_cast<std::ptrdiff_t>(last_[block]) + 1, true);
      return true;
    });
  }

  void find_lines(std::span<const PtxFlow> all) {
    if (flow_.calls_through_register()) refuse("it calls functions");
    homes_.resize(machine_.blocks().size());
    for (std::size_t block = 0; block < homes_.size(); ++block) {
      if (!reached_[first_[block]]) continue;
      const metrics::SassBlock& range = machine_.blocks()[block];
      for (std::size_t i = range.begin; i < range.end; ++i) {
        const auto line = machine_.line_at(i);
        if (!line) continue;
        if (const auto home = flow_.block_at(*line)) {
          homes_[block].insert(*home);
        } else if (std::ranges::any_of(all, [&](const PtxFlow& flow) {
                     return flow.block_at(*line).has_value();
                   })) {
          refuse("it calls functions");
        }
        if (!metrics::is_call(machine_.words()[i])) continue;
        if (!line || !flow_.block_at(*line) || flow_.is_call(*line)) refuse("it calls functions");
        refuse_block(block_at(i), "the machine code calls functions that the PTX does not have");
      }
    }
  }

  /// The block of the machine code that a block here is the end of; nothing for others.
  std::optional<std::size_t> ended(std::size_t block) const {
    const std::size_t found = machine_.block_of(blocks_[block].begin);
    return last_[found] == block ? std::optional(found) : std::nullopt;
  }

  void add_edge(std::size_t to_machine_block, Edge edge) {
    if (to_machine_block == machine_.graph().size()) return;
    blocks_[first_[to_machine_block]].before.push_back(edge);
  }

  void add_ways(std::size_t block) {
    const auto own = ended(block);
    if (!own) {
      blocks_[block + 1].before.push_back({block, Way::always});
      return;
    }
    const auto& behind = machine_.graph().behind(*own);
    if (machine_.is_branch_if_apart(*own)) {
      model_.needs_whole_warps_ = true;
      for (const std::size_t next : behind) {
        if (next == *own + 1) add_edge(next, {block, Way::always});
      }
      return;
    }
    if (behind.size() < 2) {
      for (const std::size_t next : behind) add_edge(next, {block, Way::always});
      return;
    }
    const auto ptx = branch_of(block, *own);
    const auto taken = ptx ? taken_way(*own, *ptx) : std::nullopt;
    if (ptx && !taken) {
      leave_open(block,
                 fmt::format("it is not plain which way of the branch in line {} of the PTX the "
                             "machine code has where",
                             flow_.last_line(*ptx)));
    }
    if (!taken) {
      for (const std::size_t next : behind) add_edge(next, {block, Way::unknown});
      return;
    }
    blocks_[block].branch = flow_.last_line(*ptx);
    blocks_[block].parts = parts(*own);
    blocks_[block].ends = machine_.blocks()[*own].leaves;
    for (const std::size_t next : behind) {
      const std::size_t loop = machine_.innermost_loop(*own);
      const bool jumps = next != *own + 1;
      const bool leaves = loop < machine_.loops().size() && next < machine_.graph().size() &&
                          !machine_.loops()[loop].contains[next];
      add_edge(next, {block, next == *taken ? Way::taken : Way::untaken, jumps, leaves});
    }
  }

  /// Whether a known branch of the machine code has the line of that of the PTX; or one behind it,
  /// of a block without a branch that it decides, where predicates stand for the block.
  bool has_line_of_branch(std::size_t own) const {
    const int line = *machine_.last_line(own);
    const std::size_t at = *flow_.block_at(line), ptx = counterparts_.of_branch(own).number;
    if (flow_.last_line(at) == line) return true;
    const auto decided = flow_.graph().decided_by(ptx);
    return flow_.is_straight(line) && !counterparts_.is_branch(at) &&
           std::ranges::find(decided, at) != decided.end();
  }

  /// The branch of the PTX at the end of a block of the machine code, by its line and no other.
  std::optional<std::size_t> branch_of(std::size_t block, std::size_t own) {
    if (!counterparts_.is_known_branch(own) || !has_line_of_branch(own) ||
        machine_.graph().behind(own).size() != 2) {
      leave_open(block, "the machine code has a branch that the PTX does not have");
      return std::nullopt;
    }
    const std::size_t ptx = counterparts_.of_branch(own).number;
    if (flow_.graph().behind(ptx).size() != 2) {
      leave_open(block, "it branches by an index");
      return std::nullopt;
    }
    const auto [first, is_first] = made_.try_emplace(ptx, block);
    if (is_first) return ptx;
    copies_.insert({first->second, block});
    leave_open(block, fmt::format("ptxas made several branches of that in line {} of the PTX",
                                  flow_.last_line(ptx)));
    return std::nullopt;
  }

  /// No branch is known of several that are one of the PTX.
  void leave_copies_open() {
    for (const std::size_t branch : copies_) {
      blocks_[branch].is_open = true;
      blocks_[branch].branch = 0;
    }
    for (Block& block : blocks_) {
      for (Edge& edge : block.before) {
        if (copies_.contains(edge.from)) edge.way = Way::unknown;
      }
    }
  }

  /// Whether lanes that part there stay apart, though they come to the same code.
  bool parts(std::size_t own) const {
    if (machine_.graph().meeting_point(own) == machine_.graph().size()) return false;
    return std::ranges::none_of(
        machine_.gatherings(),
        [&](const MachineFlow::Gathering& gathering) { return gathering.between[own]; });
  }

  /// The blocks that are only on one way from a branch, for both ways.
  static std::pair<std::set<std::size_t>, std::set<std::size_t>> ways(const FlowGraph& graph,
                                                                      std::size_t branch,
                                                                      std::size_t a,
                                                                      std::size_t b) {
    std::set<std::size_t> only_a = graph.way(branch, a), only_b = graph.way(branch, b);
    for (auto entry = only_a.begin(); entry != only_a.end();) {
      entry = only_b.erase(*entry) > 0 ? only_a.erase(entry) : std::next(entry);
    }
    return {std::move(only_a), std::move(only_b)};
  }

  /// The block behind one of the machine code that lanes go to if they take the branch of the PTX.
  std::optional<std::size_t> taken_way(std::size_t own, std::size_t ptx) const {
    const auto& behind = machine_.graph().behind(own);
    const auto& ptx_behind = flow_.graph().behind(ptx);
    const std::size_t fallen = ptx + 1;
    if (!flow_.falls_through(ptx) || std::ranges::find(ptx_behind, fallen) == ptx_behind.end())
      return std::nullopt;
    const std::size_t taken = ptx_behind[0] == fallen ? ptx_behind[1] : ptx_behind[0];
    // By what leads back to the branch.
    const auto leads_back = [](const FlowGraph& graph, std::size_t branch, std::size_t first) {
      if (first == branch) return true;
      const auto blocks = graph.way(branch, first);
      return std::ranges::any_of(blocks, [&](std::size_t block) {
        const auto& next = graph.behind(block);
        return std::ranges::find(next, branch) != next.end();
      });
    };
    const bool a_back = leads_back(machine_.graph(), own, behind[0]);
    const bool b_back = leads_back(machine_.graph(), own, behind[1]);
    const bool taken_back = leads_back(flow_.graph(), ptx, taken);
    const bool fallen_back = leads_back(flow_.graph(), ptx, fallen);
    if ((a_back != b_back) != (taken_back != fallen_back)) return std::nullopt;
    if (a_back != b_back) return behind[a_back == taken_back ? 0 : 1];
    // By what is on the ways.
    const auto [of_taken, of_fallen] = ways(flow_.graph(), ptx, taken, fallen);
    const auto [of_a, of_b] = ways(machine_.graph(), own, behind[0], behind[1]);
    const auto shared = [&](const std::set<std::size_t>& machine_way,
                            const std::set<std::size_t>& ptx_way) {
      return std::ranges::any_of(machine_way, [&](std::size_t block) {
        return std::ranges::any_of(homes_[block],
                                   [&](std::size_t home) { return ptx_way.contains(home); });
      });
    };
    const bool straight = shared(of_a, of_taken) || shared(of_b, of_fallen);
    const bool crossed = shared(of_a, of_fallen) || shared(of_b, of_taken);
    if (straight == crossed) return std::nullopt;
    return behind[straight ? 0 : 1];
  }

  void add_gatherings() {
    for (const MachineFlow::Gathering& gathering : machine_.gatherings()) {
      const std::size_t begin = block_at(gathering.begin), end = block_at(gathering.end);
      if (!reached_[begin] || !reached_[end]) continue;
      Block& behind = blocks_[end + 1];
      if (behind.gathering) {
        refuse_block(end + 1, "lanes that part at several places meet at one");
        continue;
      }
      behind.gathering.emplace();
      behind.gathering->begin = begin;
      behind.gathering->yields = gathering.yields;
      blocks_[end].gathers = true;
      for (std::size_t block = 0; block < machine_.blocks().size(); ++block) {
        if (!gathering.between[block]) continue;
        const metrics::SassBlock& range = machine_.blocks()[block];
        behind.gathering->threads_end |= range.leaves;
        behind.gathering->between.emplace_back(range.begin, range.end);
        if (const int line = blocks_[last_[block]].branch) behind.gathering->branches.insert(line);
      }
    }
    for (std::size_t i = 0; i < machine_.words().size(); ++i) {
      model_.needs_whole_warps_ |= metrics::is_break(machine_.words()[i]);
    }
  }

  std::size_t block_at(std::size_t index) const {
    const auto behind = std::ranges::upper_bound(blocks_, index, {}, &Block::begin);
    return static_cast<std::size_t>(behind - blocks_.begin()) - 1;
  }

  /// A branch back shows how often a loop repeats, but not how many rounds of the PTX's loop are in
  /// one of the machine code's. Its arithmetic shows that.
  void check_loops() {
    for (std::size_t loop = 0; loop < machine_.loops().size(); ++loop) {
      if (!reached_[first_[machine_.loops()[loop].header]]) continue;
      const Counterpart& same = counterparts_.of_loop(loop);
      if (same.kind != Counterpart::Kind::found) {
        refuse_loop(loop, "the machine code has a loop that the PTX does not have");
        continue;
      }
      if (is_turned(loop, same.number)) {
        refuse_loop(loop, kOtherRounds);
        continue;
      }
      std::set<int> inside, outside;  // lines of the loop
      bool is_repeated = false;       // one of them is inside more than once
      ExecutionModel::Ranges own;
      for (std::size_t block = 0; block < machine_.blocks().size(); ++block) {
        if (!reached_[first_[block]]) continue;
        const bool is_inside = machine_.innermost_loop(block) == loop;
        const metrics::SassBlock& range = machine_.blocks()[block];
        if (is_inside) own.emplace_back(range.begin, range.end);
        for (std::size_t i = range.begin; i < range.end; ++i) {
          const auto line = machine_.line_at(i);
          const auto home = line ? flow_.block_at(*line) : std::nullopt;
          if (!home || counterparts_.innermost_loop(*home) != same.number) continue;
          if (machine_.is_beside(i)) continue;
          if (flow_.is_simple(*line)) {
            const bool is_first = (is_inside ? inside : outside).insert(*line).second;
            is_repeated |= is_inside && !is_first;
          }
        }
      }
      const auto is_outside = [&](int line) { return outside.contains(line); };
      if (is_repeated || std::ranges::any_of(inside, is_outside)) {
        refuse_loop(loop, kOtherRounds);
        continue;
      }
      if (!counterparts_.shows_rounds(loop)) model_.unshown_.push_back(std::move(own));
    }
  }

  /// Whether a loop of the machine code ends behind what the PTX executes only if its loop goes on
  /// then: the first time, the branch of the PTX has none that executes.
  bool is_turned(std::size_t loop, std::size_t ptx_loop) const {
    const FlowGraph::Loop& own = machine_.loops()[loop];
    const FlowGraph::Loop& same = counterparts_.loops()[ptx_loop];
    std::set<std::size_t> onward;  // blocks of the PTX between such a branch and the next round
    for (std::size_t block = 0; block < machine_.blocks().size(); ++block) {
      if (!own.contains[block] || !counterparts_.is_known_branch(block)) continue;
      const auto& behind = machine_.graph().behind(block);
      const std::size_t ptx = counterparts_.of_branch(block).number;
      const bool leads_back = std::ranges::find(behind, own.header) != behind.end();
      if (!leads_back || !counterparts_.is_exit(ptx, same)) continue;
      std::vector<std::size_t> open = flow_.graph().behind(ptx);
      while (!open.empty()) {
        const std::size_t next = open.back();
        open.pop_back();
        if (next == flow_.graph().size() || next == same.header || !same.contains[next]) continue;
        if (!onward.insert(next).second) continue;
        open.insert(open.end(), flow_.graph().behind(next).begin(),
                    flow_.graph().behind(next).end());
      }
    }
    for (std::size_t block = 0; block < machine_.blocks().size(); ++block) {
      const auto is_onward = [&](std::size_t home) { return onward.contains(home); };
      if (own.contains[block] && std::ranges::any_of(homes_[block], is_onward)) return true;
    }
    return false;
  }

  void refuse_loop(std::size_t loop, const std::string& why) {
    for (std::size_t block = 0; block < machine_.blocks().size(); ++block) {
      if (!machine_.loops()[loop].contains[block]) continue;
      for (std::size_t own = first_[block]; own <= last_[block]; ++own) refuse_block(own, why);
    }
  }

  /// Branches of the PTX that the machine code does not have.
  void judge_removed() {
    for (std::size_t ptx = 0; ptx < flow_.graph().size(); ++ptx) {
      if (!counterparts_.is_branch(ptx) || made_.contains(ptx)) continue;
      if (!is_converted(ptx)) model_.removed_.insert(flow_.last_line(ptx));
    }
  }

  /// Whether predicates stand for it: what it decides is in blocks with what it stands behind.
  bool is_converted(std::size_t ptx) const {
    const auto decided = flow_.graph().decided_by(ptx);
    std::set<std::size_t> own;
    for (std::size_t block = 0; block < homes_.size(); ++block) {
      if (homes_[block].contains(ptx)) own.insert(block);
    }
    std::set<std::size_t> behind_own;
    machine_.walk({own.begin(), own.end()}, {}, [&](std::size_t block) {
      behind_own.insert(block);
      return true;
    });
    for (std::size_t block = 0; block < homes_.size(); ++block) {
      const bool has_decided = std::ranges::any_of(
          decided, [&](std::size_t decider) { return homes_[block].contains(decider); });
      if (!has_decided || own.contains(block)) continue;
      if (own.empty() || behind_own.contains(block)) return false;
    }
    return true;
  }

  /// Each block behind those that it needs the executions of.
  void put_in_order() {
    if (!model_.unknown_.empty()) return;
    constexpr std::size_t kNone = ~std::size_t{0};
    std::vector<std::size_t> places(blocks_.size(), kNone);
    std::vector<bool> open(blocks_.size());
    const auto place = [&](const auto& self, std::size_t block) -> bool {
      if (places[block] != kNone) return true;
      if (open[block]) return false;  // it needs itself
      open[block] = true;
      const Block& known = blocks_[block];
      for (const Edge& edge : known.before) {
        if (edge.way == Way::always && !self(self, edge.from)) return false;
      }
      if (known.gathering && !self(self, known.gathering->begin)) return false;
      places[block] = model_.blocks_.size();
      model_.blocks_.push_back(known);
      return true;
    };
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (reached_[block] && !place(place, block)) return refuse("it has a loop without an end");
    }
    for (Block& block : model_.blocks_) {
      for (Edge& edge : block.before) edge.from = places[edge.from];
      if (block.gathering) block.gathering->begin = places[block.gathering->begin];
    }
  }

  void find_sources(const metrics::SourceLines& sources) {
    std::map<std::pair<std::string, int>, std::size_t> known;
    for (Block& block : model_.blocks_) {
      for (std::size_t i = block.begin; i < block.end; ++i) {
        metrics::SourceLine source =
            sources.find(flow_.name(), machine_.words()[i].pc).value_or(metrics::SourceLine{});
        const auto [place, is_new] =
            known.try_emplace({source.file, source.line}, model_.sources_.size());
        if (is_new) model_.sources_.push_back(std::move(source));
        block.sources.push_back(place->second);
      }
    }
  }

  ExecutionModel& model_;
  const PtxFlow& flow_;
  const MachineFlow& machine_;
  Counterparts counterparts_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> first_, last_;     // of a block of the machine code, here
  std::vector<bool> reached_;                 // by block
  std::vector<std::set<std::size_t>> homes_;  // by block of the machine code: blocks of the PTX
  // Branches of the PTX that the machine code has, and the block with the first of each.
  std::map<std::size_t, std::size_t> made_;
  std::set<std::size_t> copies_;  // blocks with one of several that are the same
};

ExecutionModel::ExecutionModel(const PtxFlow& flow, std::span<const PtxFlow> all,
                               const MachineFlow& machine, const metrics::SourceLines& sources)
    : unknown_() {
  ExecutionModelBuilder(*this, flow, all, machine).build(sources);
}

}  // namespace warpgauge::emulator::counting
