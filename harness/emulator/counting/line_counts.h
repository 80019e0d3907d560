// Adds up what the machine counted per PTX instruction to counts per source line.
#pragma once

#include <string>
#include <vector>

#include "metrics/confidence.h"
#include "metrics/counts_by_line.h"
#include "metrics/order_dependence.h"

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
           const KernelTrust& trust, metrics::Memory memory = metrics::Memory::settled);

  /// All that was added since the last call, ordered by kernel, file and line. Counts of the whole
  /// kernel have no file and line 0.
  std::vector<metrics::LineCounts> take() { return lines_.take(); }

 private:
  /// Instructions and divergent branches. `of_order`: as far as the order of threads decides them.
  void add_executions(const std::string& kernel, const machine::LaunchOutcome& outcome,
                      const Executions& executed, const metrics::Trust& of_order);
  void add_spills(const std::string& kernel, const machine::LaunchOutcome& outcome,
                  const KernelTrust& trust, metrics::Memory memory, const Executions& executed,
                  const metrics::Trust& of_order);

  metrics::CountsByLine lines_;
};

}  // namespace warpgauge::emulator::counting
