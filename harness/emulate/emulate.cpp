// Runs a program on the emulator, and judges what its kernels did.
#include "harness/emulate/emulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "harness/build_info.h"
#include "harness/measuring/coverage_file.h"
#include "harness/measuring/error_facts.h"
#include "harness/process/found_program.h"
#include "harness/programs/linkage.h"
#include "harness/runtime.h"
#include "metrics/architecture/architectures.h"
#include "metrics/architecture/occupancy.h"
#include "metrics/base/check_rules.h"
#include "metrics/base/demangled.h"
#include "metrics/counting/emulator_report.h"
#include "metrics/counting/order_file.h"

namespace warpgauge::emulate {
namespace {

namespace fs = std::filesystem;
using metrics::ReportedCode;
using metrics::ReportedKernel;

constexpr programs::Counter kCounter{.command = "emulate",
                                     .kind = metrics::CaseKind::emulated,
                                     .source = "emulator",
                                     .compile = "cubin"};

fs::path emulated(std::string_view library) {
  if (!fs::exists(library)) {
    throw std::runtime_error(
        std::string(library) +
        ": not there; build the targets warpgauge_emulated_driver and warpgauge_audit");
  }
  return library;
}

fs::path report_in(const fs::path& folder) { return folder / "report.jsonl"; }

metrics::Occupancy occupancy(const metrics::Architecture& arch, const ReportedCode& code,
                             const metrics::Launch& shape) {
  const auto& [x, y, z] = shape.block;
  return metrics::occupancy(
      arch, {.threads = static_cast<int>(x * y * z),
             .registers_per_thread = static_cast<int>(code.resources.registers.value_or(0)),
             .shared_static_bytes = code.shared_static_bytes,
             .shared_dynamic_bytes = shape.dynamic_shared_bytes,
             .barriers = static_cast<int>(code.resources.barriers.value_or(0)),
             .cluster_blocks = static_cast<int>(shape.cluster_blocks())});
}

/// Adds what the machine code says: the worst of its codes and shapes, if the kernel has several;
/// nothing where it is not known of all.
void add_compile_time(const metrics::Architecture& arch, const ReportedKernel& kernel,
                      programs::CountedKernel& counted) {
  auto& values = counted.compiled.values;
  const auto most = [&](std::string_view metric, double value) {
    values[metric] = std::max(values[metric], value);
  };
  for (const metrics::Launch& shape : kernel.counted) {
    most("cluster.blocks", static_cast<double>(shape.cluster_blocks()));
  }
  const bool all_known = std::ranges::all_of(
      kernel.codes, [](const ReportedCode& code) { return code.resources.registers.has_value(); });
  if (kernel.codes.empty() || !all_known) return;
  bool stack_known = true;
  for (const ReportedCode& code : kernel.codes) {
    const std::uint32_t registers = *code.resources.registers;
    most("registers", registers);
    most("registers.most", code.resources.most_registers.value_or(registers));
    const double least = code.resources.least_registers.value_or(registers);
    double& known_least = values.try_emplace("registers.least", least).first->second;
    known_least = std::min(known_least, least);
    most("shared.static_bytes", static_cast<double>(code.shared_static_bytes));
    most("stack.bytes", code.resources.stack_bytes.value_or(0));
    stack_known &= code.resources.stack_bytes.has_value();
    for (const metrics::Launch& shape : kernel.counted) {
      const metrics::Occupancy expected = occupancy(arch, code, shape);
      const auto known = values.try_emplace("occupancy.theoretical", expected.fraction).first;
      known->second = std::min(known->second, expected.fraction);
      if (expected.doubt.empty()) continue;
      counted.compiled.doubts["occupancy.theoretical"] = {metrics::Confidence::estimate,
                                                          expected.doubt};
    }
  }
  if (!stack_known) values.erase("stack.bytes");
}

/// The path, and then those of the variable.
std::string before_others(const fs::path& path, const char* variable) {
  const char* const others = std::getenv(variable);
  const bool is_set = others != nullptr && *others != '\0';
  return path.string() + (is_set ? std::string(":") + others : "");
}

/// The processes that ended without a report, and so without counts.
std::vector<std::string> lost_of(const std::vector<metrics::ReportedProcess>& processes) {
  std::vector<std::string> lost;
  for (const metrics::ReportedProcess& process : processes) {
    if (process.ended) continue;
    lost.push_back(fmt::format(
        "the counts of {} (process {}) are missing: it still runs, was killed, or called exec() "
        "after its kernels; let it end by exit() or return, and wait for it",
        process.program, process.id.substr(0, process.id.find('-'))));
  }
  return lost;
}

/// Why no kernel ran.
std::string why_no_kernel(const std::string& program, const metrics::CountsReport& report,
                          const std::string& runtime) {
  const std::string what = program + ": no kernel ran on the emulator: ";
  if (report.runtimes.empty())
    return what + programs::why_not_called(programs::linkage_of(program), runtime);
  const metrics::ReportedRuntime& last = report.runtimes.back();
  const std::string failure =
      last.failure.empty() ? "" : fmt::format(", its last failure {}", last.failure);
  return fmt::format(
      "{}{} ended before it launched one. Its last call of CUDA was {}{}; its own output may say "
      "why it ended",
      what, last.program == program ? "it" : last.program, last.call, failure);
}

/// A sentence for each kernel.
std::vector<std::string> empty_launches_of(const metrics::CountsReport& report) {
  std::vector<std::string> sentences;
  for (const metrics::EmptyLaunches& empty : report.empty_launches) {
    sentences.push_back(fmt::format(
        "{} launch{} with an empty grid or block, whose error the program took: kernel {}{}",
        empty.count, empty.count == 1 ? "" : "es",
        metrics::plain_name(metrics::demangled(empty.kernel)),
        empty.place.empty() ? "" : " at " + empty.place));
  }
  return sentences;
}

/// Who asked for the driver's private tables, with the cause where it is the way in which the
/// program is linked: NVIDIA's runtime asks for them.
std::string tables_text(const std::string& program, const std::string& asked,
                        const std::string& runtime) {
  const bool names_library = asked.ends_with(" calls it");
  if (names_library) return asked;
  const std::string why = programs::why_not_replaced(programs::linkage_of(program), runtime);
  if (why.empty()) return asked;
  return fmt::format("{} calls cuGetExportTable, which is not emulated: {}", program, why);
}

/// The order that is to be replayed, which must be one of a program on the architecture.
std::optional<metrics::OrderFile> replayed_of(const OtherOrders& orders, const std::string& arch) {
  if (orders.replay.empty()) return std::nullopt;
  metrics::OrderFile order = metrics::read_order(orders.replay);
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("{}: its launch is one of {}", orders.replay.string(), why));
  };
  if (!order.test_case.empty()) {
    refuse(fmt::format("the case {}: give it to warpgauge gate", order.test_case));
  }
  if (order.arch != arch) refuse(fmt::format("{}: say --arch {}", order.arch, order.arch));
  return order;
}

