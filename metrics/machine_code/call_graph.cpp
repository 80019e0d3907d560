// Reads the section .nv.callgraph, and follows calls.
#include "metrics/machine_code/call_graph.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace warpgauge::metrics {
namespace {

/// The lists in .nv.callgraph, which holds pairs of numbers. A list begins with the pair of 0 and
/// its kind.
enum class List : std::uint32_t {
  calls = 0xffffffff,       ///< a function, and one that it calls
  prototypes = 0xfffffffe,  ///< a function whose address is taken, and its prototype
  by_pointer = 0xfffffffd,  ///< a function, and the prototype of a call that it makes
  addresses = 0xfffffffc,   ///< a function, and one whose address it names
};

}  // namespace

CallGraph::CallGraph(const Cubin& cubin)
    : functions_(cubin.functions()), elsewhere_(cubin.functions_elsewhere()) {
  read(cubin.section(".nv.callgraph"));
}

void CallGraph::read(std::span<const std::byte> section) {
  std::multimap<std::uint32_t, std::uint32_t> of_prototype;  // the functions with a prototype
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_pointer;
  List list = List::calls;
  std::array<std::uint32_t, 2> pair{};
  for (; section.size() >= sizeof pair; section = section.subspan(sizeof pair)) {
    std::memcpy(pair.data(), section.data(), sizeof pair);
    const auto [first, second] = pair;
    if (first == 0) {
      list = static_cast<List>(second);
    } else if (list == List::calls || list == List::addresses) {
      calls_[first].insert(second);
    } else if (list == List::prototypes) {
      of_prototype.emplace(second, first);
    } else if (list == List::by_pointer) {
      by_pointer.emplace_back(first, second);
      by_pointer_.insert(first);
    }
  }
  for (const auto& [caller, prototype] : by_pointer) {
    const auto [begin, end] = of_prototype.equal_range(prototype);
    for (auto function = begin; function != end; ++function)
      calls_[caller].insert(function->second);
  }
}

const Cubin::Function* CallGraph::find(std::string_view function) const {
  const auto found = std::ranges::find_if(
      functions_, [&](const auto& entry) { return entry.second.name == function; });
  return found == functions_.end() ? nullptr : &found->second;
}

std::set<std::uint32_t> CallGraph::reached_from(std::vector<std::uint32_t> open) const {
  std::set<std::uint32_t> seen;
  while (!open.empty()) {
    const auto calls = calls_.find(open.back());
    open.pop_back();
    if (calls == calls_.end()) continue;
    for (const std::uint32_t called : calls->second) {
      if (seen.insert(called).second) open.push_back(called);
    }
  }
  return seen;
}

std::vector<std::uint32_t> CallGraph::numbers_of(std::string_view function) const {
  std::vector<std::uint32_t> numbers;
  for (const auto& [number, candidate] : functions_) {
    if (candidate.name == function) numbers.push_back(number);
  }
  return numbers;
}

std::set<std::string> CallGraph::called_elsewhere(std::string_view function) const {
  constexpr std::array<std::string_view, 4> kOfDriver = {"vprintf", "malloc", "free",
                                                         "__assertfail"};
  std::vector<std::uint32_t> reached = numbers_of(function);
  const std::set<std::uint32_t> called = reached_from(reached);
  reached.insert(reached.end(), called.begin(), called.end());
  std::set<std::string> names;
  for (const std::uint32_t number : reached) {
    if (by_pointer_.contains(number)) names.emplace("functions by a pointer");
    const auto elsewhere = elsewhere_.find(number);
    if (elsewhere == elsewhere_.end()) continue;
    const std::string_view name = elsewhere->second;
    const bool is_of_driver =
        std::ranges::count(kOfDriver, name) > 0 || name.starts_with("__cuda_syscall");
    if (!is_of_driver) names.emplace(name);
  }
  return names;
}

std::set<std::string> CallGraph::called_by(std::string_view function) const {
  std::set<std::string> names;
  for (const std::uint32_t called : reached_from(numbers_of(function))) {
    if (const auto known = functions_.find(called); known != functions_.end()) {
      names.emplace(known->second.name);
    }
  }
  return names;
}

std::map<std::string, std::set<std::string>> CallGraph::shared_functions() const {
  std::map<std::string, std::set<std::string>> of_kernels;
  for (const auto& [number, kernel] : functions_) {
    if (!kernel.is_entry || !calls_.contains(number)) continue;
    for (const std::uint32_t called : reached_from({number})) {
      const auto known = functions_.find(called);
      if (known == functions_.end()) continue;
      const Cubin::Function& function = known->second;
      const bool is_apart = !function.is_entry && function.kernel == function.name;
      if (is_apart) of_kernels[std::string(kernel.name)].emplace(function.name);
    }
  }
  return of_kernels;
}

}  // namespace warpgauge::metrics
