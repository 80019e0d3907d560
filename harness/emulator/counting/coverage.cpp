// Adds executions of PTX instructions to the coverage of source lines.
#include "harness/emulator/counting/coverage.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/emulator/machine/core/code.h"

namespace warpgauge::emulator::counting {
namespace {

using metrics::LineHits;

/// The line of the program, and the call that its code was inlined through: -1 for none.
struct HitPlace {
  std::string_view file;
  int line = 0;
  int caller = -1;
  auto operator<=>(const HitPlace&) const = default;
};

/// Adds a function of a module to the coverage. `hits` are those of its instructions by position in
/// the body; empty if it did not run.
class FunctionCoverage {
 public:
  FunctionCoverage(metrics::Coverage& coverage, const ptx::Module& module,
                   const ptx::Function& function, std::span<const machine::InstructionHits> hits)
      : coverage_(coverage), module_(module), function_(function), hits_(hits) {
    for (const ptx::Label& label : function.labels) labels_[label.name] = label.position;
  }

  void add() {
    for (std::size_t n = 0; n < function_.body.size(); ++n) {
      add_line(n);
      add_branch(n);
    }
    for (const auto& [place, hits] : most_) {
      LineHits& line = coverage_[std::string(place.file)].lines[place.line];
      line.warps += hits.warps;
      line.lanes += hits.lanes;
    }
    add_entry();
  }

 private:
  machine::InstructionHits hits(std::size_t n) const {
    return hits_.empty() ? machine::InstructionHits{} : hits_[n];
  }

  const ptx::SourceLine* source(int at) const {
    return at < 0 ? nullptr : &module_.source_lines[static_cast<std::size_t>(at)];
  }

  void add_line(std::size_t n) {
    const ptx::SourceLine* line = source(function_.body[n].source_line);
    while (line != nullptr && line->in_toolkit) line = source(line->caller);
    if (line == nullptr) return;
    LineHits& most = most_[{line->file, line->line, line->caller}];
    const machine::InstructionHits more = hits(n);
    if (more.warps > most.warps) most = {more.warps, more.lanes};
  }

  void add_branch(std::size_t n) {
    const ptx::Instruction& instruction = function_.body[n];
    const ptx::SourceLine* const line = source(instruction.source_line);
    if (instruction.opcode != "bra" || !instruction.guard) return;
    if (line == nullptr || line->in_toolkit || instruction.operands.empty()) return;
    const auto target = labels_.find(instruction.operands[0].name);
    const bool backward = target != labels_.end() && target->second <= n;
    auto& branch = coverage_[line->file].branches[{line->line, line->column, backward}];
    branch.taken += hits(n).guard_held;
    branch.not_taken += hits(n).guard_failed;
  }

  /// The function begins at the first of its own lines: of code that is not inlined into it, or of
  /// the calls that were.
  void add_entry() {
    std::string_view file;
    int begin = 0;
    for (const ptx::Instruction& instruction : function_.body) {
      const ptx::SourceLine* line = source(instruction.source_line);
      while (line != nullptr && line->caller >= 0) line = source(line->caller);
      if (line == nullptr || (!file.empty() && line->file != file)) continue;
      if (line->in_toolkit) return;
      begin = file.empty() ? line->line : std::min(begin, line->line);
      file = line->file;
    }
    if (file.empty()) return;
    coverage_[std::string(file)].functions[function_.name].add({begin, hits(0).warps});
  }

  metrics::Coverage& coverage_;
  const ptx::Module& module_;
  const ptx::Function& function_;
  std::span<const machine::InstructionHits> hits_;
  std::map<std::string_view, std::size_t> labels_;
  std::map<HitPlace, LineHits> most_;
};

}  // namespace

void add_launch(metrics::Coverage& coverage, std::span<const machine::FunctionHits> launch) {
  for (const auto& [code, hits] : launch) {
    FunctionCoverage(coverage, *code->module, *code->function, hits).add();
  }
}

void add_code(metrics::Coverage& coverage, const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    if (function.has_body) FunctionCoverage(coverage, module, function, {}).add();
  }
}

}  // namespace warpgauge::emulator::counting
