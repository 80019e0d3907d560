// The command that judges machine code: what is compiled already, without a GPU.
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
  std::vector<std::filesystem::path> things;  ///< files with machine code, and folders of them
  std::vector<std::string> archs;             ///< names or globs of them; empty: all
  std::optional<std::uint32_t> threads;       ///< a block's; nothing: launch bounds
  std::chrono::seconds time_limit = kUsualCompilationLimit;  ///< for each compilation of PTX
};

/// Judges the kernels in all things, and writes facts.jsonl, results.json and summary.md. A file
/// that is damaged, or is named and has no machine code, is a fault and does not stop the others.
/// Throws for a thing that is not there, and for options that make no sense.
outcome::ExitCode inspect(const InspectOptions& options);

/// Whether a file or folder is to be inspected, and is no file of facts.
bool is_thing(const std::filesystem::path& path);

/// The files of what `ptxas -v` said, by the thing that it was said of.
using Messages = std::map<std::filesystem::path, std::filesystem::path>;

/// Adds the values of the kernels in all things to a file of facts, without judging them. Throws
/// std::runtime_error for the first fault, and where there is no kernel.
void record(const InspectOptions& options, const std::filesystem::path& facts,
            const Compilation& compilation = {}, const Messages& messages = {});

}  // namespace warpgauge::inspect
