// Messages of faults: who did it and where.
#include "harness/emulator/machine/fault.h"

#include <cxxabi.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <string>

#include "harness/emulator/machine/block.h"
#include "harness/emulator/machine/code.h"
#include "harness/emulator/machine/control.h"
#include "harness/emulator/machine/engine.h"

namespace warpgauge::machine {
namespace {

std::string triple(const std::array<std::uint32_t, 3>& index) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," +
         std::to_string(index[2]) + ")";
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0) return name;
  std::string result = text.get();
  // Templates come with the type they return in front and the types of their parameters behind.
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t n = 0; n < result.size(); ++n) {
    const char c = result[n];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth != 0) continue;
    if (c == ' ') begin = n + 1;
    const bool anonymous = result.compare(n, 21, "(anonymous namespace)") == 0;
    if (c == '(' && anonymous) {
      n += 20;
    } else if (c == '(') {
      return result.substr(begin, n - begin);
    }
  }
  return result;
}

std::string source_place(const Code& code, std::uint32_t instruction) {
  const ptx::Instruction& at = code.function->body.at(instruction);
  const auto& lines = code.module->source_lines;
  if (at.source_line >= 0 && static_cast<std::size_t>(at.source_line) < lines.size()) {
    const ptx::SourceLine& line = lines[static_cast<std::size_t>(at.source_line)];
    if (line.line > 0) return line.file + ":" + std::to_string(line.line);
  }
  return demangled(code.function->name) + ", PTX line " + std::to_string(at.text_line);
}

std::array<std::uint32_t, 3> thread_index(const Warp& warp, int lane) {
  const auto& size = warp.engine->block->launch.launch.block;
  const std::uint32_t thread = warp.engine->index * kLanes + static_cast<std::uint32_t>(lane);
  return {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
}

void fault(const Warp& warp, const Instruction& instruction, Mask lanes, Fault::Kind kind,
           const char* what) {
  // A warp that belongs to no block has no place to name.
  if (warp.engine == nullptr || warp.engine->block == nullptr) throw Fault(kind, what);
  const Block& block = *warp.engine->block;
  std::string text = "kernel " + block.launch.code.display + ", block " + triple(block.index);
  if (lanes != 0) text += ", thread " + triple(thread_index(warp, std::countr_zero(lanes)));
  text += ", " + source_place(*warp.engine->frame->code, instruction.index) + ": " + what;
  throw Fault(kind, text);
}

namespace {

std::string lanes_text(Mask lanes) {
  if (lanes == kAllLanes) return "all lanes";
  std::string text;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    int last = lane;
    while (last + 1 < kLanes && (lanes >> (last + 1) & 1) != 0) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(lane);
    if (last > lane) text += "-" + std::to_string(last);
    lane = last;
  }
  return (std::popcount(lanes) == 1 ? "lane " : "lanes ") + text;
}

std::string waits_for(const Fragment& fragment, const Warp& warp) {
  const Block& block = *warp.engine->block;
  if (fragment.state == Fragment::State::waits_in_block) {
    const Barrier& barrier = block.barriers[fragment.barrier];
    const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : block.live_threads;
    return "waiting at barrier " + std::to_string(fragment.barrier) + ", where " +
           std::to_string(barrier.arrived) + " of " + std::to_string(expected) +
           " threads have arrived";
  }
  const Mask missing = fragment.members & warp.engine->live & ~fragment.mask;
  const ptx::Instruction& at = fragment.frame->code->function->body.at(fragment.pc->index);
  return "waiting in " + at.full_name() + " for " + lanes_text(missing);
}

}  // namespace

void Block::report_deadlock() const {
  constexpr int kMostShown = 8;
  std::string text = "kernel " + launch.code.display + ", block " + triple(index) +
                     ": deadlock, no thread can go on";
  int shown = 0;
  for (const WarpState& state : warps) {
    for (int n = 0; n < state.engine.count; ++n) {
      const Fragment& fragment = state.engine.others[n];
      if (++shown > kMostShown) continue;
      text += "; " + source_place(*fragment.frame->code, fragment.pc->index) + ": warp " +
              std::to_string(state.engine.index) + ", " + lanes_text(fragment.mask) + ", " +
              waits_for(fragment, state.warp);
    }
  }
  if (shown > kMostShown) text += "; and " + std::to_string(shown - kMostShown) + " more";
  throw Fault(Fault::Kind::deadlock, text);
}

}  // namespace warpgauge::machine
