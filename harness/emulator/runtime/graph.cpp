// Makes, clones and orders graphs of work.
#include "harness/emulator/runtime/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "harness/emulator/runtime/failure.h"

namespace warpgauge::emulator::runtime {
namespace {

/// With clones of the graphs in it.
Work clone(const Work& work) {
  Work out = work;
  if (auto* const child = std::get_if<Child>(&out)) child->graph = child->graph->clone();
#if CUDART_VERSION >= 12040
  if (auto* const condition = std::get_if<Condition>(&out)) {
    condition->handles.clear();
    for (auto& body : condition->bodies) {
      body = body->clone();
      condition->handles.push_back(handle_of(body.get()));
    }
  }
#endif
  return out;
}

}  // namespace

std::vector<std::shared_ptr<Graph>> graphs_in(const Work& work) {
  if (const auto* const child = std::get_if<Child>(&work)) return {child->graph};
#if CUDART_VERSION >= 12040
  if (const auto* const condition = std::get_if<Condition>(&work)) return condition->bodies;
#endif
  return {};
}

Graph::Graph(std::shared_ptr<GraphHandles> handles) : handles_(std::move(handles)) {
  handles_->graphs.insert(this);
}

Graph::~Graph() {
  for (const auto& node : nodes_) handles_->nodes.erase(node.get());
  handles_->graphs.erase(this);
}

Node& Graph::add(Work work, std::vector<Node*> dependencies) {
  for (const Node* node : dependencies) require(node->graph == this);
  const std::set<const Node*> different(dependencies.begin(), dependencies.end());
  require(different.size() == dependencies.size());
  nodes_.push_back(std::make_unique<Node>(Node{this, std::move(work), std::move(dependencies)}));
  handles_->nodes.insert(nodes_.back().get());
  return *nodes_.back();
}

void Graph::remove(const Node& node) {
  for (const auto& other : nodes_) std::erase(other->dependencies, &node);
  handles_->nodes.erase(&node);
  std::erase_if(nodes_, [&](const auto& other) { return other.get() == &node; });
}

std::vector<Node*> Graph::in_order() const {
  std::unordered_map<const Node*, std::size_t> place, missing;
  std::unordered_map<const Node*, std::vector<const Node*>> dependents;
  std::set<std::size_t> ready;
  for (const auto& node : nodes_) {
    const std::size_t number = place.size();
    place[node.get()] = number;
    missing[node.get()] = node->dependencies.size();
    for (const Node* dependency : node->dependencies) dependents[dependency].push_back(node.get());
    if (node->dependencies.empty()) ready.insert(number);
  }
  std::vector<Node*> out;
  while (!ready.empty()) {
    out.push_back(nodes_[*ready.begin()].get());
    ready.erase(ready.begin());
    for (const Node* node : dependents[out.back()]) {
      if (--missing[node] == 0) ready.insert(place[node]);
    }
  }
  require(out.size() == nodes_.size());
  return out;
}

std::shared_ptr<Graph> Graph::clone() const {
  auto out = std::make_shared<Graph>(handles_);
  out->objects = objects;
  std::unordered_map<const Node*, Node*> clones;
  for (const Node* node : in_order()) {
    std::vector<Node*> dependencies;
    for (const Node* dependency : node->dependencies) dependencies.push_back(clones[dependency]);
    Node& made = out->add(runtime::clone(node->work), std::move(dependencies));
    made.original = node;
    made.enabled = node->enabled;
    clones[node] = &made;
  }
  return out;
}

Node* Graph::clone_of(const Node& original) const {
  for (const auto& node : nodes_) {
    if (node->original == &original) return node.get();
    for (const auto& graph : graphs_in(node->work)) {
      if (Node* const found = graph->clone_of(original)) return found;
    }
  }
  return nullptr;
}

}  // namespace warpgauge::emulator::runtime
