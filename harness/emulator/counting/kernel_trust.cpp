// How the accesses of a kernel count, by their counterparts in the machine code.
#include "harness/emulator/counting/kernel_trust.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "harness/emulator/counting/match.h"
#include "harness/emulator/machine/core/outcome.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::emulator::counting {
namespace {

using metrics::Confidence;
using metrics::MemoryInstruction;
using metrics::MemoryOp;
using metrics::Trust;
using Kind = PtxAccess::Kind;
using ptx::Space;

const Trust kExact{};

Trust estimate(std::string reason) { return {Confidence::estimate, std::move(reason)}; }

std::string widths_of(const std::vector<MemoryInstruction>& found) {
  std::set<std::string> names;
  for (const MemoryInstruction& instruction : found) names.insert(name_of(instruction));
  return fmt::format("{}", fmt::join(names, " and "));
}

/// By itself: exact, and counted as the PTX has it.
struct Verdict {
  machine::AccessPlan plan;
  Trust trust;
};

Verdict judge_atomic(const Match& match, const Comparison& comparison) {
  if (match.is_in_cas_loop) {
    return {{machine::AccessPlan::Role::compare_and_swap, 0},
            estimate("the machine code repeats a compare and swap until no other lane interferes")};
  }
  const auto is_popc = [](const MemoryInstruction& instruction) {
    return instruction.op == MemoryOp::atoms_popc;
  };
  const auto popcs = std::ranges::count_if(match.found, is_popc);
  if (popcs > 0 && popcs < std::ranges::ssize(match.found)) {
    return {{}, estimate("the machine code has " + widths_of(match.found) + " for it")};
  }
  if (popcs > 0) return {{machine::AccessPlan::Role::one_for_all, 0}, kExact};
  // ptxas lets one lane of a warp do it for all only if they have one address. In global memory
  // that is one request of one sector either way.
  const auto is_global = [](const MemoryInstruction& instruction) {
    return instruction.op == MemoryOp::red || instruction.op == MemoryOp::atomg ||
           instruction.op == MemoryOp::atomg_cas;
  };
  const bool guarded = std::ranges::any_of(match.found, &MemoryInstruction::guarded);
  const bool votes =
      std::ranges::any_of(comparison.matches, [](auto& any) { return any.votes > 0; });
  if (!guarded || !votes || std::ranges::all_of(match.found, is_global)) return {};
  // A vote for each: one lane does it. Fewer: all lanes do where some are off, and one otherwise.
  if (match.votes >= std::ssize(match.found)) {
    return {{machine::AccessPlan::Role::one_for_all, 0}, kExact};
  }
  return {{}, estimate("ptxas may let one lane do it for all that share its address")};
}

/// cp.async of the width of its counterparts.
Verdict judge_copy(const Match& match) {
  const auto how = [&](metrics::CopyReads reads) {
    return std::ranges::count(match.found, reads, &MemoryInstruction::reads);
  };
  if (how(metrics::CopyReads::by_size) > 0) {
    return {{}, estimate("copies of a size that is known when they run were never measured")};
  }
  const auto are_all = [&](metrics::CopyReads reads) {
    return how(reads) == std::ssize(match.found);
  };
  if (are_all(metrics::CopyReads::all)) return {};
  if (are_all(metrics::CopyReads::by_p0)) return {{.mask = metrics::CopyMask::p0}, kExact};
  if (are_all(metrics::CopyReads::by_predicate))
    return {{.mask = metrics::CopyMask::other}, kExact};
  return {{}, estimate("the machine code has copies with different predicates for it")};
}

/// An access with counterparts.
Verdict judge(const Match& match, const Comparison& comparison) {
  const PtxAccess& access = *match.access;
  if (access.kind == Kind::atomic) return judge_atomic(match, comparison);
  if (access.kind == Kind::bulk && !match.standing.by_lane) {
    return {{machine::AccessPlan::Role::one_for_all, 0}, kExact};
  }
  if (access.is_of_fragment()) {
    if (comparison.sm == kComparedOn) return {};
    return {{},
            estimate(fmt::format("it counts as the accesses that ptxas makes of it for sm_{}, and "
                                 "those of other architectures were not compared",
                                 kComparedOn))};
  }
  std::set<int> widths;
  for (const MemoryInstruction& instruction : match.found) widths.insert(instruction.width);
  if (widths.size() > 1) {
    return {{}, estimate("the machine code has both " + widths_of(match.found) + " for it")};
  }
  const int width = *widths.begin();
  if (width == access.width) {
    return access.kind == Kind::async_copy ? judge_copy(match) : Verdict{};
  }
  const Verdict by_width{{machine::AccessPlan::Role::leader, width}, kExact};
  const bool loads = access.kind == Kind::load, moves = loads || access.kind == Kind::store;
  if (width > access.width && moves) return by_width;
  // A part of it lies in the same sectors, and as far from those of other lanes.
  const bool is_part = width > 0 && width < access.width;
  if (is_part && loads && match.standing.once) return by_width;
  return {{},
          estimate(fmt::format("the machine code has {} for its {} bytes", widths_of(match.found),
                               access.width))};
}

bool is_neighbour(const PtxAccess& a, const PtxAccess& b) {
  return a.block == b.block && a.kind == b.kind && a.space == b.space && a.width == b.width &&
         a.base == b.base && a.base_value == b.base_value;
}

/// Whether `width` bytes may begin `offset` bytes behind the base, as far as that is known.
bool can_be_aligned(const PtxAccess& access, std::int64_t offset, int width) {
  const int known = std::min(width, 1 << access.base_zeros);
  return offset % known == 0;
}

/// All accesses without counterpart in the block of `leader` that are like it.
std::vector<std::size_t> missing_beside(const Match& leader, const Comparison& comparison,
                                        const std::set<std::size_t>& taken) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < comparison.matches.size(); ++i) {
    const Match& other = comparison.matches[i];
    const PtxAccess &a = *leader.access, &b = *other.access;
    if (other.found.empty() && !taken.contains(i) &&
        other.block_last_line == leader.block_last_line && a.block == b.block && a.kind == b.kind &&
        a.space == b.space && a.width == b.width) {
      missing.push_back(i);
    }
  }
  return missing;
}

