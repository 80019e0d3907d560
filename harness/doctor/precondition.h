// What the doctor found out about one precondition of measuring.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge {

/// `fail`: it does not work, and the gate needs it. `unknown`: it could not be found out.
enum class Health { ok, warn, fail, unknown };

struct Precondition {
  std::string id;  ///< what was looked at: "exact count"
  Health health = Health::unknown;
  std::string text;         ///< what was found, one sentence without a full stop
  std::string remedy = {};  ///< what to do about it; empty where there is nothing to do
  bool needed = false;      ///< the gate cannot do without it, as it is asked to work
};

std::string_view to_string(Health health);

/// A failure of `id` by the message of an error, "reason. remedy".
Precondition failed_finding(std::string_view id, std::string_view message);

/// {"id", "health", "text", "remedy": text or null, "needed"}.
nlohmann::ordered_json json_of(const Precondition& finding);
/// The other way round. Throws nlohmann::json::exception and std::invalid_argument for anything
/// else.
Precondition finding_from(const nlohmann::json& object);

/// What all findings come to.
struct Diagnosis {
  std::vector<Precondition> findings;
  std::string counts_on;  ///< "gpu" or "emulator": where the gate runs kernels
  /// True if nothing that is needed has failed.
  bool ready() const;
};

/// The finding called `id`. Throws std::out_of_range.
const Precondition& finding_called(std::string_view id, const std::vector<Precondition>& findings);

/// Marks what is needed and settles what that means: of this, what is unknown has failed; of the
/// rest, what has failed is a warning.
void settle(const std::vector<std::string_view>& needed, std::vector<Precondition>& findings);

/// A line for each finding, one more for its remedy, and the outcome. Nothing in it is a control
/// sequence but the colours, if they are asked for.
std::string diagnosis_text(const Diagnosis& diagnosis, bool colour);

/// The same as one JSON object: {"schema": 1, "version", "ready", "counts_on", "checks": [...]}.
std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace warpgauge
