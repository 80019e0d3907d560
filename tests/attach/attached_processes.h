// Results of attached processes, made by hand: what the tests of their facts share.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/attach/attached_facts.h"

namespace warpgauge {

inline constexpr std::uint32_t kCubin = 0xabcdef01;
inline const std::string kKernel = "_Z10by_columnsILi32EEvPiPKi";

/// A process that launched one kernel so often, in a grid of as many blocks: it loads from shared
/// memory with 32-way bank conflicts, and stores to global memory without waste.
inline attach::AttachedProcess process_of(std::uint64_t launches, std::uint64_t blocks = 1) {
  attach::AttachedProcess process{.command = "./program",
                                  .pid = 7,
                                  .devices = {},
                                  .kernels = {},
                                  .records = {},
                                  .warnings = {}};
  process.devices[0] = {{.name = "NVIDIA H100", .chip = "GH100", .compute_capability = "9.0"},
                        2048};
  process.kernels.push_back({.name = kKernel,
                             .device = 0,
                             .launches = launches,
                             .counted = {{.grid = {static_cast<std::uint32_t>(blocks), 1, 1},
                                          .block = {32, 32, 1},
                                          .dynamic_shared_bytes = 0,
                                          .count = launches}},
                             .resources = {{.registers = 14,
                                            .shared_static_bytes = 4096,
                                            .local_bytes = 0,
                                            .resident_warps = 64}}});
  using metrics::SassMetric;
  metrics::SassValues load, store;
  load[SassMetric::instructions] = 32 * launches;
  load[SassMetric::shared_requests] = 32 * launches;
  load[SassMetric::shared_wavefronts] = 32 * 32 * launches;
  load[SassMetric::shared_wavefronts_ideal] = 32 * launches;
  store[SassMetric::instructions] = 32 * launches;
  store[SassMetric::global_stores] = 32 * launches;
  store[SassMetric::global_sectors] = 128 * launches;
  store[SassMetric::global_sectors_ideal] = 128 * launches;
  process.records[0] = {{{kCubin, kKernel, 0x40}, load}, {{kCubin, kKernel, 0x80}, store}};
  return process;
}

/// The value of the whole case; a failure of the test if it is not there.
inline double value_of(const programs::ProgramCase& program_case, std::string_view metric) {
  for (const metrics::Fact& fact : program_case.facts) {
    const double* number = std::get_if<double>(&fact.value);
    if (fact.metric == metric && fact.scope == metrics::Scope::whole_case && number != nullptr) {
      return *number;
    }
  }
  ADD_FAILURE() << metric << " is not there";
  return -1;
}

inline std::vector<programs::ProgramCase> cases_of(
    const std::vector<attach::AttachedProcess>& processes) {
  return programs::cases_of(attach::kCounter, "./build/my program",
                            attach::attached_kernels(processes, testing::TempDir()), {});
}

}  // namespace warpgauge
