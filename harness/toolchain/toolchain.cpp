// Compiles the same sources by several toolkits, and compares their facts.
#include "harness/toolchain/toolchain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <set>
#include <stdexcept>
#include <string_view>

#include "harness/emulate/emulate.h"
#include "harness/files/temporary_path.h"
#include "harness/inspect/inspect.h"
#include "harness/outcome/out_folder.h"
#include "harness/process/progress.h"
#include "harness/toolchain/compile.h"
#include "harness/toolchain/toolkit.h"

namespace warpgauge::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kComparison = "diff.json";

void check(const ToolchainOptions& options) {
  constexpr std::size_t kFewest = 2;
  if (options.toolkits.size() < kFewest) {
    throw std::invalid_argument("name two toolkits or more, each by --with");
  }
  if (!options.diff.json.empty() && options.toolkits.size() > kFewest) {
    throw std::invalid_argument(
        "--json is for two toolkits; of more --out keeps a diff.json for each comparison");
  }
}

std::vector<Toolkit> toolkits_of(const ToolchainOptions& options,
                                 const std::vector<Source>& sources) {
  if (options.emulate) require_programs(sources);
  std::vector<Toolkit> toolkits;
  for (const fs::path& folder : options.toolkits) {
    toolkits.push_back(toolkit_in(folder, options.time_limit));
    if (options.emulate) require_runtime(toolkits.back());
    for (const Source& source : sources) require_compiler(toolkits.back(), source);
  }
  return toolkits;
}

/// Compiles all sources by all toolkits, and records the facts of the kernels.
class Compilations {
 public:
  Compilations(const ToolchainOptions& options, const std::vector<Source>& sources,
               std::size_t toolkits)
      : options_(options),
        sources_(sources),
        archs_(archs_of(sources)),
        hash_(hash_of(sources)),
        progress_(options.emulate ? "compiled and emulated" : "compiled", toolkits * count()) {}

  /// Into `folder`, a folder for each architecture. Returns the file of facts.
  fs::path add(const Toolkit& toolkit, const fs::path& folder) {
    const outcome::OutFolder out(folder);
    fs::remove(folder / kComparison);  // an earlier run may have left it
    const Compilation compilation = {.toolkit = toolkit.version,
                                     .flags = fmt::format("{}", fmt::join(options_.arguments, " ")),
                                     .source_hash = hash_};
    for (const std::string& arch : archs_) {
      const fs::path place = folder / arch;
      fs::create_directories(place);
      if (options_.emulate) {
        add_program(toolkit, arch, place, out.facts(), compilation);
      } else {
        add_cubins(toolkit, arch, place, out.facts(), compilation);
      }
    }
    return out.facts();
  }

 private:
  static std::set<std::string> archs_of(const std::vector<Source>& sources) {
    std::set<std::string> archs;
    for (const Source& source : sources) archs.insert(source.archs.begin(), source.archs.end());
    return archs;
  }

  std::size_t count() const {
    if (options_.emulate) return archs_.size();
    std::size_t files = 0;
    for (const Source& source : sources_) files += source.archs.size();
    return files;
  }

  /// Adds the facts of the cubins for this architecture.
  void add_cubins(const Toolkit& toolkit, const std::string& arch, const fs::path& place,
                  const fs::path& facts, const Compilation& compilation) {
    inspect::InspectOptions cubins;
    inspect::PtxasLogs logs;
    for (const Source& source : sources_) {
      if (!source.archs.contains(arch)) continue;
      const CompilerRun run = {.arch = arch,
                               .arguments = options_.arguments,
                               .output = place / (source.name + ".cubin"),
                               .messages = place / (source.name + ".txt")};
      compile(toolkit, source, run);
      cubins.paths.push_back(run.output);
      logs[run.output] = run.messages;
      progress_.done(fmt::format("{} for {} by CUDA {}", source.name, arch, toolkit.version));
    }
    inspect::record(cubins, facts, compilation, logs);
  }

  /// The program of all sources: its machine code, and what it does.
  void add_program(const Toolkit& toolkit, const std::string& arch, const fs::path& place,
                   const fs::path& facts, const Compilation& compilation) {
    const CompilerRun run = {.arch = arch,
                             .arguments = options_.arguments,
                             .output = place / "program",
                             .messages = place / "program.txt"};
    build(toolkit, sources_, run);
    inspect::InspectOptions code;
    code.paths = {run.output};
    inspect::record(code, facts, compilation, {{run.output, run.messages}});
    std::vector<std::string> command = {fs::absolute(run.output)};
    command.insert(command.end(), options_.program_arguments.begin(),
                   options_.program_arguments.end());
    try {
      emulate::record(command, arch, place / "output.txt", facts, compilation, options_.time_limit);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(
          fmt::format("{}: its program fails on {}: {}", toolkit.str(), arch, error.what()));
    }
    progress_.done(fmt::format("a program for {} by CUDA {}", arch, toolkit.version));
  }

  const ToolchainOptions& options_;
  const std::vector<Source>& sources_;
  const std::set<std::string> archs_;
  const std::string hash_;
  process::Progress progress_;
};

/// The files of facts, one of each toolkit.
std::vector<fs::path> compile_all(const ToolchainOptions& options,
                                  const std::vector<Source>& sources,
                                  const std::vector<Toolkit>& toolkits, const fs::path& out) {
  Compilations compilations(options, sources, toolkits.size());
  std::vector<fs::path> facts;
  for (const Toolkit& toolkit : toolkits) {
    const std::string name = fmt::format("{}-{}", facts.size() + 1, toolkit.version);
    facts.push_back(compilations.add(toolkit, out / name));
  }
  return facts;
}

outcome::ExitCode compare_in(const ToolchainOptions& options, const fs::path& out) {
  const std::vector<Source> sources = sources_of(options.sources, options.archs);
  const std::vector<Toolkit> toolkits = toolkits_of(options, sources);
  const std::vector<fs::path> facts = compile_all(options, sources, toolkits, out);
  outcome::ExitCode code = outcome::kWithinBudget;
  for (std::size_t i = 1; i < toolkits.size(); ++i) {
    diff::DiffOptions diff = options.diff;
    diff.a = facts.front();
    diff.b = facts[i];
    diff.name_a = toolkits.front().path.string();
    diff.name_b = toolkits[i].path.string();
    if (diff.json.empty()) diff.json = facts[i].parent_path() / kComparison;
    if (i > 1) fmt::print("\n");
    code = outcome::worse(code, diff::diff_runs(diff));
  }
  return code;
}

}  // namespace

outcome::ExitCode toolchain(const ToolchainOptions& options) {
  check(options);
  if (!options.out.empty()) return compare_in(options, options.out);
  const auto temporary =
      files::TemporaryPath::folder_in(fs::temp_directory_path(), "warpgauge-toolchain-");
  return compare_in(options, temporary.path());
}

}  // namespace warpgauge::toolchain
