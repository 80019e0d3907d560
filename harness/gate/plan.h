// The plan of a gate: the cases and where they are measured, decided before anything is run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/cases/registry.h"
#include "harness/gate/gate_options.h"
#include "harness/gate/gpu_answer.h"

namespace warpgauge::gate {

using Archs = std::vector<std::string>;

struct Plan {
  const GateOptions& options;
  const FamilyBudgets& budgets;
  Cases cases;    ///< each behind those that its budgets are multiples of
  Archs archs;    ///< those of the compile-time facts
  GpuAnswer gpu;  ///< empty on the emulator
  /// The architectures whose code runs. On a GPU that does not answer it is one without a name: all
  /// cases run there, and say why nothing is measured.
  Archs run_archs;
  Cases fuzzed;           ///< the cases that are run at other sizes and with other seeds, too
  std::string not_noisy;  ///< why times and hardware counters are not measured; empty if they are
  std::vector<std::string> left_out;  ///< sentences on what is not measured

  /// The architectures of the case's compile-time facts.
  Archs compile_time_archs(const Case& measured) const;
  /// Whether the case runs on one of the architectures whose code runs.
  bool runs(const Case& measured) const;
  /// How many processes measure so many cases the fastest, on the GPU or beside it. The facts are
  /// exact: they do not depend on what else runs.
  std::size_t processes(std::size_t cases, bool use_gpu) const;
};

/// Selects the cases and asks the GPU. Throws std::invalid_argument for bad options.
Plan make_plan(const GateOptions& options, const FamilyBudgets& budgets);

/// Prints what the run-time facts are worth, and what is not there.
void announce(const Plan& plan);

/// The cases that have code for `arch`; all of them if it has no name.
Cases existing_on(const std::string& arch, Cases cases);

}  // namespace warpgauge::gate
