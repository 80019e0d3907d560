// The line table of the machine code names the line of PTX that each of its instructions was made
// of. An access of the PTX then has one counterpart, many of one width (unrolled loops), a wider
// one (which includes its neighbours), or none.
#include "harness/emulator/counting/sass_match.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/emulator/counting/kernel_trust.h"
#include "harness/emulator/counting/machine_flow.h"
#include "harness/emulator/counting/match_position.h"
#include "harness/emulator/counting/wmma_copies.h"
#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/order_dependence.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::emulator::counting {
namespace {

using metrics::MemoryInstruction;
using metrics::MemoryOp;
using Kind = PtxAccess::Kind;
using ptx::Space;

bool is_cas(MemoryOp op) {
  return op == MemoryOp::atoms_cas || op == MemoryOp::atomg_cas || op == MemoryOp::atom_cas;
}

/// The space that an instruction accesses, of ldgsts the one that it copies to; generic if it is
/// known only at run time, nullopt for copies in bulk.
std::optional<Space> space_of(MemoryOp op) {
  if (metrics::is_generic(op)) return Space::generic;
  const auto spaces = metrics::spaces_of(op);
  if (spaces.empty()) return std::nullopt;
  switch (spaces.front()) {
    case metrics::MemorySpace::shared:
      return Space::shared;
    case metrics::MemorySpace::global:
      return Space::global;
    case metrics::MemorySpace::local:
      break;
  }
  return Space::local;
}

Kind kind_of(const MemoryInstruction& instruction) {
  switch (instruction.op) {
    case MemoryOp::ldg:
    case MemoryOp::lds:
    case MemoryOp::ldl:
    case MemoryOp::ld:
      return Kind::load;
    case MemoryOp::stg:
    case MemoryOp::sts:
    case MemoryOp::stl:
    case MemoryOp::st:
      return Kind::store;
    case MemoryOp::ldgsts:
      return Kind::async_copy;
    case MemoryOp::ldsm:
      return Kind::load_matrix;
    case MemoryOp::stsm:
      return Kind::store_matrix;
    case MemoryOp::wgmma:
      return Kind::wgmma;
    case MemoryOp::bulk:
      return Kind::bulk;
    default:
      return Kind::atomic;
  }
}

/// Can `instruction` be what `access` was compiled to? ptxas may find out the space of a generic
/// access.
bool matches(const PtxAccess& access, const MemoryInstruction& instruction) {
  const Kind kind = kind_of(instruction);
  const bool is_part = access.kind == Kind::load_fragment
                           ? kind == Kind::load || kind == Kind::load_matrix
                           : access.kind == Kind::store_fragment && kind == Kind::store;
  if (kind != access.kind && !is_part) return false;
  if (access.kind == Kind::async_copy || access.kind == Kind::bulk) return true;
  const Space space = *space_of(instruction.op);
  return space == access.space || space == Space::generic || access.space == Space::generic;
}

std::string reason_of_extra(MemoryOp op, const PtxAccess* at_line) {
  if (metrics::is_local(op)) {
    return KernelTrust::Spill::kReason;
  }
  if (at_line != nullptr) return "ptxas made an access of another kind of this one";
  return "the machine code has an access here that no load, store or atomic of the PTX explains";
}

/// Says in which block and innermost loop of the PTX each access is.
void add_blocks(std::span<const PtxFlow> flows, std::vector<Match>& matches) {
  for (const PtxFlow& flow : flows) {
    const auto loops = flow.graph().loops();
    for (Match& match : matches) {
      const auto block = flow.block_at(match.access->text_line);
      if (!block) continue;
      match.block_last_line = flow.last_line(*block);
      const auto around =
          std::ranges::find_if(loops, [&](const auto& loop) { return loop.contains[*block]; });
      if (around != loops.end()) match.loop_header_last_line = flow.last_line(around->header);
    }
  }
}

/// Compares the places of what was found in one function; `before` was found in others.
void add_places(const MachineFlow& machine, std::span<const PtxFlow> flows,
                const std::vector<std::size_t>& before, std::vector<Match>& matches) {
  std::vector<Match> here;
  std::vector<Match*> originals;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i].found.size() == before[i]) continue;
    originals.push_back(&matches[i]);
    Match& match = here.emplace_back(matches[i]);
    match.found.erase(match.found.begin(),
                      match.found.begin() + static_cast<std::ptrdiff_t>(before[i]));
    match.standing = {};
    if (match.access->is_of_fragment()) keep_one_of_each_copy(match, machine);
  }
  compare_places(here, flows, machine);
  for (std::size_t i = 0; i < here.size(); ++i) {
    originals[i]->standing.merge(here[i].standing);
  }
}

/// True for what spills or refills a register in all lanes.
bool is_unguarded_spill(const MachineFlow& machine, const MemoryInstruction& instruction) {
  return machine.is_spill(instruction.pc / metrics::SassWord::kBytes) && !instruction.guarded;
}

