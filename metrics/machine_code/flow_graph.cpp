// Finds meeting points, control dependences and loops.
#include "metrics/machine_code/flow_graph.h"

#include <algorithm>
#include <map>
#include <utility>

namespace warpgauge::metrics {

FlowGraph::FlowGraph(std::vector<std::vector<std::size_t>> behind) : behind_(std::move(behind)) {
  before_.resize(size() + 1);
  for (std::size_t node = 0; node < size(); ++node) {
    for (const std::size_t next : behind_[node]) before_[next].push_back(node);
  }
  find_meeting_points();
}

/// Finds the immediate postdominators: K. D. Cooper, T. J. Harvey, K. Kennedy, "A Simple, Fast
/// Dominance Algorithm", on the reversed edges.
void FlowGraph::find_meeting_points() {
  const std::size_t end = size();
  // Nodes in the postorder of a depth-first walk backwards from the end.
  constexpr std::size_t kUnseen = static_cast<std::size_t>(-1), kSeen = kUnseen - 1;
  std::vector<std::size_t> number(end + 1, kUnseen), order;
  std::vector<std::pair<std::size_t, std::size_t>> path = {{end, 0}};
  number[end] = kSeen;
  while (!path.empty()) {
    auto& [node, edge] = path.back();
    if (edge == before_[node].size()) {
      number[node] = order.size();
      order.push_back(node);
      path.pop_back();
      continue;
    }
    const std::size_t other = before_[node][edge++];
    if (number[other] != kUnseen) continue;
    number[other] = kSeen;
    path.emplace_back(other, 0);
  }

  meeting_point_.assign(end + 1, kUnseen);
  meeting_point_[end] = end;
  const auto meet = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = meeting_point_[a];
      while (number[b] < number[a]) b = meeting_point_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = order.size() - 1; i-- > 0;) {  // the end itself is last, and left out
      const std::size_t node = order[i];
      std::size_t found = kUnseen;
      for (const std::size_t next : behind_[node]) {
        if (meeting_point_[next] == kUnseen) continue;
        found = found == kUnseen ? next : meet(found, next);
      }
      changed = changed || found != meeting_point_[node];
      meeting_point_[node] = found;
    }
  }
}

std::vector<std::size_t> FlowGraph::decided_by(std::size_t node) const {
  std::vector<bool> seen(size());
  std::vector<std::size_t> found, open = behind_[node];
  while (!open.empty()) {
    const std::size_t next = open.back();
    open.pop_back();
    if (next == size() || next == meeting_point_[node] || seen[next]) continue;
    seen[next] = true;
    found.push_back(next);
    open.insert(open.end(), behind_[next].begin(), behind_[next].end());
  }
  return found;
}

std::set<std::size_t> FlowGraph::way(std::size_t node, std::size_t first) const {
  std::set<std::size_t> found;
  std::vector<std::size_t> open = {first};
  while (!open.empty()) {
    const std::size_t next = open.back();
    open.pop_back();
    if (next == size() || next == node || next == meeting_point_[node]) continue;
    if (!found.insert(next).second) continue;
    open.insert(open.end(), behind_[next].begin(), behind_[next].end());
  }
  return found;
}

std::vector<std::vector<std::size_t>> FlowGraph::deciders() const {
  std::vector<std::vector<std::size_t>> found(size());
  for (std::size_t node = 0; node < size(); ++node) {
    if (behind_[node].size() < 2) continue;
    for (const std::size_t decided : decided_by(node)) found[decided].push_back(node);
  }
  return found;
}

std::vector<FlowGraph::Loop> FlowGraph::loops() const {
  enum class State : unsigned char { unseen, on_path, done };
  std::vector<State> states(size() + 1, State::unseen);
  states[size()] = State::done;
  std::map<std::size_t, std::vector<std::size_t>> latches;  // the ends of back edges, by header
  for (std::size_t root = 0; root < size(); ++root) {
    if (states[root] != State::unseen) continue;
    states[root] = State::on_path;
    std::vector<std::pair<std::size_t, std::size_t>> path = {{root, 0}};
    while (!path.empty()) {
      auto& [node, edge] = path.back();
      if (edge == behind_[node].size()) {
        states[node] = State::done;
        path.pop_back();
        continue;
      }
      const std::size_t next = behind_[node][edge++];
      if (states[next] == State::on_path) latches[next].push_back(node);
      if (states[next] != State::unseen) continue;
      states[next] = State::on_path;
      path.emplace_back(next, 0);
    }
  }

  std::vector<Loop> found;
  for (auto& [header, open] : latches) {
    Loop loop{.header = header, .contains = std::vector<bool>(size()), .size = 1};
    loop.contains[header] = true;
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      if (loop.contains[node]) continue;
      loop.contains[node] = true;
      ++loop.size;
      open.insert(open.end(), before_[node].begin(), before_[node].end());
    }
    found.push_back(std::move(loop));
  }
  std::ranges::stable_sort(found, {}, &Loop::size);
  return found;
}

}  // namespace warpgauge::metrics
