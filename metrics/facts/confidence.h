// How far a value can be trusted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

/// The surer, the smaller. `exact`: what a GPU would count, to the last digit; `predicted`: so if
/// the compiler does what it is known to do; `estimate`: known to be able to differ.
enum class Confidence { exact, predicted, estimate };
std::string_view to_string(Confidence confidence);
std::optional<Confidence> confidence_from(std::string_view text);

/// A confidence with why it is not exact, one sentence; empty if it is.
struct Trust {
  Confidence confidence = Confidence::exact;
  std::string reason;
  bool operator==(const Trust&) const = default;
};

}  // namespace warpgauge::metrics
