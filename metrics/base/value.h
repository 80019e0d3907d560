// A measured value: a number, a word (such as the limiter of the occupancy), or nothing.
#pragma once

#include <string>
#include <variant>

namespace warpgauge::metrics {

/// std::monostate: not measured. Numbers are doubles: counts are exact up to 2^53.
using Value = std::variant<std::monostate, double, std::string>;

/// The largest whole number up to which doubles hold every whole number.
inline constexpr double kMaxExactWhole = 9007199254740992.0;  // 2^53

/// The value for people: whole numbers without a point, others with up to 6 significant digits (all
/// digits before the point are kept), words as they are, "-" for monostate.
std::string to_text(const Value& value);

/// The shortest text that reads back as the same number; whole numbers without a point.
std::string exact_text(double number);

}  // namespace warpgauge::metrics
