#include "harness/emulate/emulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include "harness/build_info.h"
#include "harness/case_facts.h"
#include "harness/files/demangled.h"
#include "harness/files/temporary_path.h"
#include "harness/files/write_file.h"
#include "harness/outcome/exit_code.h"
#include "harness/outcome/finding_text.h"
#include "harness/process/child_program.h"
#include "metrics/architectures.h"
#include "metrics/counts_report.h"

namespace warpgauge::emulate {
namespace {

namespace fs = std::filesystem;
using metrics::LineCounts;

std::uint64_t sectors(const metrics::Counts& counts) {
  return counts.global_load_sectors + counts.global_store_sectors + counts.global_atomic_sectors;
}

/// The cost of a line beyond the ideal.
std::uint64_t waste(const LineCounts& line) {
  const auto beyond = [](std::uint64_t taken, std::uint64_t ideal) {
    return taken > ideal ? taken - ideal : 0;
  };
  return beyond(line.counts.shared_wavefronts, line.counts.shared_wavefronts_ideal) +
         beyond(sectors(line.counts), line.counts.global_sectors_ideal) + line.counts.local_sectors;
}

/// The lowest confidence of the counts of memory accesses of the line.
std::string_view confidence(const LineCounts& line) {
  auto worst = metrics::Confidence::exact;
  for (const char* group : {"shared", "global", "local"}) {
    worst = std::max(worst, metrics::trust_in(line, std::string(group) + ".").confidence);
  }
  return metrics::to_string(worst);
}

/// Each once.
std::set<std::string> cures_of(const LineCounts& line) {
  std::set<std::string> cures;
  for (const auto& [metric, cure] : line.cures) cures.insert(cure);
  return cures;
}

std::string pair_text(std::uint64_t taken, std::uint64_t ideal) {
  return taken == 0 && ideal == 0 ? "-" : fmt::format("{}/{}", taken, ideal);
}

std::string table(std::vector<LineCounts> lines) {
  std::map<std::string, std::vector<LineCounts>> kernels;
  for (LineCounts& line : lines) kernels[line.kernel].push_back(std::move(line));
  std::string text;
  auto out = std::back_inserter(text);
  for (auto& [kernel, of_kernel] : kernels) {
    fmt::format_to(out, "{}\n  {:>17} {:>17} {:>9}  {:<9}  {}\n", files::demangled(kernel),
                   "wavefronts", "global sectors", "local", "counts", "line");
    fmt::format_to(out, "  {:>17} {:>17} {:>9}\n", "taken/ideal", "taken/ideal", "sectors");
    std::ranges::stable_sort(of_kernel, std::greater<>(), waste);
    for (const LineCounts& line : of_kernel) {
      const metrics::Counts& counts = line.counts;
      const std::uint64_t requests = counts.shared_requests + counts.global_load_requests +
                                     counts.global_store_requests + counts.global_atomic_requests +
                                     counts.local_requests;
      if (requests == 0) continue;
      fmt::format_to(out, "  {:>17} {:>17} {:>9}  {:<9}  {}\n",
                     pair_text(counts.shared_wavefronts, counts.shared_wavefronts_ideal),
                     pair_text(sectors(counts), counts.global_sectors_ideal), counts.local_sectors,
                     confidence(line),
                     line.file.empty() ? "(no line information: compile with -lineinfo)"
                                       : fmt::format("{}:{}", line.file, line.line));
      for (const std::string& cure : cures_of(line)) fmt::format_to(out, "    {}\n", cure);
    }
  }
  return text;
}

std::string faults_text(const EmulateOptions& options,
                        const std::vector<metrics::DeviceFault>& faults) {
  std::vector<metrics::Fact> facts;
  for (const metrics::DeviceFault& fault : faults) {
    Case one;
    one.kind = metrics::CaseKind::emulated;
    one.id = {.family = id_word(fs::path(options.command[0]).filename().string()),
              .variant = id_word(files::plain_name(files::demangled(fault.kernel))),
              .type = "fault",
              .size = "run"};
    facts.push_back(error_fact(one, fault, options.arch));
  }
  std::string text;
  for (const auto& finding : outcome::findings_of(facts, metrics::Run(), outcome::Requirements())) {
    text += "\n" + outcome::finding_text(finding, "", true);
  }
  return text;
}

/// How many processes were counted, if there are several, and those that were not.
std::string processes_text(const std::vector<metrics::ReportedProcess>& processes) {
  std::string text;
  const auto counted = std::ranges::count(processes, true, &metrics::ReportedProcess::ended);
  if (processes.size() > 1) text += fmt::format("\nthe counts are of {} processes\n", counted);
  for (const metrics::ReportedProcess& process : processes) {
    if (process.ended) continue;
    text += fmt::format(
        "the counts of {} (process {}) are missing: it still runs, was killed, or called exec() "
        "after its kernels; let it end by exit() or return, and wait for it\n",
        process.program, process.id.substr(0, process.id.find('-')));
  }
  return text;
}

}  // namespace

int emulate_program(const EmulateOptions& options) {
  metrics::architecture(
      options.arch);  // throws here: the program itself would only blame a variable
  const fs::path library(kBuildInfo.emulated_cudart);
  if (!fs::exists(library)) {
    throw std::runtime_error(library.string() + ": not there; build the target emulated_cudart");
  }
  const fs::path folder = options.json.parent_path();
  if (!folder.empty() && !fs::is_directory(folder)) {
    throw std::runtime_error(
        fmt::format("--json {}: there is no folder {}", options.json.string(), folder.string()));
  }
  const files::TemporaryPath report = files::TemporaryPath::file();
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string before = preloaded == nullptr ? "" : ":" + std::string(preloaded);
  const process::Ending ending = process::run_to_its_end(
      options.command, {{"LD_PRELOAD", library.string() + before},
                        {"WARPGAUGE_EMULATED_ARCH", options.arch},
                        {"WARPGAUGE_EMULATED_OLDER_PTX", "1"},
                        {metrics::kReportVariable, report.path().string()}});
  const int code = ending.exit_code();
  metrics::CountsReport counted = metrics::read_report(report.path());
  const auto processes = std::exchange(counted.processes, {});
  if (!options.json.empty()) files::write_file(options.json, metrics::report_text(counted));
  fmt::print(stderr, "{}{}{}", table(counted.lines), faults_text(options, counted.faults),
             processes_text(processes));
  if (!counted.faults.empty()) return outcome::kFault;
  if (ending.signal != 0) {
    fmt::print(stderr, "{} {}: what it was doing then is not counted\n", options.command[0],
               ending.str());
  }
  if (counted.lines.empty()) {
    fmt::print(
        stderr,
        "{}: no kernel ran to its end on the emulator{}. The program must be linked with the "
        "shared CUDA runtime, {} (nvcc -cudart shared): build it with `warpgauge cc -- nvcc`\n",
        options.command[0], code == 0 ? "" : fmt::format(", and it {}", ending.str()),
        library.filename().string());
    return code == 0 ? static_cast<int>(outcome::kFault) : code;
  }
  const bool all_ended = std::ranges::all_of(processes, &metrics::ReportedProcess::ended);
  return all_ended || code != 0 ? code : static_cast<int>(outcome::kFault);
}

}  // namespace warpgauge::emulate
