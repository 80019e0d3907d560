// The machine code's line table says of which line of PTX each of its instructions was made. An
// access of the PTX has then one counterpart, many of one width (unrolled loops), a wider one (then
// its neighbours have none: it stands for them too), or none.
#include "harness/emulator/counting/oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "harness/emulator/counting/same_ptx.h"
#include "harness/emulator/counting/vector_predictor.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::counting {
namespace {

using machine::AccessPlan;
using metrics::Confidence;
using metrics::MemoryInstruction;
using metrics::MemoryOp;
using metrics::Trust;
using Kind = PtxAccess::Kind;
using ptx::Space;

/// Why machine code and PTX cannot be compared.
class Refused : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check_same_text(std::string_view in_cubin, std::string_view emulated) {
  if (in_cubin.empty()) throw Refused("the machine code was compiled without -lineinfo");
  if (const int line = first_difference(in_cubin, emulated)) {
    throw Refused(fmt::format("the machine code was made of other PTX: its line {} differs", line));
  }
}

// ---- Which instruction is of which? -------------------------------------------------------------

bool is_cas(MemoryOp op) {
  return op == MemoryOp::atoms_cas || op == MemoryOp::atomg_cas || op == MemoryOp::atom_cas;
}

/// The space that an instruction accesses; generic if it is known only at run time, nullopt for
/// textures and the like.
std::optional<Space> space_of(MemoryOp op) {
  switch (op) {
    case MemoryOp::ldg:
    case MemoryOp::stg:
    case MemoryOp::atomg:
    case MemoryOp::atomg_cas:
    case MemoryOp::red:
      return Space::global;
    case MemoryOp::lds:
    case MemoryOp::sts:
    case MemoryOp::atoms:
    case MemoryOp::atoms_popc:
    case MemoryOp::atoms_cas:
    case MemoryOp::ldgsts:
    case MemoryOp::ldsm:
    case MemoryOp::stsm:
      return Space::shared;
    case MemoryOp::ldl:
    case MemoryOp::stl:
      return Space::local;
    case MemoryOp::ld:
    case MemoryOp::st:
    case MemoryOp::atom:
    case MemoryOp::atom_cas:
      return Space::generic;
    case MemoryOp::other:
      break;
  }
  return std::nullopt;
}

Kind kind_of(MemoryOp op) {
  switch (op) {
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
    default:
      return Kind::atomic;
  }
}

/// Can `op` be what `access` was compiled to? ptxas may find out the space of a generic access.
bool matches(const PtxAccess& access, MemoryOp op) {
  if (kind_of(op) != access.kind) return false;
  if (access.kind == Kind::async_copy) return true;
  const Space space = *space_of(op);
  return space == access.space || space == Space::generic || access.space == Space::generic;
}

/// A kernel's accesses and what was found for each.
struct Match {
  const PtxAccess* access;
  std::vector<MemoryInstruction> found;  // that match
  bool has_loop = false;                 // of compare and swap; all at its line is of the loop
};

/// The instructions of the machine code, each at the access that it was made of.
struct Comparison {
  std::vector<Match> matches;  // in the order of the text
  std::vector<ExtraAccess> extras;
  std::set<Space> spaces;  // that the machine code accesses
  bool votes_for_atomics = false;
  bool allocates = false;  // calls malloc
};

std::string reason_of_extra(MemoryOp op, const PtxAccess* at_line) {
  if (metrics::is_local(op)) {
    return "ptxas spills registers or saves them around a call here, which is not in the PTX";
  }
  if (at_line != nullptr) return "ptxas made an access of another kind of this one";
  return "the machine code has an access here that no load, store or atomic of the PTX explains";
}

// ---- What does it mean? -------------------------------------------------------------------------

const Trust kExact{};

Trust estimate(std::string reason) { return {Confidence::estimate, std::move(reason)}; }

std::string widths_of(const std::vector<MemoryInstruction>& found) {
  std::set<std::string> names;
  for (const MemoryInstruction& instruction : found) names.insert(name_of(instruction));
  return fmt::format("{}", fmt::join(names, " and "));
}

struct Verdict {
  machine::AccessPlan plan;
  Trust trust;
};

Verdict judge_atomic(const Match& match, const Comparison& comparison) {
  if (match.has_loop) {
    return {{machine::AccessPlan::Role::compare_and_swap, 0},
            estimate("the machine code repeats a compare and swap until no other lane interferes")};
  }
  const auto is_popc = [](const MemoryInstruction& one) { return one.op == MemoryOp::atoms_popc; };
  const auto popcs = std::ranges::count_if(match.found, is_popc);
  if (popcs > 0 && popcs < std::ranges::ssize(match.found)) {
    return {{}, estimate("the machine code has " + widths_of(match.found) + " for it")};
  }
  if (popcs > 0) return {{machine::AccessPlan::Role::popc_increment, 0}, kExact};
  const bool guarded = std::ranges::any_of(match.found, &MemoryInstruction::guarded);
  if (guarded && comparison.votes_for_atomics) {
    return {{}, estimate("ptxas may let one lane do it for all that share its address")};
  }
  return {{}, kExact};
}

/// An access with counterparts.
Verdict judge(const Match& match, const Comparison& comparison) {
  const PtxAccess& access = *match.access;
  if (access.kind == Kind::atomic) return judge_atomic(match, comparison);
  std::set<int> widths;
  for (const MemoryInstruction& instruction : match.found) widths.insert(instruction.width);
  if (widths.size() > 1) {
    return {{}, estimate("the machine code has both " + widths_of(match.found) + " for it")};
  }
  const int width = *widths.begin();
  if (width == access.width) return {{}, kExact};
  if (width > access.width && access.is_plain) {
    return {{machine::AccessPlan::Role::leader, width}, kExact};
  }
  return {{},
          estimate(fmt::format("the machine code has {} for its {} bytes", widths_of(match.found),
                               access.width))};
}

bool is_neighbour(const PtxAccess& a, const PtxAccess& b) {
  return a.block == b.block && a.kind == b.kind && a.space == b.space && a.width == b.width &&
         a.base == b.base && a.base_value == b.base_value && b.is_plain;
}

/// Whether `width` bytes may begin `offset` bytes behind the base, as far as that is known.
bool can_be_aligned(const PtxAccess& access, std::int64_t offset, int width) {
  const int known = std::min(width, 1 << access.base_zeros);
  return offset % known == 0;
}

/// The accesses without counterpart that `leader`, which is `width` bytes wide, stands for too: the
/// rest of a complete run of neighbours that it is in, at best at the front, and that nobody else
/// stands for. None if there is no such run.
std::vector<std::size_t> absorbed_by(const Match& leader, int width, const Comparison& comparison,
                                     const std::set<std::size_t>& taken) {
  const PtxAccess& own = *leader.access;
  for (std::int64_t begin = own.offset; begin > own.offset - width; begin -= own.width) {
    if (!can_be_aligned(own, begin, width)) continue;
    std::vector<std::size_t> members;
    std::set<std::int64_t> offsets = {own.offset};
    for (std::size_t i = 0; i < comparison.matches.size(); ++i) {
      const Match& other = comparison.matches[i];
      const std::int64_t offset = other.access->offset;
      if (other.found.empty() && !taken.contains(i) && is_neighbour(own, *other.access) &&
          offset >= begin && offset < begin + width) {
        members.push_back(i);
        offsets.insert(offset);
      }
    }
    if (std::ssize(offsets) == width / own.width) return members;
  }
  return {};
}

/// Whether the counterpart of one may also do the work of the other, which has none: two stores of
/// a branch made one, a value loaded once for both.
bool may_replace(const PtxAccess& one, const PtxAccess& other) {
  const bool elsewhere = one.base == other.base && one.base_value == other.base_value &&
                         one.block == other.block && one.offset != other.offset;
  return one.kind == other.kind && one.space == other.space && one.width == other.width &&
         !elsewhere;
}

OracleAnswer conclude(Comparison comparison) {
  auto& matches = comparison.matches;
  std::vector<Verdict> verdicts(matches.size());
  std::set<std::size_t> absorbed;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i].found.empty()) continue;
    verdicts[i] = judge(matches[i], comparison);
    if (verdicts[i].plan.role != machine::AccessPlan::Role::leader) continue;
    const auto members = absorbed_by(matches[i], verdicts[i].plan.width, comparison, absorbed);
    absorbed.insert(members.begin(), members.end());
    if (members.empty()) {
      verdicts[i] = {{},
                     estimate("the machine code has " + widths_of(matches[i].found) +
                              " for several executions of it")};
    }
  }
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i].found.empty()) continue;
    const PtxAccess& access = *matches[i].access;
    verdicts[i].plan.role = machine::AccessPlan::Role::absorbed;
    // Where the machine code has no access to the space at all, none is what is counted.
    const bool none = access.space != Space::generic && !comparison.spaces.contains(access.space) &&
                      !comparison.spaces.contains(Space::generic);
    if (absorbed.contains(i) || none) continue;
    verdicts[i].trust = estimate("ptxas removed it, or made one of it and another");
    for (std::size_t other = 0; other < matches.size(); ++other) {
      if (matches[other].found.empty() || verdicts[other].trust != kExact) continue;
      if (may_replace(access, *matches[other].access)) {
        verdicts[other].trust = estimate(
            fmt::format("ptxas may have made one of it and the access in line {} of the PTX",
                        access.text_line));
      }
    }
  }

  OracleAnswer answer;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const int line = matches[i].access->text_line;
    if (verdicts[i].plan.role != machine::AccessPlan::Role::as_written) {
      answer.plans.entries.push_back({line, verdicts[i].plan});
    }
    answer.trust.by_text_line[line] = std::move(verdicts[i].trust);
    if (comparison.allocates && matches[i].access->space != Space::shared &&
        matches[i].access->space != Space::local) {
      answer.trust.by_text_line[line] =
          estimate("the kernel allocates memory, and a GPU does so at addresses of its own");
    }
  }
  answer.trust.otherwise = {Confidence::predicted,
                            "it is none of the accesses that are compared with machine code"};
  answer.extras = std::move(comparison.extras);
  return answer;
}

}  // namespace