/// The emulated runtime and driver, which take the place of the CUDA runtime, linked as a library
/// or into the program, and of the driver.
class Emulated : public programs::Source {
 public:
  /// `coverage` may be nullptr.
  Emulated(EmulatedDevice device, std::string checks, OtherOrders orders,
           std::chrono::seconds launch_limit, const CoverageFile* coverage)
      : device_(std::move(device)),
        checks_(std::move(checks)),
        orders_(std::move(orders)),
        launch_limit_(launch_limit),
        coverage_(coverage) {}

  const programs::Counter& counter() const override { return kCounter; }
  std::filesystem::path reads() const override { return orders_.replay; }
  std::vector<std::string> own_options() const override {
    std::vector<std::string> options = {"--arch", arch_};
    if (device_.memory_bytes != 0) {
      options.insert(options.end(), {"--memory", fmt::format("{}B", device_.memory_bytes)});
    }
    if (device_.driver != 0) {
      options.insert(options.end(), {"--driver", fmt::format("{}.{}", device_.driver / 1000,
                                                             device_.driver % 1000 / 10)});
    }
    if (checks_ != kUsualChecks) options.insert(options.end(), {"--check", checks_});
    if (orders_.schedules != 0) {
      options.insert(options.end(), {"--schedules", std::to_string(orders_.schedules)});
    }
    if (!orders_.replay.empty()) {
      options.insert(options.end(), {"--replay", orders_.replay.string()});
    }
    if (launch_limit_ != programs::kUsualLaunchLimit) {
      options.insert(options.end(), {"--timeout", std::to_string(launch_limit_.count())});
    }
    return options;
  }
  std::string checks() const override { return checks_; }
  std::string cure() const override {
    const bool looks = metrics::is_looked_for(*metrics::find_check_rule("race"), checks_);
    return looks ? "" : kLookForRaces;
  }
  metrics::RunRequest asked() const override {
    return {.device = "emulated", .architectures = {arch_}};
  }