/// The accesses without counterpart that `leader`, which is `width` bytes wide, stands for too: the
/// rest of a complete run of neighbours that it is in, at best at the front, and that no
/// other leader stands for; or as many as are missing beside it. None if there are not.
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
  const auto missing = missing_beside(leader, comparison, taken);
  const bool complete = std::ssize(missing) == width / own.width - 1;
  if (leader.standing.once && complete) return missing;
  return {};
}

/// Whether the counterpart of `leader`, `width` bytes wide, may hold the bytes of `other`.
bool may_hold(const PtxAccess& leader, int width, const PtxAccess& other) {
  return is_neighbour(leader, other) && other.offset > leader.offset - width &&
         other.offset < leader.offset + width;
}

/// Whether the counterpart of one may also do the work of the other, which has none: two stores of
/// a branch made one, a value loaded once for both.
bool may_replace(const PtxAccess& access, const PtxAccess& other) {
  const bool elsewhere = access.base == other.base && access.base_value == other.base_value &&
                         access.block == other.block && access.offset != other.offset;
  return access.kind == other.kind && access.space == other.space && access.width == other.width &&
         access.parts == other.parts && access.by_rows == other.by_rows && !elsewhere;
}

/// Whether the counterpart of one executes where the access does, though it may do the work of the
/// other as well.
bool stays(const Match& match, const Match& other) {
  const bool each_round =
      match.standing.in_own_loop && match.standing.once && match.found.size() == 1;
  return match.block_last_line == other.block_last_line ||
         (match.standing.decided &&
          (match.loop_header_last_line == 0 ||
           match.loop_header_last_line == other.loop_header_last_line || each_round));
}

