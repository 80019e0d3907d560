// Propagates sources through registers, predicates, memory and branches to a fixed point.
#include "metrics/machine_code/order_dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metrics/machine_code/byte_text.h"
#include "metrics/machine_code/partings.h"
#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/sass_code.h"
#include "metrics/machine_code/sass_flow.h"
#include "metrics/machine_code/sass_registers.h"

namespace warpgauge::metrics {
namespace {

using OrderSource = OrderDependence::Source;
using Effect = OrderDependence::Effect;

/// The first source that a value depends on, as an index of an instruction. kNone, which is larger
/// than all others, if there is none.
using Origin = std::uint32_t;
constexpr Origin kNone = static_cast<Origin>(-1);

using Spaces = std::span<const MemorySpace>;
constexpr std::array kShared = {MemorySpace::shared}, kGlobal = {MemorySpace::global};

constexpr std::size_t kSpaces = 3;
std::size_t index_of(MemorySpace space) { return static_cast<std::size_t>(space); }

/// The threads that may write what a load from global memory reads: none, its own or others. Bits
/// 77 to 80.
enum class Coherence : std::uint8_t { constant, weak, strong };
Coherence coherence_of(const SassWord& word, int sm) {
  const unsigned field = word.high >> 13 & 0xf;
  if (sm < 80) {  // the upper two bits: constant, weak, strong, memory-mapped
    return field < 4 ? Coherence::constant : field < 8 ? Coherence::weak : Coherence::strong;
  }
  constexpr unsigned kWeak = 0, kConstant = 4;
  if (field == kConstant) return Coherence::constant;
  return field == kWeak ? Coherence::weak : Coherence::strong;
}

/// The number of a register in the tables of origins.
using Slot = std::uint16_t;

/// Numbers the registers that the code uses, predicates first.
class Numbering {
 public:
  static constexpr Slot kPredicates = kRegisters - kPredicate;

  Numbering() {
    for (Slot slot = 0; slot < kPredicates; ++slot) slots_[kPredicate + slot] = slot;
  }
  std::vector<Slot> of(const std::vector<Register>& registers) {
    std::vector<Slot> slots;
    for (const Register number : registers) {
      if (number < kPredicate && slots_[number] == 0) slots_[number] = size_++;
      slots.push_back(slots_[number]);
    }
    return slots;
  }
  Slot size() const { return size_; }

