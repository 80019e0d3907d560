// Compares the cases of this program with those that the program for GPUs lists.
#include "harness/cases/gpu_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include "harness/cases/built_architectures.h"
#include "harness/cases/registry.h"
#include "harness/process/output_of.h"
#include "harness/runtime.h"

namespace warpgauge {
namespace {

/// The path of the command line tool for GPUs with the kernels of this program.
std::filesystem::path tool_on_gpu() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  std::string name = program.filename();
  for (const std::string_view suffix : {"-emulated", "-check", "-bench"}) {
    if (name.ends_with(suffix)) name.erase(name.size() - suffix.size());
  }
  return program.parent_path() / name;
}

}  // namespace

std::string why_not_run(const Case& test_case, const std::string& arch) {
  if (is_emulated() && !test_case.gpu_only.empty()) return "needs a GPU: " + test_case.gpu_only;
  if (exists_on(test_case, arch)) return "";
  return fmt::format("needs {}, and runs as {} here", needs_text(test_case), arch);
}

std::vector<std::string> gpu_only_cases(const Selection& selection) {
  if (!is_emulated()) return {};
  std::vector<std::string> command = {tool_on_gpu(), "list"};
  for (const std::string& glob : selection.filter) command.push_back("--filter=" + glob);
  for (const std::string& glob : selection.exclude) command.push_back("--exclude=" + glob);
  if (selection.large) command.emplace_back("--large");
  std::istringstream listed(process::output_of(command).value_or(""));
  std::set<std::string> here;
  for (const Case& test_case : Registry::instance().cases()) here.insert(test_case.id.str());
  std::vector<std::string> ids;
  for (std::string id; std::getline(listed, id);) {
    if (!here.contains(id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace warpgauge
