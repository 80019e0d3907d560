#include "metrics/order_dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "metrics/sass.h"
#include "metrics/sass_code.h"
#include "metrics/sass_flow.h"
#include "metrics/sass_registers.h"

namespace warpgauge::metrics {
namespace {

using Source = OrderDependence::Source;
using Effect = OrderDependence::Effect;

/// What a value depends on: the first instruction of the code that is a source, as an index; larger
/// than all if none is.
using Origin = std::uint32_t;
constexpr Origin kNone = static_cast<Origin>(-1);

enum Space : std::size_t { shared, global, local, kSpaces };

/// Of each register, and behind them of each space: of the values that were stored to it.
using State = std::array<Origin, kRegisters + kSpaces>;

std::vector<Space> spaces_of(MemoryOp op) {
  switch (op) {
    case MemoryOp::lds:
    case MemoryOp::sts:
    case MemoryOp::atoms:
    case MemoryOp::atoms_popc:
    case MemoryOp::atoms_cas:
    case MemoryOp::ldsm:
    case MemoryOp::stsm:
      return {shared};
    case MemoryOp::ldl:
    case MemoryOp::stl:
      return {local};
    case MemoryOp::ldg:
    case MemoryOp::stg:
    case MemoryOp::atomg:
    case MemoryOp::atomg_cas:
    case MemoryOp::red:
      return {global};
    case MemoryOp::ldgsts:
    case MemoryOp::other:
      return {shared, global};
    case MemoryOp::ld:
    case MemoryOp::st:
    case MemoryOp::atom:
    case MemoryOp::atom_cas:
      return {shared, global, local};
  }
  return {};
}

/// Bits 77 to 80 of a load from global memory: who else may write what it reads.
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

/// What registers depend on where a predicate holds, of those that were written under it. "@P0 MOV
/// R5, 0" leaves in R5 what it was where P0 does not hold, but "@P0 STS [R5]" does not see that.
class Conditional {
 public:
  /// Read under `condition`, where `otherwise` is what the register depends on in all cases.
  Origin of(Register one, unsigned condition, Origin otherwise) const {
    const Value& value = values_[one];
    return condition != 0 && value.condition == condition ? value.origin : otherwise;
  }
  void write(Register to, unsigned condition, Origin origin) {
    values_[to] = {condition, origin};
    if (to < kPredicate || to >= kBarrierResult) return;
    const unsigned number = (to - kPredicate) % (kUniformPredicate - kPredicate);
    for (Value& value : values_) {
      if ((value.condition & 7) == number) value = {};
    }
  }

 private:
  struct Value {
    unsigned condition = 0;
    Origin origin = kNone;
  };
  std::array<Value, kRegisters> values_;
};

constexpr unsigned kBarrierInMemory = 0x1a7, kCallElsewhere = 0x143, kMultifunction = 0x108;

/// Whose stores a thread may see behind an instruction.
enum class Synchronization : std::uint8_t {
  none,   // its own
  block,  // those that stand before a barrier of the block, or before an atomic on its memory
  all,    // all
};

struct Instruction {
  RegisterUse use;
  std::optional<MemoryOp> access;
  std::vector<Space> loads_from, stores_to;
  std::optional<Source> source;
  Synchronization synchronizes = Synchronization::none;
};

bool only_stores(MemoryOp op) {
  return op == MemoryOp::stg || op == MemoryOp::sts || op == MemoryOp::stl || op == MemoryOp::st ||
         op == MemoryOp::stsm || op == MemoryOp::red;
}

std::optional<Source> source_of(const SassWord& word, const Instruction& one, int sm) {
  const bool has_result = !one.use.writes.empty() || !one.use.may_write.empty();
  if (word.opcode() == kBarrierInMemory && has_result) return Source::barrier;
  if (!one.access) return std::nullopt;
  if (returns_a_value(*one.access) && has_result) return Source::atomic;
  const bool is_global = *one.access == MemoryOp::ldg || *one.access == MemoryOp::ld;
  if (is_global && coherence_of(word, sm) == Coherence::strong) return Source::load;
  return std::nullopt;
}

Synchronization synchronization_of(const SassWord& word, const Instruction& one) {
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
  if (one.access && spaces_of(*one.access) == std::vector{shared} && returns_a_value(*one.access)) {
    return Synchronization::block;
  }
  return one.source ? Synchronization::all : Synchronization::none;
}

/// What is not a matter of the instruction alone.
struct Surroundings {
  int sm;
  bool may_allocate;  // calls may be of malloc
  std::string_view kernel;
  const PtxLines* ptx_lines;
  Circumstances circumstances;
};

Instruction instruction_of(const SassWord& word, const Surroundings& around) {
  constexpr Register kResult = 4;  // and the one behind it, as the calling convention has it
  Instruction one{.use = registers_of(word, around.sm)};
  if (const auto access = memory_instruction(word, around.sm)) {
    one.access = access->op;
    const bool is_constant =
        access->op == MemoryOp::ldg && coherence_of(word, around.sm) == Coherence::constant;
    if (!only_stores(access->op) && !is_constant) one.loads_from = spaces_of(access->op);
    if (!is_load(access->op)) one.stores_to = spaces_of(access->op);
  }
  one.source = source_of(word, one, around.sm);
  const bool loads = one.access && is_load(*one.access);
  if (loads && around.ptx_lines != nullptr &&
      around.ptx_lines->is_strong_load(around.kernel, word.pc)) {
    one.source = Source::load;
  }
  if (around.may_allocate && word.opcode() == kCallElsewhere) {
    one.source = Source::allocation;
    one.use.writes = {kResult, kResult + 1};
  }
  one.synchronizes = synchronization_of(word, one);
  if (loads && !one.source && around.circumstances.memory == Memory::unsettled) {
    one.source = Source::memory;
  }
  if (around.circumstances.approximations != Approximations::own &&
      word.opcode() == kMultifunction && around.ptx_lines != nullptr &&
      around.ptx_lines->is_approximation(around.kernel, word.pc)) {
    one.source = Source::approximation;
  }
  return one;
}

/// Follows values through the code until nothing new depends on a source.
class Propagation {
 public:
  Propagation(std::span<const SassWord> code, const std::vector<Instruction>& instructions,
              SassFlow flow)
      : code_(code), instructions_(instructions), flow_(std::move(flow)) {
    State none;
    none.fill(kNone);
    at_begin_.assign(flow_.blocks().size(), none);
    branches_.assign(flow_.blocks().size(), kNone);
    decided_.assign(flow_.blocks().size(), kNone);
    stored_.fill(kNone);
    before_barriers_.fill(kNone);
    while (pass([](std::size_t, Effect, Origin) {})) {
    }
  }