 private:
  std::array<Slot, kRegisters> slots_{};
  Slot size_ = kPredicates;
};

constexpr unsigned kBarrierInMemory = 0x1a7, kMoreRegisters = 0x1c8, kCallElsewhere = 0x143,
                   kMultifunction = 0x108, kFusedFloat = 0x023, kFusedDouble = 0x02b;

/// The stores that a thread may see behind an instruction.
enum class Synchronization : std::uint8_t {
  none,   // its own stores
  block,  // those before a barrier of the block or an atomic on its memory, too
  all,    // all stores
};

struct DecodedInstruction {
  std::vector<Slot> reads, address, guard, writes, may_write;  // as RegisterUse has them
  Condition condition = 0, otherwise = 0;
  std::vector<Condition> never;
  std::optional<MemoryOp> access;
  Spaces loads_from, stores_to;
  std::optional<OrderSource> source;  // a source in any circumstances
  bool is_approximation = false;
  bool is_sum = false;    // a product of tiles of floats
  bool is_fused = false;  // a sum with a product that the PTX rounds by itself
  Synchronization synchronizes = Synchronization::none;
};

/// HMMA (on sm_75 its form with k = 8 has an opcode of its own), DMMA, QMMA, OMMA.
bool multiplies_in_warp(unsigned opcode, int sm) {
  constexpr unsigned kFirstHmma = 0x036;  // VIADD from sm_90 on
  return opcode == 0x03c || opcode == 0x03f || opcode == 0x07a || opcode == 0x07f ||
         (opcode == kFirstHmma && sm == 75);
}

bool only_stores(MemoryOp op) {
  return op == MemoryOp::stg || op == MemoryOp::sts || op == MemoryOp::stl || op == MemoryOp::st ||
         op == MemoryOp::stsm || op == MemoryOp::red;
}

/// The spaces that an access loads from and stores to.
struct Traffic {
  Spaces from, to;
};
Traffic traffic_of(const SassWord& word, MemoryOp op, int sm) {
  if (op == MemoryOp::bulk) {
    switch (word.opcode()) {
      case 0x1b4:  // UTMALDG
        return {kGlobal, kShared};
      case 0x1b5:  // UTMASTG
      case 0x1b6:  // UTMAREDG
        return {kShared, kGlobal};
      case 0x1bd:  // STAS
      case 0x1be:  // REDAS
        return {kShared, kShared};
      default:  // bits 9 and 10 of UBLKCP and UBLKRED: to shared memory, and from it
        return {(word.high >> 10 & 1) != 0 ? kShared : kGlobal,
                (word.high >> 9 & 1) != 0 ? kShared : kGlobal};
    }
  }
  const bool is_constant = op == MemoryOp::ldg && coherence_of(word, sm) == Coherence::constant;
  const bool only_loads = is_load(op) || op == MemoryOp::wgmma;
  const Spaces spaces = spaces_of(op);
  return {only_stores(op) || is_constant ? Spaces() : spaces, only_loads ? Spaces() : spaces};
}

std::optional<OrderSource> source_of(const SassWord& word, const DecodedInstruction& instruction,
                                     int sm) {
  const bool has_result = !instruction.writes.empty() || !instruction.may_write.empty();
  if (word.opcode() == kBarrierInMemory && has_result) return OrderSource::barrier;
  if (word.opcode() == kMoreRegisters && has_result) return OrderSource::registers;
  if (!instruction.access) return std::nullopt;
  if (returns_a_value(*instruction.access) && has_result) return OrderSource::atomic;
  const bool is_global =
      *instruction.access == MemoryOp::ldg || *instruction.access == MemoryOp::ld;
  if (is_global && coherence_of(word, sm) == Coherence::strong) return OrderSource::load;
  return std::nullopt;
}

Synchronization synchronization_of(const SassWord& word, const DecodedInstruction& instruction) {
  constexpr unsigned kBarrier = 0x11d, kFence = 0x192, kBarrierOfWarp = 0x148,
                     kBarrierOfCluster = 0x1c7;
  switch (word.opcode()) {
    case kBarrier:
    case kBarrierOfWarp:
      return Synchronization::block;
    case kFence:
    case kBarrierOfCluster:
    case kBarrierInMemory:
    case kCallElsewhere:
      return Synchronization::all;
    default:
      break;
  }
  if (instruction.access && returns_a_value(*instruction.access)) {
    const Spaces spaces = spaces_of(*instruction.access);
    if (spaces.size() == 1 && spaces.front() == MemorySpace::shared) return Synchronization::block;
  }
  return instruction.source ? Synchronization::all : Synchronization::none;
}

/// The surroundings that an instruction is decoded in.
struct Surroundings {
  int sm;
  bool may_allocate;  // calls may go to malloc
  std::string_view kernel;
  const PtxLines* ptx_lines;
};

DecodedInstruction instruction_of(const SassWord& word, const Surroundings& around,
                                  Numbering& numbering) {
  constexpr Register kResult = 4;  // with the next one, by the calling convention
  const bool allocates = around.may_allocate && word.opcode() == kCallElsewhere;
  RegisterUse use = registers_of(word, around.sm);
  DecodedInstruction instruction{.reads = numbering.of(use.reads),
                                 .address = numbering.of(use.address),
                                 .guard = numbering.of(use.guard),
                                 .writes = numbering.of(use.writes),
                                 .may_write = numbering.of(use.may_write),
                                 .condition = use.condition,
                                 .otherwise = use.otherwise,
                                 .never = std::move(use.never)};
  if (const auto access = memory_instruction(word, around.sm)) {
    instruction.access = access->op;
    const Traffic traffic = traffic_of(word, access->op, around.sm);
    instruction.loads_from = traffic.from;
    instruction.stores_to = traffic.to;
  }
  instruction.source = source_of(word, instruction, around.sm);
  if (instruction.access && is_load(*instruction.access) && around.ptx_lines != nullptr &&
      around.ptx_lines->is_strong_load(around.kernel, word.pc)) {
    instruction.source = OrderSource::load;
  }
  if (allocates) {
    instruction.source = OrderSource::allocation;
    instruction.writes = numbering.of({kResult, kResult + 1});
  }
  instruction.synchronizes = synchronization_of(word, instruction);
  instruction.is_sum = multiplies_floats(word) || multiplies_in_warp(word.opcode(), around.sm);
  const bool is_fused = word.opcode() == kFusedFloat || word.opcode() == kFusedDouble;
  instruction.is_fused = is_fused && around.ptx_lines != nullptr &&
                         around.ptx_lines->may_be_fused(around.kernel, word.pc);
  instruction.is_approximation = word.opcode() == kMultifunction && around.ptx_lines != nullptr &&
                                 around.ptx_lines->is_approximation(around.kernel, word.pc);
  return instruction;
}

std::optional<OrderSource> source_in(Circumstances circumstances,
                                     const DecodedInstruction& instruction) {
  if (instruction.is_approximation && circumstances.approximations != Approximations::own) {
    return OrderSource::approximation;
  }
  if (instruction.is_sum && circumstances.products == Products::of_the_emulator)
    return OrderSource::product;
  if (instruction.is_fused && circumstances.rounding == Rounding::of_the_ptx)
    return OrderSource::fusion;
  if (instruction.source) return instruction.source;
  const bool loads = instruction.access && is_load(*instruction.access);
  if (loads && circumstances.memory == Memory::unsettled) return OrderSource::memory;
  return std::nullopt;
}

}  // namespace

struct OrderOfThreads::Code {
  std::vector<SassWord> words;
  std::vector<DecodedInstruction> instructions;
  SassFlow flow;
  Slot slots;  // number of slots
  std::vector<Parting> partings;
};

namespace {

using Code = OrderOfThreads::Code;

bool lower(Origin& to, Origin origin) {
  if (origin >= to) return false;
  to = origin;
  return true;
}

bool lower(std::span<Origin> to, std::span<const Origin> origins) {
  // Usually nothing is new, and the comparison takes a fifth of the time.
  if (std::equal(to.data(), to.data() + to.size(), origins.data())) return false;
  bool is_new = false;
  for (std::size_t i = 0; i < to.size(); ++i) is_new |= lower(to[i], origins[i]);
  return is_new;
}

/// The origins of the values in registers, in general and under conditions. "@P0 MOV R5, 0" keeps
/// the old value of R5 where P0 does not hold. "@P0 STS [R5]" never sees that value. Behind an
/// instruction that sets P0 to true, no thread has values under !P0.
class SlotValues {
 public:
  explicit SlotValues(Slot slots) : always_(slots, kNone) {}