  std::map<std::string, std::string> variables(const fs::path& folder) const override {
    std::map<std::string, std::string> variables = {
        // A program that loads libcuda.so.1 by this name then gets the one that is there already.
        {"LD_PRELOAD", runtime_.string() + ":" + driver_.string()},
        // Of files whose runtime is linked into them.
        {"LD_AUDIT", before_others(audit_, "LD_AUDIT")},
        // Others look for its file: tinygrad by libcuda.so, Triton to link with it.
        {"LD_LIBRARY_PATH", before_others(driver_.parent_path(), "LD_LIBRARY_PATH")},
        {"TRITON_LIBCUDA_PATH", driver_.parent_path().string()},
        // What CuPy has compiled before has no line tables.
        {"CUPY_CACHE_IN_MEMORY", "1"},
        {"WARPGAUGE_EMULATED_PTXAS", process::found_in_toolkit("ptxas").string()},
        {"WARPGAUGE_EMULATED_ARCH", arch_},
        {"WARPGAUGE_EMULATED_OLDER_PTX", "1"},
        {"WARPGAUGE_EMULATED_MEMORY", std::to_string(device_.memory_bytes)},
        {"WARPGAUGE_EMULATED_DRIVER", std::to_string(device_.driver)},
        {"WARPGAUGE_EMULATED_CHECKS", checks_},
        {"WARPGAUGE_EMULATED_SCHEDULES", std::to_string(orders_.schedules)},
        {"WARPGAUGE_EMULATED_ORDERS", orders_.schedules == 0 ? "" : fs::absolute(orders_.out)},
        {"WARPGAUGE_EMULATED_REPLAY", orders_.replay.empty() ? "" : fs::absolute(orders_.replay)},
        {"WARPGAUGE_EMULATED_CPU_LIMIT", std::to_string(launch_limit_.count())},
        {metrics::kReportVariable, report_in(folder).string()}};
    if (coverage_ != nullptr) variables[metrics::kCoverageVariable] = coverage_->parts().string();
    return variables;
  }

  programs::Counted counted(const std::string& program, const fs::path& folder) const override {
    metrics::CountsReport report = metrics::read_report(report_in(folder));
    programs::Counted counted{
        .kernels = {},
        .faults = {},
        .lost = lost_of(report.processes),
        .remarks = empty_launches_of(report),
        .why_no_kernel = why_no_kernel(program, report, runtime_.filename().string())};
    if (report.is_partial) {
      counted.lost.emplace_back(
          "a process could not write its counts, as it says itself: give it space, and no limit of "
          "the size of files");
    }
    for (const metrics::DeviceFault& fault : report.faults) {
      counted.faults.push_back(error_fact(case_of(program, fault.kernel), fault, arch_));
    }
    if (replayed_ && !report.replayed) {
      counted.faults.push_back(programs::program_failure(
          kCounter, program,
          fmt::format("{}: there was no launch {} of kernel {}", orders_.replay.string(),
                      replayed_->launch,
                      metrics::plain_name(metrics::demangled(replayed_->kernel)))));
    }
    std::map<std::string, std::vector<metrics::LineCounts>> lines;
    for (metrics::LineCounts& line : report.lines) lines[line.kernel].push_back(std::move(line));
    for (const std::string& refused : report.refused) {
      counted.faults.push_back(programs::program_failure(kCounter, program, refused));
    }
    // NVRTC asks for them, too, and goes on without.
    const bool is_cause = report.kernels.empty() && counted.faults.empty();
    for (const std::string& asked : report.private_tables) {
      if (!is_cause) break;
      counted.faults.push_back(programs::program_failure(
          kCounter, program, tables_text(program, asked, runtime_.filename().string())));
    }
    for (const ReportedKernel& kernel : report.kernels) {
      counted.kernels.push_back(counted_kernel(kernel, std::move(lines[kernel.name])));
    }
    return counted;
  }

