// Finds the name by which the running program was started.
#include "harness/process/program_name.h"

#include <cerrno>  // program_invocation_short_name
#include <filesystem>

namespace warpgauge::process {
namespace {

std::string without(std::string name, std::string_view suffix) {
  if (name.size() > suffix.size() && name.ends_with(suffix)) {
    name.resize(name.size() - suffix.size());
  }
  return name;
}

}  // namespace

std::string program_name() { return without(program_invocation_short_name, kEmulatedSuffix); }

std::string gauge_name() {
  namespace fs = std::filesystem;
  const std::string name = program_name();
  const std::string gauge = without(without(name, "-check"), "-bench");
  std::error_code unknown;
  const fs::path beside = fs::read_symlink("/proc/self/exe", unknown).replace_filename(gauge);
  const bool there = fs::exists(beside, unknown) ||
                     fs::exists(fs::path(beside) += std::string(kEmulatedSuffix), unknown);
  return there ? gauge : name;
}

}  // namespace warpgauge::process