  /// The origin of a register that is read under `condition`.
  Origin of(Slot slot, Condition condition) const { return under(condition)[slot]; }

  void write(const DecodedInstruction& instruction, Origin origin) {
    for (const Slot to : instruction.writes) {
      const Origin left = instruction.condition == 0 ? kNone : of(to, instruction.otherwise);
      if (left != origin && instruction.condition != 0)
        conditional_.try_emplace(instruction.condition, always_);
      for (auto& [condition, values] : conditional_) {
        const bool is_certain = instruction.condition == 0 || instruction.condition == condition;
        values[to] = is_certain ? origin : std::min(values[to], origin);
      }
      always_[to] = std::min(left, origin);
    }
    for (const Slot to : instruction.may_write) {
      lower(always_[to], origin);
      for (auto& [condition, values] : conditional_) lower(values[to], origin);
    }
    for (const auto* const slots : {&instruction.writes, &instruction.may_write}) {
      for (const Slot to : *slots) forget(to);
    }
    for (const Condition never : instruction.never) {
      conditional_.insert_or_assign(never, Origins(always_.size(), kNone));
    }
  }

  /// Adds the origins at another predecessor. Returns true if a value depends on more than before.
  bool merge(const SlotValues& other) {
    bool is_new = false;
    for (const auto& [condition, values] : other.conditional_) {
      conditional_.try_emplace(condition, always_);
    }
    for (auto& [condition, values] : conditional_) {
      is_new |= lower(values, other.under(condition));
    }
    is_new |= lower(always_, other.always_);
    std::erase_if(conditional_, [&](const auto& entry) { return entry.second == always_; });
    return is_new;
  }

 private:
  using Origins = std::vector<Origin>;

