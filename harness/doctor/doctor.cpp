// Runs all checks of the doctor and prints them.
#include "harness/doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
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
    const Health gpu = settle_gpu(demanded, &findings);
    const bool runs_there = demanded || gpu != Health::warn;

    // The counting checks decide; the others explain why they fail.
    findings.push_back(isolated(id::kCupti, check_cupti));
    findings.push_back(count_on(gpu, id::kExactCount, check_exact_count));
    findings.push_back(count_on(gpu, id::kHardwareCounters, check_hardware_counters));
    for (const auto& check : {check_permission, check_mps, check_profilers, check_injection}) {
      findings.push_back(check(here));
    }
    findings.push_back(isolated(id::kEmulator, [this] {
      return check_emulator(process::program_path(true), options_.time_limit);
    }));
    add_workplace(&findings);

    std::vector<std::string_view> needed = {id::kMachineCode, id::kOutput};
    if (runs_there) {
      needed.insert(needed.end(),
                    {id::kGpu, id::kDriver, id::kArchitectures, id::kCupti, id::kExactCount});
    } else {
      needed.emplace_back(id::kEmulator);
    }
    if (options_.require_cupti) needed.emplace_back(id::kHardwareCounters);
    settle(needed, findings);
    return {std::move(findings), runs_there ? "gpu" : "emulator"};
  }

  Diagnosis diagnose_emulator() const {
    Findings findings = {isolated(id::kExactCount, check_exact_count)};
    add_workplace(&findings);
    settle({id::kExactCount, id::kMachineCode, id::kOutput}, findings);
    return {std::move(findings), "emulator"};
  }

 private:
  /// The health of the GPU as look_at_gpu() found it: a warning where there is none, which is a
  /// failure if one is demanded.
  static Health settle_gpu(bool demanded, Findings* findings) {
    const auto finding = std::ranges::find(*findings, id::kGpu, &Precondition::id);
    if (finding == findings->end()) throw std::logic_error("nothing was found of the GPU");
    const Health found = finding->health;
    if (found != Health::ok && (demanded || found != Health::warn)) finding->health = Health::fail;
    // The finding that there is none has its remedy.
    if (found == Health::fail && finding->remedy.empty()) {
      finding->remedy =
          "see whether nvidia-smi works, and the kernel log for messages of the driver (dmesg)";
    }
    return found;
  }

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
    findings->push_back(check_machine_code());
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