void Oracle::read_accesses(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    if (!function.is_kernel) continue;
    accesses_[function.name] = accesses_of(module, function.name);
    if (allocates(module, function.name)) allocating_.insert(function.name);
  }
}

Oracle::Oracle(const ptx::Module& module, std::string reason) : refusal_(std::move(reason)) {
  read_accesses(module);
}

Oracle::Oracle(const ptx::Module& module, std::string_view ptx, std::span<const std::byte> cubin) {
  read_accesses(module);
  try {
    if (cubin.empty()) throw Refused("no machine code for the architecture was compiled with it");
    const metrics::Cubin code(cubin);
    metrics::memory_instructions(code, "");  // throws where the architecture is not known
    MachineCode machine{code, metrics::SourceLines(code), metrics::PtxLines(code)};
    check_same_text(machine.lines.text(), ptx);
    code_.emplace(std::move(machine));
  } catch (const Refused& error) {
    refusal_ = error.what();
  } catch (const metrics::CubinError& error) {
    refusal_ = error.what();
  } catch (const metrics::LineTableError& error) {
    refusal_ = error.what();
  }
}

OracleAnswer Oracle::predict(std::string_view kernel, const std::string& reason) const {
  OracleAnswer answer;
  answer.trust.otherwise = {Confidence::predicted, "widths are foretold: " + reason};
  answer.trust.rest = answer.trust.otherwise;
  if (const auto found = accesses_.find(kernel); found != accesses_.end()) {
    answer.plans = predict_vectors(found->second);
  }
  return answer;
}

