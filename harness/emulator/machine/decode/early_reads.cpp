// Where the sums of products may be, by a dataflow over the basic blocks.
#include "harness/emulator/machine/decode/early_reads.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/decode/register_lives.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// Sorted positions of products.
using Products = std::vector<std::uint32_t>;

/// Sets of products by small numbers; 0 is none.
class Sets {
 public:
  using Number = std::uint32_t;

  Number number(const Products& products) {
    const auto [place, is_new] = numbers_.emplace(products, static_cast<Number>(sets_.size()));
    if (is_new) sets_.push_back(products);
    return place->second;
  }
  const Products& operator[](Number number) const { return sets_[number]; }
  Number unite(Number a, Number b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    const auto [place, is_new] = unions_.try_emplace({std::min(a, b), std::max(a, b)});
    if (is_new) {
      Products both;
      std::ranges::set_union(sets_[a], sets_[b], std::back_inserter(both));
      place->second = number(both);
    }
    return place->second;
  }
  Number without(Number from, const Products& products) {
    Products rest;
    std::ranges::set_difference(sets_[from], products, std::back_inserter(rest));
    return number(rest);
  }

 private:
  std::vector<Products> sets_{{}};
  std::map<Products, Number> numbers_{{{}, 0}};
  std::map<std::pair<Number, Number>, Number> unions_;
};

/// By register: the products whose sums it may hold.
using State = std::vector<Sets::Number>;

class Flow {
 public:
  Flow(const ptx::Function& function, const BlockGraph& graph)
      : function_(function), graph_(graph) {
    for (std::size_t n = 0; n < function.registers.size(); ++n) {
      numbers_[function.registers[n].name] = n;
    }
  }

  EarlyReads find() {
    std::vector<State> before(graph_.begin.size(), State(function_.registers.size()));
    std::vector<bool> is_due(before.size(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t block = 0; block + 1 < before.size(); ++block) {
        if (!is_due[block]) continue;
        is_due[block] = false;
        State state = before[block];
        pass(block, state, nullptr);
        for (const int successor : graph_.successors[block]) {
          const auto next = static_cast<std::size_t>(successor);
          if (!merge(state, before[next])) continue;
          is_due[next] = true;
          changed = true;
        }
      }
    }
    EarlyReads found;
    for (std::size_t block = 0; block + 1 < before.size(); ++block) {
      pass(block, before[block], &found);
    }
    return found;
  }

 private:
  bool merge(const State& from, State& into) {
    bool grew = false;
    for (std::size_t r = 0; r < into.size(); ++r) {
      const Sets::Number both = sets_.unite(into[r], from[r]);
      grew |= both != into[r];
      into[r] = both;
    }
    return grew;
  }

  void pass(std::size_t block, State& state, EarlyReads* found) {
    for (std::size_t n = graph_.begin[block]; n < graph_.begin[block + 1]; ++n) {
      step(static_cast<std::uint32_t>(n), state, found);
    }
  }

  void step(std::uint32_t position, State& state, EarlyReads* found) {
    const ptx::Instruction& instruction = function_.body[position];
    const auto& operands = instruction.operands;
    if (instruction.opcode == "wgmma") {
      if (instruction.has("wait_group") && !operands.empty() && operands[0].bits == 0) {
        std::ranges::fill(state, 0);
      } else if (instruction.has("mma_async") && operands.size() > 1) {
        note_reads(position, operands[1], state, found);
        forget({position}, state);  // what is elsewhere is of its last execution
        each_register(operands[0], [&](std::size_t r) { state[r] = sets_.number({position}); });
      }
      return;
    }
    if (const auto moved = move_of(instruction)) {
      const Sets::Number kept = instruction.guard ? state[moved->first] : 0;
      state[moved->first] = sets_.unite(state[moved->second], kept);
      return;
    }
    const std::size_t results = has_result(instruction) ? 1 : 0;
    for (std::size_t n = results; n < operands.size(); ++n) {
      note_reads(position, operands[n], state, found);
    }
    if (results == 0 || operands.empty() || instruction.guard) return;
    each_register(operands[0], [&](std::size_t r) { state[r] = 0; });
  }

  void note_reads(std::uint32_t position, const ptx::Operand& operand, State& state,
                  EarlyReads* found) {
    if (found == nullptr) return;
    Sets::Number read = 0;
    each_register(operand, [&](std::size_t r) { read = sets_.unite(read, state[r]); });
    if (read == 0) return;
    const Products products = sets_[read];
    Products& known = (*found)[position];
    known.insert(known.end(), products.begin(), products.end());
    forget(products, state);
  }

  void forget(const Products& products, State& state) {
    for (Sets::Number& set : state) {
      if (set != 0) set = sets_.without(set, products);
    }
  }

  /// To and from which register a move between registers goes.
  std::optional<std::pair<std::size_t, std::size_t>> move_of(
      const ptx::Instruction& instruction) const {
    if (instruction.opcode != "mov" || instruction.operands.size() != 2) return std::nullopt;
    const auto to = numbers_.find(instruction.operands[0].name);
    const auto from = numbers_.find(instruction.operands[1].name);
    if (to == numbers_.end() || from == numbers_.end()) return std::nullopt;
    return std::pair(to->second, from->second);
  }

  template <typename Visit>
  void each_register(const ptx::Operand& operand, const Visit& visit) const {
    decode::each_register(operand, numbers_, visit);
  }

  const ptx::Function& function_;
  const BlockGraph& graph_;
  RegisterNumbers numbers_;
  Sets sets_;
};

}  // namespace

EarlyReads early_reads(const ptx::Function& function, const BlockGraph& graph) {
  const bool multiplies =
      std::ranges::any_of(function.body, [](const auto& i) { return i.opcode == "wgmma"; });
  return multiplies ? Flow(function, graph).find() : EarlyReads();
}

}  // namespace warpgauge::emulator::machine::decode
