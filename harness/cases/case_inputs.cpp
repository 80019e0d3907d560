#include "harness/cases/case_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>
#include <sstream>
#include <utility>
#include <vector>

#include "harness/cases/family_budgets.h"
#include "harness/files/mapped_file.h"
#include "metrics/base/hash.h"

namespace warpgauge {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNames = {{
    {"code", "its code"},
    {"linked", "what the program is linked with"},
    {"counting", "warpgauge"},
    {"budgets", "the budgets"},
    {"machine", "GPU, driver or libraries"},
    {"options", "options of the gate"},
}};

std::string content_hash(const fs::path& file) {
  if (file.empty() || !fs::exists(file)) return "none";
  return metrics::hash_text(files::MappedFile(file).bytes());
}

/// The variables that the driver and libraries of CUDA read, but for the choice of a device.
std::string cuda_variables() {
  std::set<std::string_view> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    const auto begins = [&](std::string_view prefix) { return text.starts_with(prefix); };
    if (begins("CUDA_VISIBLE_DEVICES=")) continue;
    if (std::ranges::any_of(std::array{"CUDA_", "CUBLAS", "CUDNN", "CUSPARSE", "NVIDIA_TF32"},
                            begins)) {
      variables.insert(text);
    }
  }
  return fmt::format("{}", fmt::join(variables, "\n"));
}

/// A library that was named to the linker and is not among the loaded ones, so that its content is
/// not known; empty if there is none. Those that glibc has in itself are files without content.
std::string not_loaded(std::string_view named, const std::set<std::string>& loaded) {
  constexpr std::array kInGlibc = {"m", "pthread", "dl", "rt", "util", "c"};
  std::istringstream names{std::string(named)};
  for (std::string name; std::getline(names, name);) {
    const std::string file = "lib" + name + ".so";
    const auto is_it = [&](const std::string& library) { return library.starts_with(file); };
    if (std::ranges::find(kInGlibc, name) != kInGlibc.end()) continue;
    if (std::ranges::none_of(loaded, is_it)) return name;
  }
  return "";
}

/// Adds hashes of files to those of the families that they register, or to `of_none`.
void add_files(std::string_view text, std::map<std::string, std::string>& families,
               std::string& of_none) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, family;
    words >> hash;
    bool has_family = false;
    for (; words >> family; has_family = true) families[family] += hash;
    if (!has_family) of_none += hash;
  }
}

}  // namespace

CaseInputs::CaseInputs(const Circumstances& circumstances)
    : project_(project_budget_path(circumstances.project)),
      not_loaded_(not_loaded(circumstances.named_libraries, circumstances.libraries)) {
  std::string linked = fmt::format("{} {}", kBuildInfo.version, kBuildInfo.toolkit), counting;
  add_files(circumstances.linked_files, code_, linked);
  add_files(circumstances.other_files, code_, counting);
  for (auto& [family, hashes] : code_) hashes = metrics::hash_text(hashes);
  common_ = {{"linked", metrics::hash_text(linked)},
             {"counting", metrics::hash_text(counting)},
             {"machine", metrics::hash_text(fmt::format("{}\n{}\n{}", circumstances.machine,
                                                        fmt::join(circumstances.libraries, "\n"),
                                                        cuda_variables()))},
             {"options", metrics::hash_text(circumstances.options)}};
}

const metrics::Inputs& CaseInputs::of(const Case& one) {
  const auto [place, is_new] = known_.try_emplace(one.id.family);
  if (is_new && why_unknown(one).empty()) {
    metrics::Inputs& inputs = place->second;
    inputs = common_;
    inputs["code"] = code_.at(one.id.family);
    inputs["budgets"] = metrics::hash_text(content_hash(budget_path(one)) + content_hash(project_));
  }
  return place->second;
}

std::string CaseInputs::why_unknown(const Case& one) const {
  if (!not_loaded_.empty()) {
    return fmt::format(
        "the program is linked with {}, of which nothing is known: name the file or a "
        "target in CMake",
        not_loaded_);
  }
  return code_.contains(one.id.family) ? "" : "no object of the build is known to register it";
}

std::string_view name_of_input(std::string_view word) {
  const auto found = std::ranges::find(kNames, word, &decltype(kNames)::value_type::first);
  return found == kNames.end() ? word : found->second;
}

}  // namespace warpgauge
