// Tries whether a barrier more would cure a race.
#include "harness/emulator/machine/barrier_trial.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/decode/function_decoder.h"
#include "harness/emulator/machine/program.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine {
namespace {

using Missing = Finding::MissingBarrier;
using namespace std::chrono_literals;

constexpr std::size_t kMostPlaces = 8;           // each is a launch more
constexpr std::chrono::seconds kMostTime = 10s;  // of the tries for one launch

/// What tells findings apart: rule and both lines.
using Keys = std::set<std::string>;
std::string key_of(const Finding& finding) {
  return finding.rule + " " + finding.source.file + ":" + std::to_string(finding.source.line) +
         " " + finding.other;
}

/// Where a barrier may stand: in front of these instructions of the body.
struct Place {
  std::set<std::uint32_t> positions;
  std::string text;  ///< "in front of f.cu:12"
};

/// With a number of threads, so that threads which have ended do not count: all must come there.
ptx::Instruction barrier_instruction(std::uint64_t threads, bool of_warp) {
  const std::string text =
      of_warp ? "bar.warp.sync 0xffffffff;" : "bar.sync 0, " + std::to_string(threads) + ";";
  return ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {" + text + "}", "")
      .functions.front()
      .body.front();
}

ptx::Function with_barriers(const ptx::Function& function, const std::set<std::uint32_t>& positions,
                            ptx::Instruction barrier) {
  ptx::Function changed = function;
  changed.body.clear();
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& instruction = function.body[n];
    if (positions.contains(n)) {
      barrier.text_line = instruction.text_line;
      barrier.source_line = instruction.source_line;
      changed.body.push_back(barrier);
    }
    changed.body.push_back(instruction);
  }
  for (ptx::Label& label : changed.labels) {
    const auto is_in_front = [&](std::uint32_t position) { return position < label.position; };
    label.position += static_cast<std::size_t>(std::ranges::count_if(positions, is_in_front));
  }
  return changed;
}

/// An instruction of the body, and its copies: a compiler unrolls loops.
std::set<std::uint32_t> copies_of(const ptx::Function& function, std::uint32_t position) {
  const ptx::Instruction& copied = function.body[position];
  std::set<std::uint32_t> copies = {position};
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& instruction = function.body[n];
    const bool is_of_line =
        copied.source_line >= 0 && instruction.source_line == copied.source_line;
    if (is_of_line && instruction.full_name() == copied.full_name()) copies.insert(n);
  }
  return copies;
}

std::set<std::uint32_t> behind(const std::set<std::uint32_t>& positions) {
  std::set<std::uint32_t> next;
  for (const std::uint32_t position : positions) next.insert(position + 1);
  return next;
}

/// Where a barrier may cure it, the most likely place first: on the way from the first of the two
/// accesses in the code to the last one, or round a loop from the last to the first.
std::vector<Place> places_for(const KernelCode& code, const Missing& missing) {
  const Code& body = *code.functions.front();
  const auto [first, last] = std::minmax(missing.earlier, missing.later);
  const std::string line_of_first = source_place(body, first);
  const std::string line_of_last = source_place(body, last);
  const bool is_one_line = line_of_first == line_of_last;
  const std::set<std::uint32_t> firsts = copies_of(*body.function, first);
  const std::set<std::uint32_t> lasts = copies_of(*body.function, last);
  std::vector<Place> places = {
      {lasts, (is_one_line ? "between the two accesses of " : "in front of ") + line_of_last},
      {behind(firsts), "behind " + line_of_first},
      {firsts, "in front of " + line_of_first},
      {behind(lasts), "behind " + line_of_last}};
  for (const ptx::Label& label : body.function->labels) {
    const auto position = static_cast<std::uint32_t>(label.position);
    if (position >= body.function->body.size() || places.size() == kMostPlaces) continue;
    places.push_back({{position}, "in front of " + source_place(body, position)});
  }
  return places;
}

/// Tries of one launch, until their time is over.
class Trials {
 public:
  /// `expected`: what the launch has found.
  Trials(const Kernel& kernel, const Launch& launch, const LaunchHost& host, Keys expected,
         const Elsewhere& elsewhere)
      : kernel_(kernel),
        launch_(launch),
        host_(host),
        expected_(std::move(expected)),
        elsewhere_(elsewhere) {}

