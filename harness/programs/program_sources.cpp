// Visits all names of files in the kernels and the faults of a program.
#include "harness/programs/program_sources.h"

#include <string>
#include <utility>

namespace warpgauge::programs {
namespace {

/// Visits the file of a line, and those of the chain that it was inlined through.
void visit_files(auto& line, const auto& visit) {
  visit(line.file);
  for (auto& call : line.inlined) visit(call.file);
}

void visit_all_files(auto& kernel, const auto& visit) {
  for (auto& line : kernel.lines) visit_files(line, visit);
  for (auto& line : kernel.compiled.lines) visit_files(line.source, visit);
}

}  // namespace

void add_sources(files::SourceFolder& folder, const CountedKernel& kernel) {
  visit_all_files(kernel, [&](const std::string& file) { folder.add(file); });
}

void add_sources(files::SourceFolder& folder, const metrics::Fact& fault) {
  visit_files(fault, [&](const std::string& file) { folder.add(file); });
}

void name_from(std::string_view folder, CountedKernel& kernel) {
  visit_all_files(kernel, [&](std::string& file) { file = files::relative_to(folder, file); });
  for (metrics::LineCounts& line : kernel.lines) {
    for (auto& [group, trust] : line.trust) {
      trust.reason = files::with_relative_paths(folder, std::move(trust.reason));
    }
  }
}

void name_from(std::string_view folder, metrics::Fact& fault) {
  visit_files(fault, [&](std::string& file) { file = files::relative_to(folder, file); });
  fault.other = files::relative_to(folder, fault.other);
  fault.reason = files::with_relative_paths(folder, std::move(fault.reason));
}

}  // namespace warpgauge::programs
