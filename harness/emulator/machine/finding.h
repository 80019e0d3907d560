// What the checks find. A kernel goes on after a finding, as it would on a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "harness/emulator/machine/lanes.h"
#include "metrics/base/source_line.h"

namespace warpgauge::emulator::machine {

struct Code;
struct Instruction;
struct Warp;

namespace control {
struct LaunchContext;
}

struct Finding {
  std::string text;  ///< as Fault::what(): kernel, block, thread, line, and what is wrong
  metrics::SourceLine source;
};

/// Those of a launch, each pair of lines once: of the lowest block, which is the same however many
/// threads ran the blocks.
class Findings {
 public:
  /// Of which rule, and between which two instructions.
  struct Key {
    std::string rule;
    std::string first, second;  ///< places
    auto operator<=>(const Key&) const = default;
  };
  /// False if there is one already, of this block or a lower one.
  bool wants(const Key& key, std::uint64_t block) const;
  void add(const Key& key, std::uint64_t block, Finding finding);
  std::vector<Finding> take();

 private:
  struct Kept {
    std::uint64_t block;
    Finding finding;
  };
  mutable std::mutex mutex_;
  std::map<Key, Kept> kept_;
};

/// An instruction that a thread has executed, for findings that come later.
struct Act {
  const Code* code = nullptr;  ///< nullptr: none
  std::uint32_t instruction = 0;
  std::uint32_t thread = 0;  ///< in its block
  std::uint64_t block = 0;
};
Act act_of(const Warp& warp, const Instruction& instruction, int lane);
std::string place_of(const Act& act);                     ///< "f.cu:12"
std::string thread_of(const Warp& warp, const Act& act);  ///< "thread (1,0,0)"

/// Adds a finding at `lane` of the instruction to those of the launch. `rule` ("race in shared
/// memory") and `other`, the place of the other access if there is one, say which findings are the
/// same.
void report(const Warp& warp, const Instruction& instruction, int lane, const char* rule,
            const std::string& other, const std::string& what);
/// The same of an instruction that was executed before.
void report(control::LaunchContext& launch, const Act& act, const char* rule,
            const std::string& other, const std::string& what);

}  // namespace warpgauge::emulator::machine
