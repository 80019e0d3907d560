// CUPTI's host side: turns metric names into a configuration, and counter data into values.
#pragma once

#include <cupti_profiler_host.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "metrics/facts/catalog.h"

namespace warpgauge::metrics {

/// Owns a profiler host object of one chip. Needs no GPU.
class ProfilerHost {
 public:
  /// `availability` may be empty: then every counter counts as free. Throws Unmeasured.
  explicit ProfilerHost(const std::string& chip, std::span<const std::uint8_t> availability = {});
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  /// Adds metrics to the configuration. Throws Unmeasured where the chip lacks one of them.
  void add_metrics(std::vector<const char*> names);
  std::vector<std::uint8_t> config_image() const;
  /// The values of `names` in range `index` of a counter data image, in their order.
  std::vector<double> evaluate(std::span<const std::uint8_t> counter_data, std::size_t index,
                               std::vector<const char*> names) const;

  CUpti_Profiler_Host_Object* object() const { return object_; }

 private:
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

std::size_t passes(std::span<const std::uint8_t> config_image);

/// CUPTI's spelling of a chip's name, whatever its upper and lower case. Throws
/// std::invalid_argument, with the known chips, for an unknown one.
std::string known_chip(const std::string& chip);

/// True if the range profiler can measure `name`, with its rollup, on the chip.
bool has_range_metric(const std::string& chip, std::span<const std::uint8_t> availability,
                      const std::string& name);

/// The CUPTI names of the catalog's range metrics and of `counters`, in this order, each once,
/// without names that the chip lacks.
std::vector<std::string> range_names(const std::string& chip,
                                     std::span<const std::uint8_t> availability = {},
                                     const std::vector<const Metric*>& counters = {});

/// All SASS metrics of the chip; none on chips before Turing.
std::vector<std::string> sass_names(const std::string& chip);

}  // namespace warpgauge::metrics
