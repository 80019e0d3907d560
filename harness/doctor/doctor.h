// The doctor: checks everything that measuring needs, and prints one fix per problem.
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
  std::chrono::seconds time_limit{
      60};            ///< for each check that may hang: the first use of a GPU is slow
  bool json = false;  ///< print the findings as one JSON object
};

/// Prints the findings to stdout. Checks that can crash or hang run in child processes, and a crash
/// is a finding. Returns kWithinBudget if the gate can run as `options` ask, else kNotMeasured: on
/// the GPU if there is one or --device asks for it, else on the emulator; an emulated program
/// checks the emulator. This process never touches CUDA.
outcome::ExitCode run_doctor(const DoctorOptions& options);

}  // namespace warpgauge::doctor