  const Origins& under(Condition condition) const {
    const auto found = conditional_.find(condition);
    return found == conditional_.end() ? always_ : found->second;
  }
  /// Forgets what is known under a predicate, because it is written.
  void forget(Slot predicate) {
    if (predicate >= Numbering::kPredicates) return;
    const auto number = static_cast<Register>(kPredicate + predicate);
    std::erase_if(conditional_, [&](const auto& entry) { return is_about(entry.first, number); });
  }

  Origins always_;                            // by slot
  std::map<Condition, Origins> conditional_;  // where they depend on less
};

/// Follows values through the code until nothing new depends on a source.
class Propagation {
 public:
  Propagation(const Code& code, std::vector<std::optional<OrderSource>> sources)
      : code_(code),
        sources_(std::move(sources)),
        at_begin_(code.flow.blocks().size(), State(code.slots)),
        branches_(code.flow.blocks().size(), kNone),
        decided_(code.flow.blocks().size(), kNone),
        open_(code.flow.blocks().size()) {
    stored_.fill(kNone);
    before_barriers_.fill(kNone);
    const auto synchronizes = [&](std::size_t index) {
      return code.instructions[index].synchronizes != Synchronization::none;
    };
    const auto is_source = [&](std::size_t index) { return sources_[index].has_value(); };
    for (std::size_t block = 0; block < open_.size(); ++block) {
      const SassBlock& range = code.flow.blocks()[block];
      const auto indices = std::views::iota(range.begin, range.end);
      if (std::ranges::any_of(indices, synchronizes)) synchronizing_.push_back(block);
      open_[block] = std::ranges::any_of(indices, is_source);
    }
    while (std::ranges::find(open_, true) != open_.end()) {
      for (std::size_t block = 0; block < open_.size(); ++block) {
        if (!open_[block]) continue;
        open_[block] = false;
        follow(block, [](std::size_t, Effect, Origin) {});
      }
    }
  }

  bool reaches_global_memory() const { return stored_[index_of(MemorySpace::global)] != kNone; }

  std::vector<OrderDependence> dependences() {
    struct Influence {
      Effect effect = Effect::parting;
      Origin origin = kNone;
    };
    std::vector<Influence> influences(code_.words.size());
    for (std::size_t block = 0; block < open_.size(); ++block) {
      follow(block, [&](std::size_t index, Effect effect, Origin origin) {
        influences[index] = {effect, origin};
      });
    }
    const std::vector<Origin> apart = origins_apart();
    std::vector<OrderDependence> found;
    for (std::size_t index = 0; index < influences.size(); ++index) {
      auto& [effect, origin] = influences[index];
      if (apart[index] != kNone && (origin == kNone || effect != Effect::execution)) {
        effect = Effect::parting;
        origin = apart[index];
      }
      if (origin == kNone) continue;
      found.push_back({.pc = code_.words[index].pc,
                       .source = *sources_[origin],
                       .source_pc = code_.words[origin].pc,
                       .effect = effect,
                       .groups = groups_of(index, effect)});
    }
    return found;
  }

 private:
  struct State {
    explicit State(Slot slots) : registers(slots) { memory.fill(kNone); }
    bool merge(const State& other) {
      const bool is_new = registers.merge(other.registers);
      return lower(memory, other.memory) || is_new;
    }

    SlotValues registers;
    std::array<Origin, kSpaces> memory;  // origins of the stored values, by space
  };

  /// The origins of the values that an instruction reads.
  struct Inputs {
    Origin guard = kNone, address = kNone, others = kNone;
  };
  static Inputs inputs_of(const DecodedInstruction& instruction, const SlotValues& registers) {
    const auto first = [&](const std::vector<Slot>& slots, Condition condition) {
      Origin origin = kNone;
      for (const Slot slot : slots) lower(origin, registers.of(slot, condition));
      return origin;
    };
    return {first(instruction.guard, 0), first(instruction.address, instruction.condition),
            first(instruction.reads, instruction.condition)};
  }

