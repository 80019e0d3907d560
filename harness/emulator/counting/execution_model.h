// How many instructions of a kernel's machine code a launch executes, by the ways that its warps
// took at the branches of the PTX.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/base/source_line.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::emulator::machine {
struct LaunchOutcome;
}

namespace warpgauge::emulator::counting {

class MachineFlow;
class PtxFlow;

/// The executions of the machine code in a launch, where they are known.
struct Executions {
  struct Line {
    const metrics::SourceLine*
        source;  ///< owned by the model; its file is empty if it is not known
    std::uint64_t instructions = 0;
    std::uint64_t divergent_branches = 0;
    std::string uncertain = {};  ///< why the instructions may be others; empty: they are not
  };
  /// How often an instruction executes.
  struct Times {
    std::uint64_t warps = 0;
    std::uint64_t lane_groups = 0;  ///< groups of 8 lanes, with some that execute it

    Times& operator+=(const Times& more) {
      warps += more.warps;
      lane_groups += more.lane_groups;
      return *this;
    }
  };
  std::string unknown;  ///< why lines are not known; empty: they are
  std::vector<Line> lines;
  std::string followed_unknown;  ///< likewise of single instructions
  std::vector<Times> followed;   ///< in the order of ExecutionModel::follow()
};

/// How often the accesses of a launch execute, by line of the PTX.
class AccessTimes {
 public:
  explicit AccessTimes(const machine::LaunchOutcome& launch);
  /// The last one, of a line with several; nothing: it does not execute.
  Executions::Times of(int text_line) const;

 private:
  using Line = std::pair<int, Executions::Times>;

  std::vector<Line> times_;  // ascending
};

/// The machine code as blocks, each of which leads to others or ends with a branch of the PTX.
///
/// A branch of the machine code is one of the PTX by its line, and no other is the same one. It
/// goes a way as often as that one does, so that each block executes as often as ways lead to it;
/// behind a BSYNC, where lanes meet again, as often as the BSSY before them. Likewise with how many
/// groups of 8 lanes. Whether the machine code has each branch where the PTX has it shows in every
/// launch: both come to it equally often, and to accesses that are exact.
///
/// Where the machine code has branches and calls of its own, or loops that are not those of the
/// PTX, the other blocks are known to which ways lead from known ones only, and those behind a
/// BSYNC of lanes that part there.
class ExecutionModel {
 public:
  ExecutionModel() = default;  ///< for machine code that is not known
  explicit ExecutionModel(std::string unknown) : unknown_(std::move(unknown)) {}

  /// `flow`, one of `all`, is the kernel's, whose name it has.
  ExecutionModel(const PtxFlow& flow, std::span<const PtxFlow> all, const MachineFlow& machine,
                 const metrics::SourceLines& sources);

  /// Says that an access of the PTX is these instructions of the machine code, which execute as
  /// often as it does. `by_lanes`: the lanes that it counts are those that execute it.
  void add_access(int text_line, const std::vector<std::size_t>& instructions, bool by_lanes);

  /// Finds out which blocks are known, after the last access.
  void settle();

  /// Counts the executions of an instruction by itself: it has no guard. nullopt where they will
  /// not be known.
  std::optional<std::size_t> follow(std::size_t instruction);

  /// Lines of the PTX whose branches must be watched.
  std::set<int> branches() const;

  Executions of(const machine::LaunchOutcome& launch) const;

  /// To other lines: those of the PTX text that holds this one's from `first_line` on.
  void move_lines(int first_line);

 private:
  friend class ExecutionModelBuilder;
  enum class Way : std::uint8_t { always, taken, untaken, unknown };
  struct Edge {
    std::size_t from = 0;
    Way way = Way::always;
    bool jumps = false;        ///< lanes that part go there later, with others that wait there
    bool leaves_loop = false;  ///< lanes that part may go there in each round
  };
  using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;  // of the machine code
  struct Gathering {
    std::size_t begin = 0;     ///< the block with the BSSY
    std::set<int> branches;    ///< between, by line of the PTX
    bool threads_end = false;  ///< between
    bool yields = false;       ///< between: lanes that part there may go on apart
    Ranges between;
    bool is_open = false;  ///< lanes may part between without that this shows
  };
  struct Block {
    std::size_t begin = 0, end = 0;  ///< its instructions in the machine code
    std::vector<Edge> before;
    std::optional<Gathering> gathering;  ///< the gathering that it is behind
    bool gathers = false;                ///< it ends with a BSYNC
    int branch = 0;                      ///< line of the PTX; 0: it ends with none
    bool parts = false;                  ///< lanes that part at its branch may not meet again
    bool ends = false;                   ///< with EXIT, at which no warp divides
    bool is_open = false;                ///< lanes may part in it without that this shows
    bool is_known = true;                ///< how often it executes
    std::vector<std::size_t> sources;    ///< its instructions' places in sources_
  };
  struct Access {
    int text_line = 0;
    bool by_lanes = false;
    std::vector<std::size_t> blocks;
  };

  static bool contain(const Ranges& ranges, std::size_t index) {
    return std::ranges::any_of(
        ranges, [&](const auto& range) { return range.first <= index && index < range.second; });
  }
  bool is_known_by_others(const Block& block) const;
  /// Why lines are not known, before a launch; "": they may be.
  std::string lines_unknown() const;
  std::optional<std::size_t> block_of(std::size_t instruction) const;
  std::string compare_accesses(const machine::LaunchOutcome& launch,
                               const std::vector<Executions::Times>& times, Executions& out) const;
  /// The line of the branch that an edge begins at.
  int edge_branch(const Edge& edge) const { return blocks_[edge.from].branch; }

  std::string unknown_ = "the machine code is not known";
  std::string partly_;  // why not all blocks are known
  std::vector<metrics::SourceLine> sources_;
  std::vector<Block> blocks_;       // that the kernel comes to; each behind those it needs
  std::set<int> removed_;           // branches of the PTX that must not execute
  std::vector<Ranges> unshown_;     // loops in which nothing shows yet how many rounds they have
  bool needs_whole_warps_ = false;  // and none that divides
  std::vector<Access> accesses_;
  std::vector<std::optional<std::size_t>> followed_;  // their blocks, if the kernel comes to them
};

}  // namespace warpgauge::emulator::counting