  bool reaches_global_memory() const { return stored_[global] != kNone; }

  std::vector<OrderDependence> dependences() {
    std::vector<OrderDependence> found;
    pass([&](std::size_t index, Effect effect, Origin origin) {
      found.push_back({.pc = code_[index].pc,
                       .source = *instructions_[origin].source,
                       .source_pc = code_[origin].pc,
                       .effect = effect,
                       .groups = groups_of(index, effect)});
    });
    return found;
  }

 private:
  static bool lower(Origin& to, Origin origin) {
    if (origin >= to) return false;
    to = origin;
    return true;
  }

  /// What an instruction reads, of the state before it.
  struct Inputs {
    Origin guard = kNone, address = kNone, others = kNone;
  };
  Inputs inputs_of(std::size_t index, const State& state, const Conditional& conditional) const {
    const RegisterUse& use = instructions_[index].use;
    const auto first = [&](const std::vector<Register>& registers, unsigned condition) {
      Origin origin = kNone;
      for (const Register one : registers) {
        lower(origin, conditional.of(one, condition, state[one]));
      }
      return origin;
    };
    return {first(use.guard, 0), first(use.address, use.condition),
            first(use.reads, use.condition)};
  }

  std::vector<std::string_view> groups_of(std::size_t index, Effect effect) const {
    constexpr std::array<std::string_view, kSpaces> kNames = {"shared", "global", "local"};
    std::vector<std::string_view> groups;
    if (effect == Effect::execution) groups.emplace_back("instructions");
    if (effect != Effect::access && is_branch(code_[index])) groups.emplace_back("branches");
    const Instruction& one = instructions_[index];
    if (one.access) {
      for (const Space space : spaces_of(*one.access)) groups.push_back(kNames[space]);
    }
    return groups;
  }

  /// Passes on to registers and memory what the results of an instruction depend on. Returns
  /// whether anything was new in memory.
  bool execute(std::size_t index, Origin origin, State& state, Conditional& conditional) {
    const Instruction& one = instructions_[index];
    const auto memory = [&](std::size_t space) -> Origin& { return state[kRegisters + space]; };
    bool changed = false;
    for (std::size_t space = 0; space < kSpaces; ++space) {
      if (one.synchronizes == Synchronization::all) lower(memory(space), stored_[space]);
      if (one.synchronizes != Synchronization::block) continue;
      changed |= lower(before_barriers_[space], memory(space));
      lower(memory(space), before_barriers_[space]);
    }
    for (const Space space : one.loads_from) lower(origin, memory(space));
    for (const Space space : one.stores_to) {
      lower(memory(space), origin);
      changed |= lower(stored_[space], origin);
    }
    if (one.source) lower(origin, static_cast<Origin>(index));
    for (const Register to : one.use.writes) {
      if (one.use.condition == 0) state[to] = kNone;
      lower(state[to], origin);
      conditional.write(to, one.use.condition, origin);
    }
    for (const Register to : one.use.may_write) {
      lower(state[to], origin);
      conditional.write(to, 0, kNone);
    }
    return changed;
  }