/// Judges those that may do the work of access `removed`, which has no counterpart. It counts
/// nothing if there is one, and that counts as it is written.
void judge_removed(std::size_t removed, const std::vector<Match>& matches,
                   std::vector<Verdict>& verdicts) {
  const PtxAccess& access = *matches[removed].access;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i].found.empty()) continue;
    if (may_hold(*matches[i].access, verdicts[i].plan.width, access)) return;
    if (may_replace(access, *matches[i].access)) others.push_back(i);
  }
  if (others.empty()) {
    verdicts[removed].trust = estimate("ptxas removed it, or made one of it and another");
  }
  for (const std::size_t other : others) {
    if (verdicts[other].trust != kExact || stays(matches[other], matches[removed])) continue;
    verdicts[other].trust = estimate(fmt::format(
        "ptxas may have made one of it and the access in line {} of the PTX", access.text_line));
  }
}

/// Whether the machine code comes to what was found as often as the PTX to the access.
bool executes_alike(const Match& match, const machine::AccessPlan& plan) {
  using Role = machine::AccessPlan::Role;
  const bool counts = plan.role == Role::as_written || plan.role == Role::leader;
  return counts && !match.found.empty() && !match.access->guarded && !match.is_in_cas_loop &&
         match.votes == 0 && match.access->kind != Kind::atomic &&
         match.access->kind != Kind::bulk && !match.access->is_of_fragment() &&
         match.standing.branches_undivided.empty() && match.standing.branches_untaken.empty() &&
         std::ranges::none_of(match.found, &MemoryInstruction::guarded);
}

/// Adds what the machine code has on the stack for an access that is not exact by itself, or not in
/// all launches. Only where the model of executions knows how often all of it executes.
void add_on_stack(const Match& match, ExecutionModel& executions, KernelTrust& trust) {
  const int line = match.access->text_line;
  const bool is_exact = trust.by_text_line.at(line) == kExact && !trust.conditions.contains(line);
  if (is_exact || match.on_stack.empty() || match.on_stack.size() < match.found.size()) return;
  std::vector<KernelTrust::Spill> found;
  for (const StackAccess& access : match.on_stack) {
    const auto followed = executions.follow(access.instruction.pc / metrics::SassWord::kBytes);
    if (!followed) return;
    found.push_back({access.source, access.instruction.width, 0, followed});
  }
  trust.on_stack.emplace(line, std::move(found));
}

constexpr const char* kAtSeveralLines =
    "the machine code has parts of it at several lines of source";

