// Adds up what the machine counted per PTX instruction to counts per source line.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/emulator/counting/known_lines.h"
#include "harness/emulator/counting/memory_state.h"
#include "metrics/counting/counts_by_line.h"
#include "metrics/facts/confidence.h"

namespace warpgauge::emulator::machine {
struct AccessTotals;
struct LaunchOutcome;
}  // namespace warpgauge::emulator::machine

namespace warpgauge::emulator::counting {

struct Executions;
struct KernelTrust;

/// The same numbers as the facts have them: a request, wavefront or sector belongs to the space.
metrics::Counts counts_of(const machine::AccessTotals& access);

/// Counts of kernels over any number of launches.
class CountTable {
 public:
  /// A source line is trusted as far as the least trusted of the instructions that counted there.
  void add(const std::string& kernel, const machine::LaunchOutcome& outcome,
           const std::shared_ptr<const KernelTrust>& trust, const MemoryState& memory = {});

  /// All that was added since the last call, ordered by kernel, file and line. Counts of the whole
  /// kernel have no file and line 0.
  std::vector<metrics::LineCounts> take();

 private:
  /// The lines of one kernel.
  class KernelLines {
   public:
    KernelLines(metrics::CountsByLine& all, const std::string& kernel)
        : all_(all), kernel_(kernel) {}

    void keep(std::shared_ptr<const void> owner) { known_.keep(std::move(owner)); }
    /// The counts of a line that is kept.
    metrics::LineCounts& at(const metrics::SourceLine& line);

   private:
    metrics::CountsByLine& all_;
    const std::string kernel_;
    KnownLines<metrics::LineCounts*> known_;
  };

  /// Instructions and divergent branches. `of_order`: as far as the order of threads decides them.
  static void add_executions(KernelLines& lines, const machine::LaunchOutcome& outcome,
                             const Executions& executed, const metrics::Trust& of_order);
  static void add_spills(KernelLines& lines, const machine::LaunchOutcome& outcome,
                         const KernelTrust& trust, const MemoryState& memory,
                         const Executions& executed, const metrics::Trust& of_order);

  metrics::CountsByLine lines_;
  std::map<std::string, KernelLines> kernels_;  // since the last take()
};

}  // namespace warpgauge::emulator::counting
