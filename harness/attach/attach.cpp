// Runs a program with the injected library, and judges what its kernels did.
#include "harness/attach/attach.h"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "harness/attach/attached_facts.h"
#include "harness/attach/attached_results.h"
#include "harness/attach/wait_limit.h"
#include "harness/build_info.h"
#include "harness/devices.h"

namespace warpgauge::attach {
namespace {

namespace fs = std::filesystem;

fs::path injected_library() {
  const fs::path library(kBuildInfo.injection);
  if (library.empty()) {
    throw std::runtime_error(
        "attach: this warpgauge was built without the library that counts in programs, because "
        "CUDA "
        "had no CUPTI; install CUPTI and build again, or install warpgauge");
  }
  if (!fs::exists(library)) {
    throw std::runtime_error(library.string() +
                             ": not there; build the target warpgauge_injection");
  }
  if (const char* other = std::getenv(kInjection); other != nullptr && *other != '\0') {
    throw std::runtime_error(
        fmt::format("{}={}: another tool is injected already, and CUDA takes one; unset it",
                    kInjection, other));
  }
  return library;
}

/// The library that CUDA loads into the program, which counts by CUPTI.
class Injection : public programs::Source {
 public:
  explicit Injection(std::chrono::seconds launch_limit) : launch_limit_(launch_limit) {}

  const programs::Counter& counter() const override { return kCounter; }
  std::vector<std::string> own_options() const override {
    if (launch_limit_ == programs::kUsualLaunchLimit) return {};
    return {"--timeout", std::to_string(launch_limit_.count())};
  }

  std::map<std::string, std::string> variables(const fs::path& folder) const override {
    return {{kInjection, library_.string()},
            {kAttachFolder, folder.string()},
            {kWaitLimit, std::to_string(launch_limit_.count())}};
  }

  programs::Counted counted(const std::string& program, const fs::path& folder) const override {
    const std::vector<AttachedProcess> processes = results_in(folder);
    programs::Counted counted{.kernels = attached_kernels(processes, folder),
                              .faults = {},
                              .lost = {},
                              .why_no_kernel = program + ": no kernel was launched"};
    if (processes.empty()) {
      const std::string no_device = why_no_device();
      counted.why_no_kernel =
          no_device.empty()
              ? fmt::format(
                    "{}: CUDA was never initialised with the library: it uses no GPU, or "
                    "does not pass {} on",
                    program, kInjection)
              : fmt::format("{}: {}; warpgauge emulate counts it without one", program, no_device);
    }
    for (const std::string& kernel : endless_kernels_in(folder)) {
      counted.faults.push_back(programs::program_failure(
          kCounter, program,
          fmt::format(
              "it waited for the GPU for longer than its limit of {} s (--timeout), and was "
              "ended: {}, which it launched last, or one before it does not end",
              launch_limit_.count(), kernel)));
    }
    for (const AttachedProcess& process : processes) {
      for (const std::string& warning : process.warnings) {
        counted.lost.push_back(
            fmt::format("not counted: {} (process {}: {})", warning, process.pid, process.command));
      }
    }
    return counted;
  }

 private:
  const std::chrono::seconds launch_limit_;
  fs::path library_ = injected_library();
};

}  // namespace

outcome::ExitCode attach_to_program(const programs::ProgramOptions& options) {
  return programs::run_program(options, Injection(options.launch_limit));
}

}  // namespace warpgauge::attach
