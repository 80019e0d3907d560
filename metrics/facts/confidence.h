// The confidence in a value: how far it can be trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// A surer value is smaller. `exact`: a GPU counts the same, to the last digit. `predicted`: a GPU
/// counts the same if the compiler does what it is known to do. `estimate`: a GPU may count
/// something else.
enum class Confidence { exact, predicted, estimate };
std::string_view to_string(Confidence confidence);
std::optional<Confidence> confidence_from(std::string_view text);

/// A confidence and, where it is not exact, one sentence that says why.
struct Trust {
  Confidence confidence = Confidence::exact;
  std::string reason;
  bool operator==(const Trust&) const = default;
};

}  // namespace warpgauge::metrics