OracleAnswer Oracle::about(std::string_view kernel) const {
  const auto accesses = accesses_.find(kernel);
  if (!code_) return predict(kernel, refusal_);
  if (accesses == accesses_.end() || code_->cubin.code(kernel).empty()) {
    return predict(kernel, "the machine code lacks this kernel");
  }

  Comparison comparison;
  comparison.allocates = allocating_.contains(kernel);
  std::map<int, std::size_t> by_line;
  for (const PtxAccess& access : accesses->second) {
    by_line[access.text_line] = comparison.matches.size();
    comparison.matches.push_back({&access, {}, false});
  }
  const auto match_at = [&](std::uint64_t pc) -> Match* {
    const auto line = code_->lines.find(kernel, pc);
    const auto found = line ? by_line.find(*line) : by_line.end();
    return found == by_line.end() ? nullptr : &comparison.matches[found->second];
  };
  auto instructions = metrics::memory_instructions(code_->cubin, kernel);
  std::erase_if(instructions, [](const MemoryInstruction& one) {
    return !one.executes || one.op == MemoryOp::other;
  });
  for (const MemoryInstruction& one : instructions) {
    comparison.spaces.insert(*space_of(one.op));
    Match* const match = match_at(one.pc);
    if (match != nullptr && match->access->kind == Kind::atomic && !match->access->is_cas) {
      match->has_loop = match->has_loop || is_cas(one.op);
    }
  }
  for (const MemoryInstruction& one : instructions) {
    Match* const match = match_at(one.pc);
    if (match != nullptr && matches(*match->access, one.op)) {
      match->found.push_back(one);
    } else if (match == nullptr || !match->has_loop) {
      comparison.extras.push_back({code_->sources.find(kernel, one.pc), one,
                                   reason_of_extra(one.op, match ? match->access : nullptr)});
    }
  }
  for (const std::uint64_t pc : metrics::warp_votes(code_->cubin, kernel)) {
    const Match* match = match_at(pc);
    if (match != nullptr && match->access->kind == Kind::atomic)
      comparison.votes_for_atomics = true;
  }
  return conclude(std::move(comparison));
}

}  // namespace warpgauge::emulator::counting
