// Layout of basic blocks: a weak topological order of the control flow graph (strongly connected
// parts in one piece, entered at their head, and so on within them).
#include "harness/emulator/machine/decode/code_layout.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>

namespace warpgauge::emulator::machine::decode {
namespace {

bool always_leaves(const ptx::Instruction& instruction) {
  static constexpr std::string_view kJumps[] = {"bra", "brx", "ret", "exit", "trap"};
  return !instruction.guard &&
         std::find(std::begin(kJumps), std::end(kJumps), instruction.opcode) != std::end(kJumps);
}

bool ends_block(const ptx::Instruction& instruction) {
  return always_leaves(instruction) || instruction.opcode == "bra" || instruction.opcode == "brx";
}

// Names of the labels that an instruction may jump to.
std::vector<std::string_view> targets(const ptx::Function& function,
                                      const ptx::Instruction& instruction) {
  if (instruction.opcode == "bra" && !instruction.operands.empty()) {
    return {instruction.operands[0].name};
  }
  if (instruction.opcode != "brx" || instruction.operands.size() < 2) return {};
  for (const ptx::TargetList& list : function.target_lists) {
    if (list.name == instruction.operands[1].name) {
      return {list.targets.begin(), list.targets.end()};
    }
  }
  return {};
}

using Graph = std::vector<std::vector<int>>;

/// Tarjan's strongly connected components of a part of a graph, without edges into `head`.
class Components {
 public:
  Components(const Graph& graph, const std::vector<int>& nodes, int head)
      : graph_(graph),
        head_(head),
        in_part_(graph.size()),
        index_(graph.size(), -1),
        low_(graph.size()),
        component_(graph.size(), -1) {
    for (const int node : nodes) in_part_[static_cast<std::size_t>(node)] = true;
    for (const int node : nodes) {
      if (index_[static_cast<std::size_t>(node)] < 0) search(node);
    }
  }
  int count() const { return count_; }
  int of(int node) const { return component_[static_cast<std::size_t>(node)]; }
  /// Calls visit(successor) for the edges of the part.
  template <typename Visit>
  void each_successor(int node, const Visit& visit) const {
    for (const int next : graph_[static_cast<std::size_t>(node)]) {
      if (next != head_ && in_part_[static_cast<std::size_t>(next)]) visit(next);
    }
  }

 private:
  // Depth-first with a stack of its own: functions may have many thousand blocks.
  void search(int root) {
    std::vector<std::pair<int, std::size_t>> path;
    enter(root, path);
    while (!path.empty()) {
      const int node = path.back().first;
      const auto& next = graph_[static_cast<std::size_t>(node)];
      if (path.back().second == next.size()) {
        path.pop_back();
        leave(node);
        if (!path.empty()) lower(path.back().first, low_[static_cast<std::size_t>(node)]);
        continue;
      }
      const int to = next[path.back().second++];
      const auto t = static_cast<std::size_t>(to);
      if (to == head_ || !in_part_[t]) continue;
      if (index_[t] < 0) {
        enter(to, path);
      } else if (component_[t] < 0) {
        lower(node, index_[t]);
      }
    }
  }
  void enter(int node, std::vector<std::pair<int, std::size_t>>& path) {
    index_[static_cast<std::size_t>(node)] = low_[static_cast<std::size_t>(node)] = next_index_++;
    open_.push_back(node);
    path.emplace_back(node, 0);
  }
  void lower(int node, int value) {
    int& low = low_[static_cast<std::size_t>(node)];
    low = std::min(low, value);
  }
  void leave(int node) {
    if (low_[static_cast<std::size_t>(node)] != index_[static_cast<std::size_t>(node)]) return;
    int member;
    do {
      member = open_.back();
      open_.pop_back();
      component_[static_cast<std::size_t>(member)] = count_;
    } while (member != node);
    ++count_;
  }

