// Checks everything that measuring needs, and prints one fix per problem.
#pragma once

#include <chrono>
#include <filesystem>

#include "harness/outcome/exit_code.h"
#include "harness/process/program.h"

namespace warpgauge::doctor {

/// The options that the gate will get.
struct DoctorOptions {
  process::DeviceChoice device = process::DeviceChoice::automatic;
  bool require_cupti = false;         ///< as its --require=cupti: a GPU, and all of its counters
  std::filesystem::path out = "out";  ///< its --out
  /// For each check that may hang. The first use of a GPU is slow.
  std::chrono::seconds time_limit{60};
  bool json = false;  ///< print the findings as one JSON object
};

/// Prints the findings to stdout, and returns kWithinBudget if the gate can run with these options,
/// else kNotMeasured. An emulated program, and a machine without a GPU, need the emulator only,
/// unless the options ask for a GPU. Checks that touch CUDA run in child processes, whose crashes
/// are findings.
outcome::ExitCode run_doctor(const DoctorOptions& options);

}  // namespace warpgauge::doctor