 private:
  static Case case_of(const std::string& program, const std::string& kernel) {
    Case program_case;
    program_case.kind = kCounter.kind;
    program_case.id = {.family = programs::family_of(program),
                       .variant = kernel.empty() ? "program" : programs::variant_of(kernel),
                       .type = "fault",
                       .size = "run"};
    return program_case;
  }

  programs::CountedKernel counted_kernel(const ReportedKernel& kernel,
                                         std::vector<metrics::LineCounts> lines) const {
    const metrics::Architecture& limits = metrics::architecture(arch_);
    programs::CountedKernel counted{
        .name = kernel.name,
        .device = {.name = metrics::emulated_gpu(arch_),
                   .chip = "",
                   .compute_capability = fmt::format("{}.{}", limits.major, limits.minor),
                   .driver = "emulator"},
        .arch = arch_,
        .sass_hash = kernel.codes.size() == 1 ? kernel.codes.front().sass_hash : "",
        .launches = kernel.launches,
        .counted = kernel.counted,
        .counted_warps = 0,
        .compiled = {},
        .lines = std::move(lines),
        .why_no_lines = ""};
    add_compile_time(limits, kernel, counted);
    return counted;
  }

  const EmulatedDevice device_;
  const std::string& arch_ = device_.arch;
  const std::string checks_;
  const OtherOrders orders_;
  const std::optional<metrics::OrderFile> replayed_ = replayed_of(orders_, arch_);
  const std::chrono::seconds launch_limit_;
  const CoverageFile* const coverage_;
  const fs::path runtime_ = emulated(kBuildInfo.emulated_cudart);
  const fs::path driver_ = emulated(kBuildInfo.emulated_driver);
  const fs::path audit_ = emulated(kBuildInfo.audit);
};

}  // namespace

int driver_number(const std::string& version) {
  unsigned major = 0, minor = 0;
  int end = 0;
  const bool is_one = std::sscanf(version.c_str(), "%2u.%1u%n", &major, &minor, &end) == 2 &&
                      end == static_cast<int>(version.size());
  if (!is_one || major < 12) {
    throw std::invalid_argument(
        fmt::format("--driver {}: expected the version of a CUDA from 12.0 on: 13.0", version));
  }
  return static_cast<int>(major * 1000 + minor * 10);
}

outcome::ExitCode emulate_program(const programs::ProgramOptions& options,
                                  const EmulatedDevice& device, const fs::path& coverage,
                                  const std::string& checks, const OtherOrders& orders) {
  // Throws here: the program itself would only blame a variable.
  metrics::architecture(device.arch);
  std::optional<CoverageFile> file;
  if (!coverage.empty()) file.emplace(coverage);
  const auto code = programs::run_program(
      options, Emulated(device, checks, {orders.schedules, orders.replay, options.out},
                        options.launch_limit, file ? &*file : nullptr));
  if (file) fmt::print(stderr, "{}", file->write());
  return code;
}

void record(const std::vector<std::string>& command, const std::string& arch,
            const fs::path& output, const fs::path& facts, const Compilation& compilation,
            std::chrono::seconds time_limit) {
  const auto launch_limit = std::max(time_limit / 2, std::chrono::seconds(1));
  const Emulated source({.arch = arch}, std::string(kUsualChecks), {}, launch_limit, nullptr);
  programs::record_program(command, source, output, facts, compilation, time_limit);
}

}  // namespace warpgauge::emulate