  const Graph& graph_;
  int head_;
  std::vector<bool> in_part_;
  std::vector<int> index_, low_, component_, open_;
  int next_index_ = 0, count_ = 0;
};

/// Appends the order of `nodes`, ascending numbers, to `order`. Edges into `head` do not matter.
void append_order(const Graph& graph, const std::vector<int>& nodes, int head,
                  std::vector<int>* order) {
  const Components components(graph, nodes, head);
  const auto count = static_cast<std::size_t>(components.count());
  std::vector<std::vector<int>> members(count);
  std::vector<int> missing(count);    // edges from components that are not yet placed
  std::vector<int> entry(count, -1);  // the lowest node that is entered from outside
  std::vector<bool> loops(count);
  for (const int node : nodes) {
    const int from = components.of(node);
    members[static_cast<std::size_t>(from)].push_back(node);
    components.each_successor(node, [&](int next) {
      const int to = components.of(next);
      const auto t = static_cast<std::size_t>(to);
      if (to == from) {
        loops[t] = true;
        return;
      }
      ++missing[t];
      if (entry[t] < 0 || next < entry[t]) entry[t] = next;
    });
  }
  // The component with the lowest number goes first, of those that nothing missing leads to.
  using Ready = std::pair<int, std::size_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::size_t n = 0; n < count; ++n) {
    if (missing[n] == 0) ready.emplace(members[n].front(), n);
  }
  while (!ready.empty()) {
    const std::size_t n = ready.top().second;
    ready.pop();
    if (loops[n]) {
      const int inner_head = entry[n] >= 0 ? entry[n] : members[n].front();
      append_order(graph, members[n], inner_head, order);
    } else {
      order->push_back(members[n].front());
    }
    for (const int node : members[n]) {
      components.each_successor(node, [&](int next) {
        const auto t = static_cast<std::size_t>(components.of(next));
        if (t != n && --missing[t] == 0) ready.emplace(members[t].front(), t);
      });
    }
  }
}

}  // namespace

BlockGraph block_graph(const ptx::Function& function) {
  const std::size_t size = function.body.size();
  BlockGraph graph;
  graph.begin = {0, size};
  for (const ptx::Label& label : function.labels) graph.begin.push_back(label.position);
  for (std::size_t n = 0; n < size; ++n) {
    if (ends_block(function.body[n])) graph.begin.push_back(n + 1);
  }
  std::sort(graph.begin.begin(), graph.begin.end());
  graph.begin.erase(std::unique(graph.begin.begin(), graph.begin.end()), graph.begin.end());
  const auto block_at = [&](std::size_t position) {
    const auto found = std::lower_bound(graph.begin.begin(), graph.begin.end(), position);
    return static_cast<int>(found - graph.begin.begin());
  };
  std::unordered_map<std::string_view, int> labels;
  for (const ptx::Label& label : function.labels) labels[label.name] = block_at(label.position);
  const std::size_t blocks = graph.begin.size();
  graph.successors.resize(blocks);
  graph.falls_through.resize(blocks);
  for (std::size_t n = 0; n + 1 < blocks; ++n) {
    const ptx::Instruction& last = function.body[graph.begin[n + 1] - 1];
    for (const std::string_view target : targets(function, last)) {
      if (const auto found = labels.find(target); found != labels.end()) {
        graph.successors[n].push_back(found->second);
      }
    }
    graph.falls_through[n] = !always_leaves(last);
    if (graph.falls_through[n]) graph.successors[n].push_back(static_cast<int>(n) + 1);
  }
  return graph;
}

std::vector<int> block_order(const std::vector<std::vector<int>>& successors) {
  std::vector<bool> reached(successors.size());
  std::vector<int> to_visit = {0}, nodes, order;
  reached[0] = true;
  while (!to_visit.empty()) {
    const int node = to_visit.back();
    to_visit.pop_back();
    for (const int next : successors[static_cast<std::size_t>(node)]) {
      if (reached[static_cast<std::size_t>(next)]) continue;
      reached[static_cast<std::size_t>(next)] = true;
      to_visit.push_back(next);
    }
  }
  for (std::size_t n = 0; n < successors.size(); ++n) {
    if (reached[n]) nodes.push_back(static_cast<int>(n));
  }
  // A branch back to block 0 makes a loop like any other: no head is given.
  append_order(successors, nodes, -1, &order);
  for (std::size_t n = 0; n < successors.size(); ++n) {
    if (!reached[n]) order.push_back(static_cast<int>(n));
  }
  return order;
}

}  // namespace warpgauge::emulator::machine::decode
