#include "harness/toolchain/toolchain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string_view>

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

std::vector<Toolkit> toolkits_of(const std::vector<fs::path>& folders,
                                 const std::vector<Source>& sources) {
  std::vector<Toolkit> toolkits;
  for (const fs::path& folder : folders) {
    toolkits.push_back(toolkit_in(folder));
    for (const Source& source : sources) require_compiler(toolkits.back(), source);
  }
  return toolkits;
}

/// Compiles all sources by all toolkits, and records the facts of the kernels.
class Compilations {
 public:
  Compilations(const std::vector<Source>& sources, const std::vector<std::string>& arguments,
               std::size_t toolkits)
      : sources_(sources),
        arguments_(arguments),
        hash_(hash_of(sources)),
        progress_("compiled", toolkits * count()) {}

  /// Into `folder`, a folder for each architecture. Returns the file of facts.
  fs::path add(const Toolkit& toolkit, const fs::path& folder) {
    const outcome::OutFolder out(folder);
    fs::remove(folder / kComparison);                     // of an earlier run
    std::map<std::string, std::vector<fs::path>> cubins;  // by architecture
    std::map<fs::path, fs::path> messages;                // of a cubin
    for (const Source& source : sources_) {
      for (const std::string& arch : source.archs) {
        const fs::path place = folder / arch;
        fs::create_directories(place);
        const fs::path cubin = place / (source.name + ".cubin");
        messages[cubin] = place / (source.name + ".txt");
        compile(toolkit, source, arch, arguments_, cubin, messages[cubin]);
        cubins[arch].push_back(cubin);
        progress_.done(fmt::format("{} for {} by CUDA {}", source.name, arch, toolkit.version));
      }
    }
    for (const auto& [arch, things] : cubins) {
      inspect::InspectOptions options;
      options.things = things;
      inspect::record(options, out.facts(),
                      {.toolkit = toolkit.version,
                       .flags = fmt::format("{}", fmt::join(arguments_, " ")),
                       .source_hash = hash_,
                       .messages = messages});
    }
    return out.facts();
  }

 private:
  std::size_t count() const {
    std::size_t files = 0;
    for (const Source& source : sources_) files += source.archs.size();
    return files;
  }

  const std::vector<Source>& sources_;
  const std::vector<std::string>& arguments_;
  const std::string hash_;
  process::Progress progress_;
};

/// The files of facts, one of each toolkit.
std::vector<fs::path> compile_all(const ToolchainOptions& options,
                                  const std::vector<Source>& sources,
                                  const std::vector<Toolkit>& toolkits, const fs::path& out) {
  Compilations compilations(sources, options.arguments, toolkits.size());
  std::vector<fs::path> facts;
  for (const Toolkit& toolkit : toolkits) {
    const std::string name = fmt::format("{}-{}", facts.size() + 1, toolkit.version);
    facts.push_back(compilations.add(toolkit, out / name));
  }
  return facts;
}

outcome::ExitCode compare_in(const ToolchainOptions& options, const fs::path& out) {
  const std::vector<Source> sources = sources_of(options.sources, options.archs);
  const std::vector<Toolkit> toolkits = toolkits_of(options.toolkits, sources);
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
    code = outcome::worse(code, static_cast<outcome::ExitCode>(diff::diff_runs(diff)));
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