  /// A branch at the end of `block` that depends on something: so does what it decides.
  bool decide(std::size_t block, Origin origin) {
    if (!lower(branches_[block], origin)) return false;
    for (const std::size_t other : flow_.graph().decided_by(block)) lower(decided_[other], origin);
    return true;
  }

  /// Once through the code. Calls `report(index, effect, origin)` for each instruction that depends
  /// on something; returns whether anything was new.
  template <typename Report>
  bool pass(const Report& report) {
    bool changed = false;
    const auto& blocks = flow_.blocks();
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      State state = at_begin_[block];
      Conditional conditional;
      const Origin decided = decided_[block];
      for (std::size_t i = blocks[block].begin; i < blocks[block].end; ++i) {
        const Inputs in = inputs_of(i, state, conditional);
        const bool branch = is_branch(code_[i]);
        const Origin here = std::min(in.guard, branch ? in.others : in.address);
        if (decided != kNone) {
          report(i, Effect::execution, decided);
        } else if (here != kNone && (branch || instructions_[i].access)) {
          report(i, branch ? Effect::divergence : Effect::access, here);
        }
        if (branch && here != kNone) changed |= decide(block, here);
        const Origin origin = std::min({decided, in.guard, in.address, in.others});
        changed |= execute(i, origin, state, conditional);
      }
      for (const std::size_t next : blocks[block].next) {
        for (std::size_t i = 0; i < state.size(); ++i) {
          changed |= lower(at_begin_[next][i], state[i]);
        }
      }
    }
    return changed;
  }

  std::span<const SassWord> code_;
  const std::vector<Instruction>& instructions_;
  SassFlow flow_;
  std::vector<State> at_begin_;                  // of each block
  std::vector<Origin> branches_;                 // of the branch at the end of each
  std::vector<Origin> decided_;                  // by a branch: of each block, whether it executes
  std::array<Origin, kSpaces> stored_;           // anywhere in the code
  std::array<Origin, kSpaces> before_barriers_;  // and atomics of the block
};

/// Whether a kernel of the cubin calls malloc: it has a symbol of that name.
bool mentions_malloc(const Cubin& cubin) {
  constexpr std::string_view kName("\0malloc", 8);  // with the zeros around it
  const auto names = cubin.section(".strtab");
  return std::string_view(reinterpret_cast<const char*>(names.data()), names.size()).find(kName) !=
         std::string_view::npos;
}

}  // namespace

Trust OrderDependence::trust(const SourceLine& line) const {
  const auto what = [&]() -> std::string_view {
    switch (source) {
      case Source::atomic:
        return "what an atomic returns";
      case Source::load:
        return "what a volatile or strong load reads";
      case Source::barrier:
        return "how long the wait for a barrier lasts";
      case Source::allocation:
        return "where malloc finds memory";
      case Source::approximation:
        return "what an approximate function gives";
      case Source::memory:
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
    }
    return "";
  };
  // The name of the file alone: its folder is another one on each machine.
  const std::string name = std::filesystem::path(line.file).filename().string();
  const std::string place = name.empty() ? "" : fmt::format(" at {}:{}", name, line.line);
  const auto so = [&]() -> std::string_view {
    switch (source) {
      case Source::approximation:
        return "but its values are known for sm_90 only";
      case Source::memory:
        return "and the order of threads may have decided that, here or in an earlier launch";
      default:
        return "so the count can depend on the order of threads";
    }
  };
  return {Confidence::estimate, fmt::format("{}{} {}, {}", what(), place, does(), so())};
}

namespace {

/// Calls `read(propagation)` for the code of `kernel` if anything in it is a source.
template <typename Read>
auto follow(const Cubin& cubin, std::string_view kernel, const PtxLines* ptx_lines,
            Circumstances circumstances, const Read& read) {
  using Result = std::invoke_result_t<Read, Propagation&>;
  const int sm = known_sm(cubin);
  const std::vector<SassWord> code = machine_code(cubin, kernel);
  const Surroundings around{sm, mentions_malloc(cubin), kernel, ptx_lines, circumstances};
  std::vector<Instruction> instructions;
  for (const SassWord& word : code) instructions.push_back(instruction_of(word, around));
  const auto is_source = [](const Instruction& one) { return one.source.has_value(); };
  if (std::ranges::none_of(instructions, is_source)) return Result{};
  Propagation propagation(code, instructions, SassFlow(code, sm, branch_targets(cubin, kernel)));
  return read(propagation);
}

}  // namespace

std::vector<OrderDependence> order_dependences(const Cubin& cubin, std::string_view kernel,
                                               const PtxLines* ptx_lines,
                                               Circumstances circumstances) {
  return follow(cubin, kernel, ptx_lines, circumstances,
                [](Propagation& propagation) { return propagation.dependences(); });
}

bool unsettles_memory(const Cubin& cubin, std::string_view kernel, const PtxLines* ptx_lines) {
  return follow(cubin, kernel, ptx_lines, {},
                [](Propagation& propagation) { return propagation.reaches_global_memory(); });
}

}  // namespace warpgauge::metrics
