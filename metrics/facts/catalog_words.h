// The words of the table of metrics.
#pragma once

#include <string_view>
#include <utility>

#include "metrics/facts/metric.h"

namespace warpgauge::metrics {

template <typename Value>
using Word = std::pair<std::string_view, Value>;

inline constexpr Word<Direction> kDirections[] = {
    {"lower", Direction::lower}, {"higher", Direction::higher}, {"none", Direction::none}};

inline constexpr Word<Class> kClasses[] = {
    {"exact", Class::exact}, {"bounded", Class::bounded}, {"info", Class::info}};

inline constexpr Word<Cost> kCosts[] = {{"direct", Cost::direct},
                                        {"occupancy", Cost::occupancy},
                                        {"size", Cost::size},
                                        {"explains", Cost::explains}};

inline constexpr Word<Source> kSources[] = {
    {"run", Source::run},          {"cubin", Source::cubin},       {"occupancy", Source::occupancy},
    {"cupti-sass", Source::sass},  {"cupti-range", Source::range}, {"cuda-events", Source::timer},
    {"emulator", Source::emulator}};

/// Metric::is_of_line.
inline constexpr Word<bool> kScopes[] = {{"kernel", false}, {"line", true}};

}  // namespace warpgauge::metrics