/// The first parts of the ids of the metrics that an access to `space` counts for.
std::vector<const char*> groups_of(Space space) {
  switch (space) {
    case Space::global:
      return {"global"};
    case Space::shared:
      return {"shared"};
    case Space::local:
      return {"local"};
    default:
      return {"global", "shared", "local"};
  }
}

}  // namespace

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
    if (members.empty() && !matches[i].standing.once) {
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
    judge_removed(i, matches, verdicts);
  }

  for (std::size_t i = 0; i < matches.size(); ++i) {
    const std::string& difference = matches[i].standing.difference;
    if (!difference.empty() && verdicts[i].trust == kExact)
      verdicts[i].trust = estimate(difference);
    if (matches[i].sources.size() > 1 && verdicts[i].trust == kExact) {
      verdicts[i].trust = estimate(kAtSeveralLines);
    }
    if (matches[i].order && verdicts[i].trust == kExact) verdicts[i].trust = *matches[i].order;
  }

  OracleAnswer answer;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const int line = matches[i].access->text_line;
    if (verdicts[i].plan.role != machine::AccessPlan::Role::as_written) {
      answer.plans.entries.push_back({line, verdicts[i].plan});
    }
    const std::set<int>& undivided = matches[i].standing.branches_undivided;
    if (verdicts[i].trust == kExact && !undivided.empty()) {
      answer.trust.conditions.insert(
          {line,
           {{undivided, {}},
            estimate("lanes of a warp that part in front of it may come to it, or to copies of it, "
                     "apart")}});
    }
    for (const auto& [branch, difference] : matches[i].standing.branches_untaken) {
      if (verdicts[i].trust != kExact) break;
      answer.trust.conditions.insert({line, {{{}, {branch}}, estimate(difference)}});
      answer.plans.watched.insert(branch);
    }
    if (verdicts[i].trust == kExact && executes_alike(matches[i], verdicts[i].plan)) {
      std::vector<std::size_t> found;
      for (const MemoryInstruction& instruction : matches[i].found) {
        found.push_back(instruction.pc / metrics::SassWord::kBytes);
      }
      const Kind kind = matches[i].access->kind;
      comparison.executions.add_access(line, found, kind == Kind::load || kind == Kind::store);
    }
    answer.trust.by_text_line[line] = std::move(verdicts[i].trust);
    if (matches[i].sources.size() == 1) {
      answer.trust.sources.emplace(line, std::move(matches[i].sources[0]));
    }
    if (matches[i].memory) answer.trust.unsettled.by_text_line.emplace(line, *matches[i].memory);
    if (comparison.allocates && matches[i].access->space != Space::shared &&
        matches[i].access->space != Space::local) {
      answer.trust.by_text_line[line] =
          estimate("the kernel allocates memory, and a GPU does so at addresses of its own");
    }
  }
  answer.trust.otherwise = {Confidence::predicted,
                            "it is not one of the accesses that are compared with machine code"};
  comparison.executions.settle();
  for (const Match& match : matches) {
    add_on_stack(match, comparison.executions, answer.trust);
    const int line = match.access->text_line;
    if (match.sources.size() < 2 || answer.trust.on_stack.contains(line)) continue;
    for (const metrics::SourceLine& source : match.sources) {
      for (const char* const group : groups_of(match.access->space)) {
        answer.trust.uncounted.push_back({source, group, estimate(kAtSeveralLines)});
      }
    }
  }
  for (ExtraAccess& extra : comparison.extras) {
    const auto beside = std::ranges::find_if(extra.beside, [&](int line) {
      return answer.trust.by_text_line.at(line).confidence == Confidence::exact;
    });
    const bool has_beside = beside != extra.beside.end();
    std::optional<std::size_t> followed;
    if (extra.is_spill) {
      followed = comparison.executions.follow(extra.instruction.pc / metrics::SassWord::kBytes);
    }
    if (has_beside || followed) {
      answer.trust.spills.push_back({extra.source.value_or(metrics::SourceLine{}),
                                     extra.instruction.width, has_beside ? *beside : 0, followed});
    } else {
      answer.extras.push_back(std::move(extra));
    }
  }
  std::ranges::move(comparison.another_time, std::back_inserter(answer.trust.uncounted));
  answer.trust.unsettled.uncounted = std::move(comparison.another_time_by_memory);
  answer.trust.unsettles_memory = comparison.unsettles_memory;
  answer.plans.watched.merge(comparison.executions.branches());
  answer.trust.executions = std::move(comparison.executions);
  answer.trust.execution_order = std::move(comparison.execution_order);
  answer.trust.unsettled.executions = std::move(comparison.execution_memory);
  return answer;
}

bool KernelTrust::Condition::holds(const Ways& launch) const {
  const auto none = [](const std::set<int>& of, const std::set<int>& in) {
    return std::ranges::none_of(of, [&](int line) { return in.contains(line); });
  };
  return none(without.divided, launch.divided) && none(without.taken, launch.taken);
}

KernelTrust::Ways ways_of(const machine::LaunchOutcome& outcome) {
  KernelTrust::Ways ways;
  for (const machine::BranchTotals& branch : outcome.branches) {
    if (branch.divided > 0) ways.divided.insert(branch.text_line);
    if (branch.taken > 0) ways.taken.insert(branch.text_line);
  }
  return ways;
}

}  // namespace warpgauge::emulator::counting