/// Whether each lane that executes it accesses memory at its own address: not so of matrices.
bool is_of_lanes(Kind kind) {
  return kind == Kind::load || kind == Kind::store || kind == Kind::atomic;
}

/// Finds the accesses that execute as often as a spilled register moves: the only counterpart of
/// each stands in the same block of the machine code, or every call comes once to both blocks.
void find_beside(const MachineFlow& machine, const std::vector<std::size_t>& before,
                 const std::vector<Match>& matches, ExtraAccess& extra) {
  if (!extra.is_spill) return;
  const std::size_t block = machine.block_at(extra.instruction.pc);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const Match& match = matches[i];
    const PtxAccess& access = *match.access;
    if (match.found.size() != 1 || before[i] != 0 || match.is_in_cas_loop ||
        match.found[0].guarded || access.guarded || access.space == Space::generic ||
        !is_of_lanes(access.kind)) {
      continue;
    }
    const std::size_t other = machine.block_at(match.found[0].pc);
    if (machine.execute_together(other, block)) extra.beside.push_back(access.text_line);
  }
}

/// Says which of what was found in one function lies at one place in all lanes.
void add_stack_accesses(const std::string& function, const CodeWithLines& code,
                        const MachineFlow& machine, const std::vector<std::size_t>& before,
                        std::vector<Match>& matches) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    for (std::size_t n = before[i]; n < matches[i].found.size(); ++n) {
      const MemoryInstruction& instruction = matches[i].found[n];
      if (!is_unguarded_spill(machine, instruction)) continue;
      matches[i].on_stack.push_back(
          {code.sources.find(function, instruction.pc).value_or(metrics::SourceLine{}),
           instruction});
    }
  }
}

/// Where the dependences of a function belong.
struct Dependents {
  const std::string& function;
  const CodeWithLines& code;
  const std::function<Match*(std::uint64_t)>& match_at;
  std::optional<metrics::Trust> Match::*trust;
  std::vector<KernelTrust::Uncounted>& another_time;
  std::optional<metrics::Trust>& executions;
};

void add_dependences(const std::vector<metrics::OrderDependence>& dependences,
                     const Dependents& to) {
  std::set<std::tuple<std::string, int, std::string>> seen;
  const auto is_of_access = [](std::string_view group) {
    return group != "instructions" && group != "branches";
  };
  for (const metrics::OrderDependence& dependence : dependences) {
    if (to.executions && std::ranges::none_of(dependence.groups, is_of_access)) continue;
    const auto source = to.code.sources.find(to.function, dependence.source_pc);
    const metrics::Trust trust = dependence.trust(source.value_or(metrics::SourceLine{}));
    const auto at =
        to.code.sources.find(to.function, dependence.pc).value_or(metrics::SourceLine{});
    Match* const match = to.match_at(dependence.pc);
    // A loop that stands for one atomic executes where the atomic does.
    const bool may_execute = dependence.effect == metrics::OrderDependence::Effect::execution &&
                             (match == nullptr || !match->is_in_cas_loop);
    for (const std::string_view group : dependence.groups) {
      if (!is_of_access(group)) {
        if (!to.executions) to.executions = trust;
        continue;
      }
      if (match != nullptr && !(match->*to.trust)) match->*to.trust = trust;
      if (may_execute && seen.emplace(at.file, at.line, group).second) {
        to.another_time.push_back({at, std::string(group), trust});
      }
    }
  }
}

/// Adds a line; one that is there already keeps the chain of calls that both have.
void add_source(const std::optional<metrics::SourceLine>& source,
                std::vector<metrics::SourceLine>& sources) {
  if (!source) return;
  const auto known = std::ranges::find_if(sources, [&](const metrics::SourceLine& line) {
    return line.file == source->file && line.line == source->line;
  });
  if (known == sources.end()) {
    sources.push_back(*source);
  } else {
    known->inlined = metrics::common_chain(*known, *source);
  }
}

/// Products of tiles have no line of their own in the line table of PTX: they have one of an
/// instruction nearby. But ptxas leaves them in their order.
void add_products(const std::string& function, const CodeWithLines& code,
                  const std::vector<MemoryInstruction>& products, Comparison& comparison) {
  std::vector<Match*> written;
  for (Match& match : comparison.matches) {
    if (match.access->kind == Kind::wgmma) written.push_back(&match);
  }
  if (written.size() != products.size()) return;
  for (std::size_t i = 0; i < products.size(); ++i) {
    written[i]->found.push_back(products[i]);
    add_source(code.sources.find(function, products[i].pc), written[i]->sources);
  }
}

