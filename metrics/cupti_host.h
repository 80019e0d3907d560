// CUPTI's host side: turns metric names into a configuration, and counter data into values.
#pragma once

#include <cupti_profiler_host.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// Owns a profiler host object of one chip. Needs no GPU.
class ProfilerHost {
 public:
  /// `availability` may be empty: then every counter counts as free. Throws Unmeasured.
  explicit ProfilerHost(const std::string& chip, std::span<const std::uint8_t> availability = {});
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  /// Throws Unmeasured where the chip lacks one of them.
  void add_metrics(std::vector<const char*> names);
  std::vector<std::uint8_t> config_image() const;
  /// The values of `names` in range `index` of a counter data image, in their order.
  std::vector<double> evaluate(std::span<const std::uint8_t> counter_data, std::size_t index,
                               std::vector<const char*> names) const;

 private:
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

std::size_t passes(std::span<const std::uint8_t> config_image);

/// Those of the catalog's range metrics (their CUPTI names) that the chip has, in catalog order.
std::vector<std::string> range_names(const std::string& chip,
                                     std::span<const std::uint8_t> availability = {});

/// All SASS metrics of the chip; none on chips before Turing.
std::vector<std::string> sass_names(const std::string& chip);

}  // namespace warpgauge::metrics
