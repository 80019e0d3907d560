// Compile-time facts: registers, spills, stack, shared memory, occupancy; for every architecture of
// the build, without a GPU.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/launch_log.h"
#include "harness/cases/registry.h"
#include "metrics/facts/fact.h"
#include "metrics/machine_code/ptxas.h"

namespace warpgauge {

/// The output of ptxas for all kernels of this program.
class PtxasTexts {
 public:
  /// Reads every *.ptxas.txt below the folders. Throws metrics::PtxasError, also if there is none,
  /// or if two of them disagree on a kernel.
  explicit PtxasTexts(const std::vector<std::filesystem::path>& folders);
  /// The texts of this build.
  static const PtxasTexts& of_this_build();

  const metrics::PtxasKernel* find(const std::string& kernel, const std::string& arch) const;
  /// The text that has the kernel, which is one of these.
  const std::string& path_of(const metrics::PtxasKernel& kernel) const;
  /// The architectures that were compiled for, in ascending order ("sm_90", "sm_90a", "sm_100").
  const std::vector<std::string>& archs() const { return archs_; }

 private:
  struct Known {
    metrics::PtxasKernel kernel;
    std::string path;  ///< of the text it was read from
  };
  void add_folder(const std::filesystem::path& folder);
  void add(metrics::PtxasKernel kernel, const std::filesystem::path& path);

  std::map<std::pair<std::string, std::string>, Known> kernels_;  // by name and architecture
  std::vector<std::string> archs_;
};

/// The launches of a case, found by a dry run. Throws std::runtime_error if it launches nothing or
/// a grid or block of nothing.
std::vector<LaunchRecord> dry_launches(const Case& one);

/// The launches of a case on `arch`: as dry_launches(), and where a dry run fails because it needs
/// a device, as of the emulated program. Throws what dry_launches() throws if both fail.
std::vector<LaunchRecord> launches_on(const Case& one, const std::string& arch);

/// The compile-time facts of a case on `arch`, not yet judged: for each metric the value of the
/// worst of its kernels, blamed on the line of the first spill or else on the registration. Throws
/// metrics::PtxasError for a kernel that ptxas said nothing of, and metrics::ContradictionError for
/// one whose machine code in this program is another than ptxas reported on.
std::vector<metrics::Fact> static_facts(const Case& one, const std::vector<LaunchRecord>& launches,
                                        const std::string& arch, const PtxasTexts& texts);

}  // namespace warpgauge