  /// The words to add to a finding: the barrier that removes it. Empty: none does.
  std::string told_of(const Finding& finding) const {
    const std::string key = key_of(finding);
    const bool is_found_again = holds_elsewhere([&] {
      const std::optional<Keys> found = findings_of(kernel_);
      return found && found->contains(key);
    });
    if (!is_found_again) return "";
    const std::vector<Place> places = places_for(*kernel_.code, *finding.missing_barrier);
    for (const bool of_warp : {true, false}) {
      if (of_warp && !finding.missing_barrier->of_warp) continue;
      for (const Place& place : places) {
        if (!is_gone(key, place, of_warp)) continue;
        return std::string("; tried: with a ") + (of_warp ? "__syncwarp()" : "__syncthreads()") +
               " " + place.text + " this finding is gone";
      }
    }
    return "";
  }

 private:
  /// A launch's own limit is mostly what its case has: the tries take a part of it.
  std::chrono::milliseconds time() const {
    const std::chrono::milliseconds limit = host_.options.time_limit;
    return limit.count() == 0 ? kMostTime
                              : std::min<std::chrono::milliseconds>(kMostTime, limit / 4);
  }
  std::chrono::milliseconds time_left() const {
    return std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
  }

  /// Runs the launch and returns what it finds; nothing if it ends with a fault.
  std::optional<Keys> findings_of(const Kernel& kernel) const {
    Options options = host_.options;
    options.threads = 1;
    options.time_limit = std::max(time_left(), std::chrono::milliseconds(1ms));  // 0 is none
    options.print = [](std::string_view) {};
    ThreadPool pool;
    std::vector<Finding> findings;
    Launch again = launch_;
    again.hits = nullptr;
    again.findings = &findings;
    again.races = nullptr;
    again.uses = nullptr;
    try {
      run_launch(
          kernel, again,
          {host_.architecture, options, host_.memory, pool, host_.heap_in_use, host_.number});
    } catch (const std::exception&) {
      return std::nullopt;
    }
    Keys keys;
    for (const Finding& finding : findings) keys.insert(key_of(finding));
    return keys;
  }

  /// Whether with a barrier more that finding is gone, and no other has come.
  bool is_gone(const std::string& key, const Place& place, bool of_warp) const {
    return holds_elsewhere([&] {
      const std::uint64_t threads = round_up(volume(launch_.block), kLanes);
      const ptx::Function function =
          with_barriers(kernel_.function, place.positions, barrier_instruction(threads, of_warp));
      Kernel changed(kernel_.program, function);
      changed.code = decode::KernelDecoder(changed, host_.architecture, host_.options).decode();
      const std::optional<Keys> found = findings_of(changed);
      return found && !found->contains(key) && std::ranges::includes(expected_, *found);
    });
  }

  bool holds_elsewhere(const std::function<bool()>& test) const {
    const std::chrono::milliseconds left = time_left();
    return left > 0ms && elsewhere_(left + 1s, test);  // the launch's own limit comes first
  }

  const Kernel& kernel_;
  const Launch& launch_;
  const LaunchHost& host_;
  const Keys expected_;
  const Elsewhere& elsewhere_;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + time();
};

}  // namespace

void BarrierTrials::tell(const Kernel& kernel, const Launch& launch, const LaunchHost& host,
                         const Elsewhere& elsewhere, std::vector<Finding>& findings) {
  // The program may share the memory that it registered with the copy, or with others.
  if (host.memory.has_adopted()) return;
  Keys expected;
  for (const Finding& finding : findings) expected.insert(key_of(finding));
  const Trials trials(kernel, launch, host, std::move(expected), elsewhere);
  for (Finding& finding : findings) {
    if (!finding.missing_barrier) continue;
    const auto [told, is_new] = told_.try_emplace(kernel.info.name + " " + key_of(finding));
    if (is_new) told->second = trials.told_of(finding);
    finding.text += told->second;
  }
}

}  // namespace warpgauge::emulator::machine
