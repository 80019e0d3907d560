// The texts of what the history of accesses finds.
#include "harness/emulator/machine/checks/access_findings.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "harness/emulator/machine/checks/loop_rounds.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::checks {
namespace {

/// "tile[3] (byte 12)", as if elements were as wide as the access; "0xc" where no variable is
/// known.
std::string shared_place(const KernelCode& kernel, std::uint64_t address, std::uint64_t width) {
  for (const KernelCode::SharedVariable& variable : kernel.shared_variables) {
    const bool is_dynamic = variable.bytes == 0;
    if (address < variable.begin || (!is_dynamic && address >= variable.begin + variable.bytes)) {
      continue;
    }
    const std::uint64_t offset = address - variable.begin;
    const std::string bytes = "byte " + std::to_string(offset);
    if (offset % width != 0) return bytes + " of " + variable.name;
    return variable.name + "[" + std::to_string(offset / width) + "] (" + bytes + ")";
  }
  return hexadecimal(address);
}

/// "global read of 4 bytes at byte 8 of cudaMalloc #2 (400 bytes)"
std::string named(const Findings& findings, const LaneAccess& access) {
  const std::string text = title(access.access, access.window, access.address);
  const std::string begin = text.substr(0, text.rfind(' ') + 1);
  if (access.window == Window::shared) {
    return begin + shared_place(findings.kernel, access.address, access.access.width);
  }
  if (access.window != Window::global) return text;
  const auto* const at = reinterpret_cast<const void*>(access.address);
  return begin + findings.memory.describe(at, access.access.width);
}

/// The operand with the address; nullptr: it has none.
const ptx::Operand* address_operand(const ptx::Instruction& instruction) {
  const auto found =
      std::ranges::find(instruction.operands, ptx::Operand::Kind::address, &ptx::Operand::kind);
  return found == instruction.operands.end() ? nullptr : &*found;
}

/// Whether a line of source loads and stores by one address, as `*sum += x` does, and these are the
/// two accesses.
bool is_change_in_place(const Act& act, const KernelCode::Counter& earlier) {
  const ptx::Function& function = *act.code->function;
  if (act.code != earlier.code) return false;
  const ptx::Instruction& first = function.body[act.instruction];
  const ptx::Instruction& second = function.body[earlier.instruction];
  const bool in_one_line = first.source_line == second.source_line && first.source_line >= 0;
  if (!in_one_line || first.opcode == second.opcode) return false;
  const auto is_plain = [](const ptx::Instruction& access) {
    return access.opcode == "ld" || access.opcode == "st";
  };
  const ptx::Operand* const at = address_operand(first);
  const ptx::Operand* const other = address_operand(second);
  return is_plain(first) && is_plain(second) && at != nullptr && other != nullptr &&
         at->offset == other->offset && at->elements.at(0).name == other->elements.at(0).name;
}

/// Where lines of a loop race on the way from one round to the next: these lines.
std::string round_of_loop(const Act& act, const KernelCode::Counter& earlier) {
  if (act.code != earlier.code ||
      !are_of_different_rounds(*act.code, act.instruction, earlier.instruction)) {
    return "";
  }
  const auto [first, last] = std::minmax(act.instruction, earlier.instruction);
  return " " + source_place(*act.code, last) + " and, in the next round of the loop, " +
         source_place(*act.code, first);
}

bool are_of_two_blocks(const LaneAccess& access, const EarlierAccess& earlier) {
  return access.window == Window::global && earlier.block != access.act.block;
}

bool are_of_one_warp(const LaneAccess& access, const EarlierAccess& earlier) {
  return earlier.thread / kLanes == access.act.thread / kLanes;
}

/// A barrier that may be what is missing.
enum class Barrier : std::uint8_t { none, of_warp, of_block };

/// What would order two accesses: the first row that holds for them says what is missing.
struct Edge {
  bool (*holds)(const LaneAccess& access, const EarlierAccess& earlier);
  const char* rule;
  const char* missing;
  Barrier barrier = Barrier::none;
  bool is_of_read = false;  ///< the place of EarlierAccess::unfenced_read ends the text
};
constexpr Edge kEdges[] = {
    {[](const LaneAccess&, const EarlierAccess& earlier) { return earlier.in_flight; }, "race",
     "the copy may not have arrived: no cp.async.wait_group of that thread stands between"},
    {[](const LaneAccess&, const EarlierAccess& earlier) { return earlier.until_wait; }, "race",
     "this launch may begin before that one has ended: no cudaGridDependencySynchronize() "
     "(griddepcontrol.wait) stands between"},
    {[](const LaneAccess&, const EarlierAccess& earlier) { return earlier.launch != nullptr; },
     "race",
     "the launches are not ordered: they are in two streams, and no event and no wait of the "
     "program stands between"},
    {[](const LaneAccess&, const EarlierAccess& earlier) { return earlier.scope == Scope::block; },
     "race",
     "one of the two has the scope .cta, and is atomic for threads of its block only: both need "
     "the scope .gpu (atomicAdd() for atomicAdd_block(), cuda::thread_scope_device)"},
    {[](const LaneAccess&, const EarlierAccess& earlier) {
       return earlier.scope == Scope::cluster;
     },
     "race",
     "one of the two has the scope .cluster, and is atomic for threads of its cluster only: both "
     "need the scope .gpu"},
    {[](const LaneAccess& access, const EarlierAccess& earlier) {
       return are_of_two_blocks(access, earlier) && earlier.unfenced_read.has_value();
     },
     "race",
     "the blocks are not ordered: no __threadfence() stands between this and the volatile or "
     "relaxed read at ",
     Barrier::none, true},
    {[](const LaneAccess&, const EarlierAccess& earlier) {
       return earlier.unfenced_read.has_value();
     },
     "race",
     "no __syncthreads() stands between, nor a __threadfence_block() behind the volatile or "
     "relaxed read at ",
     Barrier::of_block, true},
    {are_of_two_blocks, "race",
     "the blocks are not ordered: only an atomic with __threadfence(), or a barrier of the grid, "
     "orders them"},
    {are_of_one_warp, "lane race", "no __syncwarp() stands between", Barrier::of_warp},
    {nullptr, "race", "no __syncthreads() stands between", Barrier::of_block},
};

const Edge& edge_between(const LaneAccess& access, const EarlierAccess& earlier) {
  return *std::ranges::find_if(kEdges, [&](const Edge& edge) {
    return edge.holds == nullptr || edge.holds(access, earlier);
  });
}

}  // namespace

