// What the exact values of a case depend on, as hashes: where all are the same, the values are.
//
//   code      the objects that register its family: kernels, inputs, references, sizes, headers,
//   flags linked    what else the program is linked with, but other families, and the toolkit
//   counting  what of warpgauge runs and counts
//   budgets   the family's file and the project's: what must be measured
//   machine   GPU and driver, or the emulator, shared libraries, and variables that CUDA reads
//   options   those that change what is measured
//
// Files that a case reads while it runs are not among them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "harness/build_info.h"
#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"

namespace warpgauge {

/// What cases run in, where, and how they are asked for.
struct Circumstances {
  std::string machine;              ///< GPU and driver, or the emulator
  std::set<std::string> libraries;  ///< as loaded_libraries() of the process that runs cases
  std::string options;              ///< those that change what is measured
  std::filesystem::path project;    ///< as read_project_budgets()
  // Of this program.
  std::string_view linked_files = kLinkedFiles, other_files = kOtherFiles;
  std::string_view named_libraries = kBuildInfo.named_libraries;
};

class CaseInputs {
 public:
  explicit CaseInputs(const Circumstances& circumstances);
  /// Of the case; empty where they are not all known, and then why_unknown() says so.
  const metrics::Inputs& of(const Case& one);
  std::string why_unknown(const Case& one) const;

 private:
  metrics::Inputs common_;
  std::filesystem::path project_;
  std::string not_loaded_;  // a library that the program was linked with by its name alone
  std::map<std::string, std::string> code_;  // by family
  std::map<std::string, metrics::Inputs> known_;
};

/// "its code", "the budgets": what an input is, for people.
std::string_view name_of_input(std::string_view word);

}  // namespace warpgauge
