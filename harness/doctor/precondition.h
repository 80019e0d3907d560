// The result of one check of the doctor.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::doctor {

/// Ids of the checks that the outcome may depend on.
namespace id {
inline constexpr const char *kGpu = "GPU", *kDriver = "driver", *kArchitectures = "architectures",
                            *kCupti = "CUPTI", *kExactCount = "exact count",
                            *kHardwareCounters = "hardware counters", *kEmulator = "emulator",
                            *kMachineCode = "machine code", *kOutput = "output";
}

/// `fail`: the gate needs it, and it does not work. `unknown`: the check gave no answer.
enum class Health { ok, warn, fail, unknown };

struct Precondition {
  std::string id;  ///< names the check: "exact count"
  Health health = Health::unknown;
  std::string text;         ///< the result, one sentence without a full stop
  std::string remedy = {};  ///< empty where there is nothing to do
  bool needed = false;      ///< the gate needs it, with the options given
};

std::string_view to_string(Health health);

/// A failure of `id` by the message of an error, "reason. remedy".
Precondition failed_finding(std::string_view id, std::string_view message);

/// {"id", "health", "text", "remedy": text or null, "needed"}.
nlohmann::ordered_json json_of(const Precondition& finding);
/// Reads such an object back. Throws nlohmann::json::exception and std::invalid_argument for
/// anything else.
Precondition finding_from(const nlohmann::json& object);

/// The outcome of all preconditions.
struct Diagnosis {
  std::vector<Precondition> findings;
  std::string counts_on;  ///< "gpu" or "emulator": where the gate runs kernels
  /// True if no needed check has failed.
  bool ready() const;
};

/// The precondition called `id`. Throws std::out_of_range.
const Precondition& finding_called(std::string_view id, const std::vector<Precondition>& findings);

/// Marks the needed preconditions. A needed one that is unknown has failed; one that failed and is
/// not needed is a warning.
void settle(const std::vector<std::string_view>& needed, std::vector<Precondition>& findings);

/// A line for each finding, one more for its remedy, and the outcome. The only control sequences
/// are colours, with `colour`.
std::string diagnosis_text(const Diagnosis& diagnosis, bool colour);

/// The same as one JSON object: {"schema": 1, "version", "ready", "counts_on", "checks": [...]}.
std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace warpgauge::doctor
