// Counts the kernel of the self test, and says what stands in the way.
#include "harness/doctor/counting_findings.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/measuring/case_runner.h"
#include "harness/measuring/compile_time_facts.h"
#include "harness/measuring/hardware_counter_facts.h"
#include "harness/measuring/self_test.h"
#include "harness/process/output_of.h"
#include "harness/runtime.h"
#include "metrics/cupti/cupti.h"

namespace warpgauge::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBuildAgain = "build again: cmake --build --preset dev, or ci/gate";

/// The libcupti that was loaded, and its version: LD_LIBRARY_PATH may have brought another one than
/// this was built with. CUPTI's headers belong to metrics/, so it is asked by name.
std::string loaded_cupti() {
  void* const function = dlsym(RTLD_DEFAULT, "cuptiGetVersion");
  Dl_info info{};
  std::uint32_t version = 0;
  if (function == nullptr || dladdr(function, &info) == 0 ||
      reinterpret_cast<int (*)(std::uint32_t*)>(function)(&version) != 0) {
    return "it";
  }
  return fmt::format("version {} ({})", version, info.dli_fname);
}

}  // namespace

Precondition check_cupti() {
  Precondition finding{.id = id::kCupti, .health = Health::fail};
  if (!metrics::built_with_cupti()) {
    finding.text = "this build has none";
    finding.remedy = "install the CUDA toolkit's CUPTI and configure again";
    return finding;
  }
  try {
    const std::size_t chips =
        metrics::cupti_chips().size();  // throws where CUPTI must not be called
    finding.text = fmt::format("{} supports {} chips", loaded_cupti(), chips);
    finding.health = Health::ok;
    return finding;
  } catch (const metrics::Unmeasured& unmeasured) {
    return failed_finding(id::kCupti, unmeasured.what());
  }
}

Precondition check_exact_count() {
  try {
    if (is_emulated()) emulate_arch(default_emulated_arch());
    CaseRunner meter(true);
    const std::string why = check_planted_bank_conflict(planted_bank_conflict_facts(meter));
    if (!why.empty()) return failed_finding(id::kExactCount, why);
    return {.id = id::kExactCount,
            .health = Health::ok,
            .text = fmt::format("{:.0f} bank conflicts of a known kernel on {} ({}), as in theory",
                                kPlantedBankConflicts, meter.arch(), counts_source())};
  } catch (const std::exception& error) {
    return failed_finding(id::kExactCount, error.what());
  }
}

Precondition check_hardware_counters() {
  try {
    const CaseRunner meter(false);  // exact counting patches kernels, which would disturb counters
    if (!meter.device()) return failed_finding(id::kHardwareCounters, meter.no_device());
    const std::vector<const Case*> known = {&planted_bank_conflict()};
    const auto facts = CounterSession(known, [](const Case&) {
                         return Counters();
                       }).facts(known, meter.arch(), meter.device()->name);
    if (facts.empty()) {
      return failed_finding(id::kHardwareCounters, "the range profiler returned nothing");
    }
    return {.id = id::kHardwareCounters,
            .health = Health::ok,
            .text = fmt::format("{} metrics of one session of the range profiler", facts.size())};
  } catch (const std::exception& error) {
    return failed_finding(id::kHardwareCounters, error.what());
  }
}

Precondition check_emulator(const fs::path& program, std::chrono::seconds time_limit) {
  if (!fs::exists(program)) {
    return {.id = id::kEmulator,
            .health = Health::fail,
            .text = program.string() + " is not there",
            .remedy = std::string(kBuildAgain)};
  }
  // The check has a folder of its own: it is not about --out.
  const auto half = std::max(time_limit / 2, std::chrono::seconds(1));
  const auto output = process::output_of({program.string(), "doctor", "--device=emulated", "--json",
                                          "--timeout", std::to_string(half.count()), "--out",
                                          fs::temp_directory_path().string()});
  try {
    if (!output) throw std::runtime_error("its doctor finds it not ready");
    const nlohmann::json diagnosis = nlohmann::json::parse(*output);
    for (const nlohmann::json& check : diagnosis.at("checks")) {
      Precondition finding = finding_from(check);
      if (finding.id != id::kExactCount) continue;
      finding.id = id::kEmulator;
      return finding;
    }
    throw std::runtime_error("its doctor reports no exact count");
  } catch (const std::exception& error) {
    return {.id = id::kEmulator,
            .health = Health::fail,
            .text = fmt::format("{}: {}", program.filename().string(), error.what()),
            .remedy = fmt::format("{} doctor", program.string())};
  }
}

Precondition check_toolkit(std::string_view toolkit, std::string_view newest_tested) {
  const auto number = [](std::string_view version) {  // "13.10" is newer than "13.5"
    const auto dot = version.find('.');
    int major = 0, minor = 0;
    std::from_chars(version.data(), version.data() + dot, major);
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
    return std::pair(major, minor);
  };
  Precondition finding{.id = "toolkit", .health = Health::ok};
  finding.text = fmt::format("CUDA {} compiled the kernels", toolkit);
  if (number(newest_tested) < number(toolkit)) {
    finding.health = Health::warn;
    finding.text += fmt::format("; the newest that was tested is {}", newest_tested);
    finding.remedy =
        "look at the confidence of the emulator's counts: they are predicted where the format of "
        "the machine code is not known";
  }
  return finding;
}

Precondition check_machine_code() {
  try {
    return {.id = id::kMachineCode,
            .health = Health::ok,
            .text = fmt::format("that of the kernels is here, with line tables, for {}",
                                fmt::join(built_archs(), " "))};
  } catch (const std::exception& error) {
    Precondition finding = failed_finding(id::kMachineCode, error.what());
    if (finding.remedy.empty()) finding.remedy = kBuildAgain;
    return finding;
  }
}

}  // namespace warpgauge::doctor
