// The doctor: looks at every precondition of measuring, and says of each what would mend it.
#pragma once

#include <chrono>
#include <filesystem>

#include "harness/outcome/exit_code.h"
#include "harness/process/program.h"

namespace warpgauge {

/// What the gate will be asked.
struct DoctorOptions {
  DeviceChoice device = DeviceChoice::automatic;
  bool require_cupti = false;         ///< as its --require=cupti: a GPU, and all of its counters
  std::filesystem::path out = "out";  ///< its --out
  std::chrono::seconds time_limit{
      60};            ///< for each look that may hang: the first use of a GPU is slow
  bool json = false;  ///< print the findings as one JSON object
};

/// Prints what was found on stdout. Whatever could crash or hang does so in a child process and
/// becomes a finding. kWithinBudget if the gate can do its work as `options` ask, else
/// kNotMeasured: on the GPU where there is one, or is asked for, else on the emulator; in a program
/// that runs on the emulator, there. This process never touches CUDA.
ExitCode run_doctor(const DoctorOptions& options);

}  // namespace warpgauge
