// Judges the machine code of compiled files, without a GPU and without running anything.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measuring/provenance.h"
#include "harness/outcome/exit_code.h"
#include "harness/programs/judge_kernels.h"

namespace warpgauge::inspect {

inline constexpr std::chrono::seconds kUsualCompilationLimit{600};

struct InspectOptions : programs::JudgeOptions {
  std::vector<std::filesystem::path> paths;  ///< files with machine code, and folders of them
  std::vector<std::string> archs;            ///< names of architectures, or globs; empty: all
  std::optional<std::uint32_t> threads;      ///< of a block; nothing: those of the launch bounds
  std::chrono::seconds time_limit = kUsualCompilationLimit;  ///< for each compilation of PTX
};

/// Judges the kernels in all files, and writes facts.jsonl, results.json and summary.md. A damaged
/// file, or a named file without machine code, is a fault and does not stop the others. Throws
/// std::runtime_error for a path that does not exist, std::invalid_argument for bad options.
outcome::ExitCode inspect(const InspectOptions& options);

/// Whether the path is a folder or a file that may have machine code, as against a file of facts.
bool may_be_inspected(const std::filesystem::path& path);

/// Files with the output of `ptxas -v`, each by the compiled file that it is about.
using PtxasLogs = std::map<std::filesystem::path, std::filesystem::path>;

/// Adds the values of the kernels in all files to a file of facts, without judging them. Throws
/// std::runtime_error for the first fault, and if there is no kernel.
void record(const InspectOptions& options, const std::filesystem::path& facts,
            const Compilation& compilation = {}, const PtxasLogs& logs = {});

}  // namespace warpgauge::inspect