std::string place_of_counter(const KernelCode& kernel, std::uint64_t counter) {
  const KernelCode::Counter& known = kernel.counters[counter];
  return source_place(*known.code, known.instruction);
}

bool is_async_copy(const KernelCode& kernel, std::uint64_t counter) {
  const KernelCode::Counter& known = kernel.counters[counter];
  return known.code->function->body[known.instruction].opcode == "cp";
}

bool is_volatile_access(const KernelCode& kernel, std::uint64_t counter) {
  const KernelCode::Counter& known = kernel.counters[counter];
  return known.code->function->body[known.instruction].has("volatile");
}

Scope scope_of_access(const KernelCode& kernel, std::uint64_t counter) {
  const KernelCode::Counter& known = kernel.counters[counter];
  const Code& code = *known.code;
  return memory_flag::scope_in(code.instructions[code.places[known.instruction]].flags);
}

void report_race(Findings& findings, const LaneAccess& access, const EarlierAccess& earlier) {
  const bool is_of_launch = earlier.launch == nullptr;
  const KernelCode& kernel = is_of_launch ? findings.kernel : *earlier.launch->kernel;
  const Launch& shape = is_of_launch ? findings.launch : earlier.launch->shape;
  const std::string other = place_of_counter(kernel, earlier.counter);
  const KernelCode::Counter& first = kernel.counters[earlier.counter];
  std::optional<Finding::MissingBarrier> missing;
  std::string what =
      named(findings, access) + ", which " + thread_and_lane_text(shape, earlier.thread);
  if (access.window == Window::global) what += " of " + block_text(shape, earlier.block);
  if (!is_of_launch) what += " of kernel " + kernel.display + ", launched before,";
  what += std::string(" has ") + (earlier.wrote ? "written" : "read") + " at " + other + "; ";
  const Edge& edge = edge_between(access, earlier);
  what += edge.missing;
  if (edge.is_of_read) what += place_of_counter(findings.kernel, *earlier.unfenced_read);
  if (edge.holds == nullptr) what += round_of_loop(access.act, first);
  if (edge.barrier != Barrier::none && access.act.code->number == 0 && first.code->number == 0) {
    missing = {first.instruction, access.act.instruction, edge.barrier == Barrier::of_warp};
  }
  if (is_change_in_place(access.act, first)) {
    what += "; threads that change one value in place need an atomic";
    missing.reset();
  }
  findings.report(access.act, edge.rule, other, what, missing);
}

void report_unwritten(Findings& findings, const LaneAccess& access) {
  findings.report(access.act, "uninitialised", "",
                  named(findings, access) + (access.window == Window::shared
                                                 ? ": no thread of the block has written it"
                                                 : ": nothing has written it"));
}

void report_read_only(Findings& findings, const LaneAccess& access, std::uint64_t counter) {
  const std::string other = place_of_counter(findings.kernel, counter);
  findings.report(access.act, "read-only load", other,
                  named(findings, access) + ", which this grid writes at " + other +
                      ": ld.global.nc may only read what nothing writes while the kernel runs");
}

void report_stores(Findings& findings, const LaneAccess& access, std::uint32_t other) {
  findings.report(access.act, "one word, several values", "",
                  named(findings, access) + ", to which " +
                      thread_and_lane_text(findings.launch, other) +
                      " of the same warp stores another value: which one stays is not defined");
}

void report_shuffle(Findings& findings, const Act& act, int from) {
  findings.report(act, "shuffle", "",
                  "takes the value of lane " + std::to_string(from) +
                      ", which does not take part: what it gets is not defined");
}

void report_mask(Findings& findings, const Act& act, Mask members) {
  char mask[16];
  std::snprintf(mask, sizeof mask, "0x%08x", members);
  findings.report(act, "mask", "",
                  std::string("its member mask ") + mask +
                      " does not name its own lane: what it does is not defined");
}

void report_parted_barrier(Findings& findings, const Act& act, std::uint32_t number, Mask lanes,
                           Mask others, const std::string& place) {
  findings.report(act, "barrier", place,
                  lanes_text(lanes) + " of the warp come to barrier " + std::to_string(number) +
                      " here, and " + lanes_text(others) + " at " + place +
                      ": all threads of a warp must execute the same barrier");
}

void report_barrier_counts(Findings& findings, const Act& act, std::uint32_t number,
                           std::uint32_t threads, std::uint32_t before) {
  findings.report(act, "barrier", "",
                  "barrier " + std::to_string(number) + " of " + std::to_string(threads) +
                      " threads, for which others wait as for one of " + std::to_string(before));
}

}  // namespace warpgauge::emulator::machine::checks
