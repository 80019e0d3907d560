// Runs all checks of the doctor and prints them.
#include "harness/doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/build_info.h"
#include "harness/doctor/counting_findings.h"
#include "harness/doctor/gpu_findings.h"
#include "harness/doctor/host_probe.h"
#include "harness/doctor/precondition.h"
#include "harness/files/colour.h"
#include "harness/process/isolated_text.h"
#include "harness/runtime.h"

namespace warpgauge::doctor {
namespace {

using Findings = std::vector<Precondition>;

class Doctor {
 public:
  explicit Doctor(const DoctorOptions& options) : options_(options) {}

  Diagnosis diagnose_gpu() const {
    const HostProbe here = HostProbe::of_this_machine();
    const bool demanded = options_.require_cupti || options_.device == process::DeviceChoice::gpu;
    Findings findings = isolated(kGpuFindings, [&] { return look_at_gpu(here); });
    const Health gpu = findings.front().health;
    const bool runs_there = demanded || gpu != Health::warn;
    if (runs_there && gpu != Health::ok) findings.front().health = Health::fail;
    if (gpu == Health::fail && findings.front().remedy.empty()) {
      findings.front().remedy =
          "see whether nvidia-smi works, and the kernel log for messages of the driver (dmesg)";
    }

    // The counting checks decide; the others explain why they fail.
    findings.push_back(isolated("CUPTI", check_cupti));
    findings.push_back(count_on(gpu, "exact count", check_exact_count));
    findings.push_back(count_on(gpu, "hardware counters", check_hardware_counters));
    for (const auto& check : {check_permission, check_mps, check_profilers, check_injection}) {
      findings.push_back(check(here));
    }
    findings.push_back(isolated("emulator", [this] {
      return check_emulator(process::program_path(true), options_.time_limit);
    }));
    add_workplace(&findings);

    std::vector<std::string_view> needed = {"ptxas", "output"};
    if (runs_there) {
      needed.insert(needed.end(), {"GPU", "driver", "architectures", "CUPTI", "exact count"});
    } else {
      needed.emplace_back("emulator");
    }
    if (options_.require_cupti) needed.emplace_back("hardware counters");
    settle(needed, findings);
    return {std::move(findings), runs_there ? "gpu" : "emulator"};
  }

  Diagnosis diagnose_emulator() const {
    Findings findings = {isolated("exact count", check_exact_count)};
    add_workplace(&findings);
    settle({"exact count", "ptxas", "output"}, findings);
    return {std::move(findings), "emulator"};
  }

 private:
  /// The findings `ids` of `look`, which runs in a process of its own. If it throws, crashes or
  /// hangs, the first of them has failed, and the others are unknown.
  Findings isolated(std::span<const std::string_view> ids,
                    const std::function<Findings()>& look) const {
    const auto as_json = [&look] {
      nlohmann::ordered_json array = nlohmann::ordered_json::array();
      for (const Precondition& finding : look()) array.push_back(json_of(finding));
      return array.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    try {
      const auto array =
          nlohmann::json::parse(process::isolated_text(as_json, options_.time_limit));
      Findings findings;
      for (const nlohmann::json& object : array) findings.push_back(finding_from(object));
      for (const std::string_view id : ids) finding_called(id, findings);
      return findings;
    } catch (const std::exception& error) {
      Findings findings = {failed_finding(ids.front(), error.what())};
      for (const std::string_view id : ids.subspan(1)) {
        findings.push_back(
            {.id = std::string(id), .text = fmt::format("not checked: see {}", ids.front())});
      }
      return findings;
    }
  }

  /// The same for a check with one finding.
  Precondition isolated(std::string_view id, const std::function<Precondition()>& look) const {
    return isolated(std::span(&id, 1), [&look] { return Findings{look()}; }).front();
  }

  /// The finding of `count`, if there is a GPU for it.
  Precondition count_on(Health gpu, std::string_view id,
                        const std::function<Precondition()>& count) const {
    if (gpu == Health::ok) return isolated(id, count);
    return {.id = std::string(id), .text = gpu == Health::warn ? "no GPU" : "not tried: see GPU"};
  }

  /// The checks that do not depend on the device.
  void add_workplace(Findings* findings) const {
    findings->push_back(check_toolkit(kBuildInfo.toolkit, kBuildInfo.newest_toolkit));
    findings->push_back(check_ptxas());
    findings->push_back(check_out(options_.out));
    findings->push_back(isolated(
        "Python", [] { return check_python(std::filesystem::path(kBuildInfo.programs_folder)); }));
  }

  const DoctorOptions& options_;
};

}  // namespace

outcome::ExitCode run_doctor(const DoctorOptions& options) {
  const Doctor doctor(options);
  const Diagnosis diagnosis = is_emulated() ? doctor.diagnose_emulator() : doctor.diagnose_gpu();
  const bool colour = files::may_be_coloured(STDOUT_FILENO);
  fmt::print("{}", options.json ? diagnosis_json(diagnosis) : diagnosis_text(diagnosis, colour));
  return diagnosis.ready() ? outcome::kWithinBudget : outcome::kNotMeasured;
}

}  // namespace warpgauge::doctor
