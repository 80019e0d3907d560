// The command that counts the kernels of any CUDA program on the emulator.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/outcome/exit_code.h"
#include "harness/programs/run_program.h"
#include "harness/runtime.h"

namespace warpgauge::emulate {

/// What the program sees of the emulated GPU.
struct EmulatedDevice {
  std::string arch = "sm_90";
  std::uint64_t memory_bytes = 0;  ///< 0: as many as this machine has
  int driver = 0;                  ///< the CUDA of its driver: 13000 for 13.0; 0: the build's
};

/// The number of a version: "13.5" -> 13050. Throws std::invalid_argument for another text.
int driver_number(const std::string& version);

/// Runs the program on the emulator: see programs::run_program(). `coverage` gets what ran, in
/// lcov's format; empty: none. `checks`: names of them, with commas between; `orders` as for
/// check_accesses(). A launch that takes more CPU time than options.launch_limit, or that only
/// waits for as long, is a fault.
outcome::ExitCode emulate_program(const programs::ProgramOptions& options,
                                  const EmulatedDevice& device,
                                  const std::filesystem::path& coverage, const std::string& checks,
                                  const OtherOrders& orders);

/// Runs a program on the emulator with its output in a file, and adds the counts of its kernels to
/// a file of facts: see programs::record_program(). A launch may take half of the time limit.
void record(const std::vector<std::string>& command, const std::string& arch,
            const std::filesystem::path& output, const std::filesystem::path& facts,
            const Compilation& compilation, std::chrono::seconds time_limit);

}  // namespace warpgauge::emulate
