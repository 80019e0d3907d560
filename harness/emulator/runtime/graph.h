// Graphs of work, and what the device knows of them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "harness/emulator/runtime/user_object.h"
#include "harness/emulator/runtime/work.h"

namespace warpgauge::emulator::runtime {

class Graph;
struct Capture;

/// Its address is its cudaGraphNode_t.
struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> dependencies = {};
  const Node* original = nullptr;           ///< the node that this one was cloned from
  bool enabled = true;                      ///< in a graph that was instantiated
  std::vector<void*> argument_places = {};  ///< cudaGraphKernelNodeGetParams points here
};

/// The graphs and nodes there are.
struct GraphHandles {
  std::unordered_set<const Graph*> graphs;
  std::unordered_set<const Node*> nodes;
};

using HeldObjects = std::map<const void*, HeldObject>;

/// Its address is its cudaGraph_t.
class Graph {
 public:
  explicit Graph(std::shared_ptr<GraphHandles> handles);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Node& add(Work work, std::vector<Node*> dependencies);
  void remove(const Node& node);
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  /// A copy, with clones of the graphs in its nodes. Each node stands behind those it depends on;
  /// apart from that they are in the order in which they were added. Throws Failure with
  /// cudaErrorInvalidValue for a cycle.
  std::shared_ptr<Graph> clone() const;
  /// The clone of a node of the graph that this one was cloned from, also in graphs of its nodes;
  /// nullptr if there is none.
  Node* clone_of(const Node& original) const;

  HeldObjects objects;

 private:
  std::vector<Node*> in_order() const;

  const std::shared_ptr<GraphHandles> handles_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// The graphs inside a node: of a child graph, or the bodies of a condition.
std::vector<std::shared_ptr<Graph>> graphs_in(const Work& work);

/// A graph that can be launched. Its address is its cudaGraphExec_t.
struct GraphExec {
  std::shared_ptr<Graph> graph;  ///< a clone: its nodes stand in the order in which they run
  unsigned long long flags = 0;
};

/// Where a capture stands in a stream, or stood when an event was recorded: what comes next depends
/// on `nodes`.
struct CapturePoint {
  std::shared_ptr<Capture> capture;
  std::vector<Node*> nodes;
};

struct Graphs {
  std::shared_ptr<GraphHandles> handles = std::make_shared<GraphHandles>();
  std::map<const void*, std::shared_ptr<Graph>> made;  ///< by the program
  std::map<const void*, std::shared_ptr<GraphExec>> instantiated;
  std::map<cudaStream_t, CapturePoint> captures;
  std::map<const void*, std::shared_ptr<GraphMemory>> memory;  ///< allocated by a launch
  std::map<unsigned long long, unsigned> conditions;  ///< by handle: the value that a launch sets
  HeldObjects objects;                                ///< held by the program itself
  std::size_t memory_bytes = 0, most_memory_bytes = 0;
  std::size_t reserved_bytes = 0, most_reserved_bytes = 0;
};

inline cudaGraph_t handle_of(const Graph* graph) {
  return reinterpret_cast<cudaGraph_t>(const_cast<Graph*>(graph));
}
inline cudaGraphNode_t handle_of(const Node* node) {
  return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node));
}

}  // namespace warpgauge::emulator::runtime