  std::vector<std::string_view> groups_of(std::size_t index, Effect effect) const {
    std::vector<std::string_view> groups;
    const bool is_repeated = effect == Effect::execution || effect == Effect::parting;
    if (is_repeated) groups.emplace_back("instructions");
    if (effect != Effect::access && is_branch(code_.words[index])) groups.emplace_back("branches");
    const DecodedInstruction& instruction = code_.instructions[index];
    if (!instruction.access) return groups;
    const bool is_product = *instruction.access == MemoryOp::wgmma;
    if (is_product ||
        *instruction.access == MemoryOp::bulk) {  // their counts do not depend on addresses
      if (!is_repeated) return groups;
      is_product ? groups.insert(groups.end(), {"wgmma", "shared"})
                 : groups.insert(groups.end(), {"bulk", "cluster"});
      return groups;
    }
    for (const MemorySpace space : spaces_of(*instruction.access)) {
      groups.push_back(to_string(space));
    }
    return groups;
  }

  /// Whether all lanes of a warp have one result.
  static bool is_of_whole_warps(OrderSource source) {
    return source == OrderSource::barrier || source == OrderSource::registers;
  }

  /// By instruction, the origins of the branches whose lanes may come to it apart.
  std::vector<Origin> origins_apart() const {
    std::vector<Origin> origins(code_.words.size(), kNone);
    const auto& blocks = code_.flow.blocks();
    for (const Parting& parting : code_.partings) {
      const auto behind = std::ranges::upper_bound(blocks, parting.branch, {}, &SassBlock::begin);
      const Origin origin = branches_[static_cast<std::size_t>(behind - blocks.begin()) - 1];
      if (origin == kNone || is_of_whole_warps(*sources_[origin])) continue;
      for (std::size_t i = 0; i < origins.size(); ++i) {
        if (parting.apart[i]) lower(origins[i], origin);
      }
    }
    return origins;
  }

  /// Gives the origin of an instruction's results to registers and memory.
  void execute(std::size_t index, Origin origin, State& state) {
    const DecodedInstruction& instruction = code_.instructions[index];
    auto& memory = state.memory;
    bool is_new = false;  // in tables that other blocks read
    for (std::size_t space = 0; space < kSpaces; ++space) {
      if (instruction.synchronizes == Synchronization::all) lower(memory[space], stored_[space]);
      if (instruction.synchronizes != Synchronization::block) continue;
      is_new |= lower(before_barriers_[space], memory[space]);
      lower(memory[space], before_barriers_[space]);
    }
    for (const MemorySpace space : instruction.loads_from) lower(origin, memory[index_of(space)]);
    for (const MemorySpace space : instruction.stores_to) {
      lower(memory[index_of(space)], origin);
      is_new |= lower(stored_[index_of(space)], origin);
    }
    for (std::size_t i = 0; is_new && i < synchronizing_.size(); ++i) {
      open_[synchronizing_[i]] = true;
    }
    if (sources_[index]) lower(origin, static_cast<Origin>(index));
    state.registers.write(instruction, origin);
  }

  /// Gives the origin of the branch at the end of `block` to the blocks that it decides.
  void decide(std::size_t block, Origin origin) {
    if (!lower(branches_[block], origin)) return;
    for (const std::size_t other : code_.flow.graph().decided_by(block)) {
      if (lower(decided_[other], origin)) open_[other] = true;
    }
  }

  /// Goes through a block once. Calls `report(index, effect, origin)` for each instruction that
  /// depends on a source, and opens the blocks for which an origin is new.
  template <typename Report>
  void follow(std::size_t block, const Report& report) {
    const SassBlock& range = code_.flow.blocks()[block];
    State state = at_begin_[block];
    const Origin decided = decided_[block];
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const DecodedInstruction& instruction = code_.instructions[i];
      const Inputs in = inputs_of(instruction, state.registers);
      const bool branch = is_branch(code_.words[i]);
      const Origin here = std::min(in.guard, branch ? in.others : in.address);
      if (decided != kNone) {
        report(i, Effect::execution, decided);
      } else if (here != kNone && (branch || instruction.access)) {
        report(i, branch ? Effect::divergence : Effect::access, here);
      }
      if (branch && here != kNone) decide(block, here);
      execute(i, std::min({decided, in.guard, in.address, in.others}), state);
    }
    for (const std::size_t next : range.next) {
      if (at_begin_[next].merge(state)) open_[next] = true;
    }
  }