/// Finds the counterparts of the accesses in one function; `by_line` has their places in
/// `comparison` by line of the PTX.
void add(const std::string& function, bool is_all, const CodeWithLines& code,
         std::span<const PtxFlow> flows, const std::map<int, std::size_t>& by_line,
         Comparison& comparison) {
  const std::size_t extras = comparison.extras.size();
  std::vector<std::size_t> before;
  for (const Match& match : comparison.matches) before.push_back(match.found.size());
  const auto match_at = [&](std::uint64_t pc) -> Match* {
    const auto line = code.lines.find(function, pc);
    const auto found = line ? by_line.find(*line) : by_line.end();
    return found == by_line.end() ? nullptr : &comparison.matches[found->second];
  };
  auto instructions = metrics::memory_instructions(code.cubin, function);
  std::erase_if(instructions, [](const MemoryInstruction& instruction) {
    return !instruction.executes || instruction.op == MemoryOp::barrier ||
           instruction.op == MemoryOp::other;
  });
  for (const MemoryInstruction& instruction : instructions) {
    if (const auto space = space_of(instruction.op)) comparison.spaces.insert(*space);
    Match* const match = match_at(instruction.pc);
    if (match != nullptr && match->access->kind == Kind::atomic && !match->access->is_cas) {
      match->is_in_cas_loop = match->is_in_cas_loop || is_cas(instruction.op);
    }
  }
  const auto spills = metrics::spills_and_refills(code.cubin, function);
  const MachineFlow machine(code, function);
  std::vector<MemoryInstruction> products;
  for (const MemoryInstruction& instruction : instructions) {
    if (instruction.op == MemoryOp::wgmma) {
      products.push_back(instruction);
      continue;
    }
    Match* const match = match_at(instruction.pc);
    if (match != nullptr && matches(*match->access, instruction) &&
        !spills.contains(instruction.pc)) {
      match->found.push_back(instruction);
      add_source(code.sources.find(function, instruction.pc), match->sources);
    } else if (instruction.op != MemoryOp::bulk && (match == nullptr || !match->is_in_cas_loop)) {
      comparison.extras.push_back(
          {.source = code.sources.find(function, instruction.pc),
           .instruction = instruction,
           .reason = reason_of_extra(instruction.op, match ? match->access : nullptr),
           .is_spill = is_unguarded_spill(machine, instruction)});
    }
  }
  if (is_all) add_products(function, code, products, comparison);
  add_places(machine, flows, before, comparison.matches);
  add_stack_accesses(function, code, machine, before, comparison.matches);
  const auto flow = std::ranges::find(flows, function, &PtxFlow::name);
  if (is_all && flow != flows.end()) {
    comparison.executions = ExecutionModel(*flow, flows, machine, code.sources);
  }
  for (std::size_t i = extras; i < comparison.extras.size(); ++i) {
    find_beside(machine, before, comparison.matches, comparison.extras[i]);
  }
  for (const std::uint64_t pc : metrics::warp_votes(code.cubin, function)) {
    Match* const match = match_at(pc);
    if (match != nullptr && match->access->kind == Kind::atomic) ++match->votes;
  }
  const auto approximations = comparison.sm == kComparedOn
                                  ? metrics::Approximations::own
                                  : metrics::Approximations::of_another_architecture;
  const metrics::OrderOfThreads order(code.cubin, function, &code.lines);
  constexpr auto kProducts = metrics::Products::of_the_emulator;
  constexpr auto kRounding = metrics::Rounding::of_the_ptx;
  const metrics::OrderInfluence settled =
      order.influence({approximations, metrics::Memory::settled, kProducts, kRounding});
  const metrics::OrderInfluence unsettled =
      order.influence({approximations, metrics::Memory::unsettled, kProducts, kRounding});
  add_dependences(settled.dependences, {function, code, match_at, &Match::order,
                                        comparison.another_time, comparison.execution_order});
  add_dependences(unsettled.dependences,
                  {function, code, match_at, &Match::memory, comparison.another_time_by_memory,
                   comparison.execution_memory});
  comparison.unsettles_memory |=
      approximations == metrics::Approximations::own && !order.fuses()
          ? settled.reaches_global_memory
          : order.influence({.products = kProducts}).reaches_global_memory;
}

}  // namespace

Comparison compare(std::span<const PtxAccess> accesses, std::span<const PtxFlow> flows,
                   const CodeWithLines& code, std::string_view kernel) {
  Comparison comparison;
  comparison.sm = metrics::known_sm(code.cubin);
  std::map<int, std::size_t> by_line;
  for (const PtxAccess& access : accesses) {
    by_line[access.text_line] = comparison.matches.size();
    comparison.matches.push_back({.access = &access});
  }
  add_blocks(flows, comparison.matches);
  // The functions are the kernel itself and those that it calls, which separate compilation keeps
  // apart.
  std::set<std::string> functions = metrics::CallGraph(code.cubin).called_by(kernel);
  functions.emplace(kernel);
  for (const std::string& function : functions) {
    add(function, functions.size() == 1, code, flows, by_line, comparison);
  }
  return comparison;
}

}  // namespace warpgauge::emulator::counting
