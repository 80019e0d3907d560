// The texts of what the history of accesses finds.
#include "harness/emulator/machine/checks/access_findings.h"

#include <cstdio>
#include <string>

#include "harness/emulator/machine/core/access_text.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::checks {
namespace {

/// "global read of 4 bytes at byte 8 of cudaMalloc #2 (400 bytes)"
std::string named(const Findings& findings, const LaneAccess& access) {
  const std::string text = title(access.access, access.window, access.address);
  if (access.window != Window::global) return text;
  const auto* const at = reinterpret_cast<const void*>(access.address);
  return text.substr(0, text.rfind(' ') + 1) + findings.memory.describe(at, access.access.width);
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

void report_race(Findings& findings, const LaneAccess& access, const EarlierAccess& earlier) {
  const bool is_of_launch = earlier.launch == nullptr;
  const KernelCode& kernel = is_of_launch ? findings.kernel : *earlier.launch->kernel;
  const Launch& shape = is_of_launch ? findings.launch : earlier.launch->shape;
  const std::string other = place_of_counter(kernel, earlier.counter);
  std::string what = named(findings, access) + ", which " + thread_text(shape, earlier.thread);
  if (access.window == Window::global) what += " of " + block_text(shape, earlier.block);
  if (!is_of_launch) what += " of kernel " + kernel.display + ", launched before,";
  what += std::string(" has ") + (earlier.wrote ? "written" : "read") + " at " + other + "; ";
  if (earlier.in_flight) {
    what += "the copy may not have arrived: no cp.async.wait_group of that thread stands between";
  } else if (earlier.until_wait) {
    what +=
        "this launch may begin before that one has ended: no cudaGridDependencySynchronize() "
        "(griddepcontrol.wait) stands between";
  } else if (!is_of_launch) {
    what +=
        "the launches are not ordered: they are in two streams, and no event and no wait of the "
        "program stands between";
  } else if (access.window == Window::global && earlier.block != access.act.block) {
    what +=
        "the blocks are not ordered: only an atomic with __threadfence(), or a barrier of the "
        "grid, orders them";
  } else if (earlier.thread / kLanes == access.act.thread / kLanes) {
    what += "no __syncwarp() stands between";
  } else {
    what += "no __syncthreads() stands between";
  }
  findings.report(access.act, "race", other, what);
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
                  named(findings, access) + ", to which " + thread_text(findings.launch, other) +
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