  const Code& code_;
  const std::vector<std::optional<OrderSource>> sources_;  // by instruction
  std::vector<std::size_t> synchronizing_;                 // blocks that wait for other threads
  std::vector<State> at_begin_;                            // by block
  std::vector<Origin> branches_;                 // origin of the branch at the end of each block
  std::vector<Origin> decided_;                  // origin of the execution of each block
  std::vector<bool> open_;                       // blocks to follow again
  std::array<Origin, kSpaces> stored_;           // origins of all stores of the code
  std::array<Origin, kSpaces> before_barriers_;  // origins of stores before barriers
};

/// True if a kernel of the cubin may call malloc: there is a symbol of that name.
bool mentions_malloc(const Cubin& cubin) {
  constexpr std::string_view kName("\0malloc\0", 8);  // with the zeros around it
  return text_of(cubin.section(".strtab")).find(kName) != std::string_view::npos;
}

}  // namespace

Trust OrderDependence::trust(const SourceLine& line) const {
  const auto what = [&]() -> std::string_view {
    switch (source) {
      case OrderSource::atomic:
        return "what an atomic returns";
      case OrderSource::load:
        return "what a volatile or strong load reads";
      case OrderSource::barrier:
        return "how long the wait for a barrier lasts";
      case OrderSource::registers:
        return "how long the wait for registers lasts";
      case OrderSource::allocation:
        return "where malloc finds memory";
      case OrderSource::approximation:
        return "what an approximate function gives";
      case OrderSource::product:
        return "what a matrix product sums to";
      case OrderSource::fusion:
        return "what a product and a sum in one instruction give";
      case OrderSource::memory:
        return "what memory holds";
    }
    return "";
  };
  const auto does = [&]() -> std::string_view {
    switch (effect) {
      case Effect::execution:
        return "decides whether this executes";
      case Effect::access:
        return "decides what this accesses";
      case Effect::divergence:
        return "decides a branch here";
      case Effect::parting:
        return "decides which lanes come here together";
    }
    return "";
  };
  // The name of the file without its folder, which differs from machine to machine.
  const std::string name = std::filesystem::path(line.file).filename().string();
  const std::string place = name.empty() ? "" : fmt::format(" at {}:{}", name, line.line);
  const auto so = [&]() -> std::string_view {
    switch (source) {
      case OrderSource::approximation:
        return "but its values are known for sm_90 only";
      case OrderSource::product:
        return "but a GPU's sums may have other last bits";
      case OrderSource::fusion:
        return "but the emulator rounds twice, as the PTX says";
      case OrderSource::memory:
        return "and the order of threads or the rounding of a matrix product may have decided "
               "that, here or in an earlier launch";
      default:
        return "so the count can depend on the order of threads";
    }
  };
  return {Confidence::estimate, fmt::format("{}{} {}, {}", what(), place, does(), so())};
}

OrderOfThreads::OrderOfThreads(const Cubin& cubin, std::string_view kernel,
                               const PtxLines* ptx_lines) {
  const int sm = known_sm(cubin);
  std::vector<SassWord> words = machine_code(cubin, kernel);
  const Surroundings around{sm, mentions_malloc(cubin), kernel, ptx_lines};
  std::vector<DecodedInstruction> instructions;
  Numbering numbering;
  for (const SassWord& word : words) {
    instructions.push_back(instruction_of(word, around, numbering));
  }
  SassFlow flow(words, sm, branch_targets(cubin, kernel));
  const SassFlow over_calls(words, sm, branch_targets(cubin, kernel), Calls::stepped_over);
  std::vector<Parting> found = partings(words, over_calls, sm);
  code_ = std::make_unique<const Code>(std::move(words), std::move(instructions), std::move(flow),
                                       numbering.size(), std::move(found));
}

OrderOfThreads::~OrderOfThreads() = default;

bool OrderOfThreads::fuses() const {
  return std::ranges::any_of(code_->instructions, &DecodedInstruction::is_fused);
}

OrderInfluence OrderOfThreads::influence(Circumstances circumstances) const {
  std::vector<std::optional<OrderSource>> sources;
  for (const DecodedInstruction& instruction : code_->instructions) {
    sources.push_back(source_in(circumstances, instruction));
  }
  if (std::ranges::none_of(sources, &std::optional<OrderSource>::has_value)) return {};
  Propagation propagation(*code_, std::move(sources));
  return {propagation.dependences(), propagation.reaches_global_memory()};
}

}  // namespace warpgauge::metrics
