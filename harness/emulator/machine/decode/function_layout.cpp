// Places of what a function has: registers and local variables in its frames, blocks in its code.
#include <algorithm>
#include <map>
#include <utility>

#include "harness/emulator/machine/decode/code_layout.h"
#include "harness/emulator/machine/decode/function_decoder.h"
#include "harness/emulator/machine/decode/register_lives.h"

namespace warpgauge::emulator::machine::decode {

void FunctionDecoder::lay_out() {
  for (const ptx::Variable& variable : function().variables) {
    if (variable.space == ptx::Space::local || variable.space == ptx::Space::param) {
      place_local(variable);
    }
  }
  if (!function().is_kernel) {
    for (const auto& variable : function().parameters) {
      code_.parameters.push_back(place_parameter(variable));
    }
    for (const auto& variable : function().results) {
      code_.results.push_back(place_parameter(variable));
    }
  }
  place_code();
}

void FunctionDecoder::place_local(const ptx::Variable& variable) {
  const std::uint64_t offset = round_up(code_.local_bytes, variable.alignment);
  locals_[variable.name] = {offset, &variable};
  code_.local_bytes = offset + variable.bytes;
}

Passed FunctionDecoder::place_parameter(const ptx::Variable& variable) {
  const auto bytes = static_cast<std::uint32_t>(variable.bytes);
  if (variable.space == ptx::Space::reg) {
    types_[variable.name] = variable.type;
    return {true, register_slot(variable.name, variable.type), 0, bytes};
  }
  place_local(variable);
  return {false, {}, locals_.at(variable.name).offset, bytes};
}

std::vector<FunctionDecoder::Placed::Kind> FunctionDecoder::in_front(std::uint32_t position) const {
  std::vector<Placed::Kind> kinds;
  if (early_reads_.contains(position)) kinds.push_back(Placed::Kind::check);
  const auto& body = function().body;
  const bool is_product =
      position < body.size() && body[position].opcode == "wgmma" && body[position].has("mma_async");
  if (is_product) kinds.push_back(Placed::Kind::meeting);
  return kinds;
}

void FunctionDecoder::place_code() {
  const BlockGraph graph = block_graph(function());
  const std::vector<int> order = block_order(graph.successors);
  const auto size = static_cast<std::uint32_t>(function().body.size());
  places_.resize(size + 1);
  if (options().checks.async) early_reads_ = early_reads(function(), graph);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto block = static_cast<std::size_t>(order[n]);
    const bool is_end = block + 1 == graph.begin.size();
    const auto begin = static_cast<std::uint32_t>(graph.begin[block]);
    const auto end = is_end ? size + 1 : static_cast<std::uint32_t>(graph.begin[block + 1]);
    for (std::uint32_t position = begin; position < end; ++position) {
      for (const Placed::Kind kind : in_front(position)) placed_.push_back({position, kind});
      places_[position] = static_cast<std::uint32_t>(placed_.size());
      placed_.push_back({position, Placed::Kind::instruction});
    }
    const bool next_follows = n + 1 < order.size() && order[n + 1] == order[n] + 1;
    if (graph.falls_through[block] && !next_follows) placed_.push_back({end, Placed::Kind::jump});
  }
  code_.instructions.resize(placed_.size());
  entries_.resize(placed_.size());
  for (const std::size_t begin : graph.begin) entries_[first_place(begin)] = true;
  place_fixed_registers();
  place_registers(register_lives(function(), graph, places_));
}

// Registers of the same width share places when their lives do not overlap.
void FunctionDecoder::place_registers(const std::vector<RegisterLife>& lives) {
  using Busy = std::pair<std::uint32_t, OperandSlot>;  // until this place in the code
  const auto later = [](const Busy& a, const Busy& b) { return a.first > b.first; };
  struct Width {
    std::vector<Busy> busy;  // a heap: the first to become free is in front
    std::vector<OperandSlot> free;
  };
  std::map<int, Width> widths;
  for (const auto& [variable, first, last] : lives) {
    if (slots_.contains(variable->name)) continue;  // a parameter of the function, or fixed
    auto& [busy, free] = widths[lane_bytes(variable->type)];
    for (; !busy.empty() && busy.front().first < first; busy.pop_back()) {
      std::pop_heap(busy.begin(), busy.end(), later);
      free.push_back(busy.back().second);
    }
    OperandSlot slot;
    if (free.empty()) {
      slot = new_register(variable->type);
    } else {
      slot = free.back();
      free.pop_back();
    }
    slots_[variable->name] = slot;
    lives_.push_back({slot.offset, first, last});
    busy.emplace_back(last, slot);
    std::push_heap(busy.begin(), busy.end(), later);
  }
  std::sort(lives_.begin(), lives_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offset, a.first) < std::pair(b.offset, b.first);
  });
}

OperandSlot FunctionDecoder::register_slot(std::string_view name, ptx::Type type) {
  const auto [known, is_new] = slots_.try_emplace(name);
  if (is_new) known->second = new_register(type);
  return known->second;
}

OperandSlot FunctionDecoder::new_register(ptx::Type type) {
  if (type != ptx::Type::pred) {
    return scratch(static_cast<std::uint32_t>(lane_bytes(type) * kLanes));
  }
  if (predicates_left_ == 0) {
    next_predicate_ = scratch(kVectorAlignment).offset;
    predicates_left_ = kVectorAlignment / sizeof(Mask);
  }
  --predicates_left_;
  next_predicate_ += sizeof(Mask);
  return {OperandSlot::frame, static_cast<std::uint32_t>(next_predicate_ - sizeof(Mask))};
}

OperandSlot FunctionDecoder::scratch(std::uint32_t bytes) {
  const auto offset = round_up(code_.register_bytes, kVectorAlignment);
  code_.register_bytes = offset + bytes;
  return {OperandSlot::frame, static_cast<std::uint32_t>(offset)};
}

}  // namespace warpgauge::emulator::machine::decode
