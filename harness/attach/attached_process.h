// The counts of one process: the injected library writes them, `warpgauge attach` reads them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/cupti/sass_metrics.h"
#include "metrics/facts/fact.h"

namespace warpgauge::attach {

/// The variable by which CUDA loads a library into a program.
inline constexpr const char* kInjection = "CUDA_INJECTION64_PATH";

/// The environment variable that `warpgauge attach` sets for the library, beside those of
/// programs::LaunchFilter: the folder for the results of each process.
inline constexpr const char* kAttachFolder = "WARPGAUGE_ATTACH_FOLDER";

/// The driver's resources of a kernel. Bytes per thread (local) and per block (shared).
struct KernelResources {
  std::uint32_t registers = 0;
  std::uint64_t shared_static_bytes = 0;
  std::uint64_t local_bytes = 0;
  /// The most warps, in blocks of one shape, that a multiprocessor can have at a time; with
  /// clusters the mean over the multiprocessors.
  double resident_warps = 0;
  /// Blocks in x, y and z that the code is made for (__cluster_dims__).
  std::array<std::uint32_t, 3> compiled_cluster = metrics::kNoCluster;

  bool operator==(const KernelResources&) const = default;
};

/// A kernel on one device.
struct AttachedKernel {
  std::string name;  ///< mangled, as the module has it
  int device = 0;
  std::uint64_t launches = 0;              ///< all of them
  std::vector<metrics::Launch> counted;    ///< the launches that were counted, by shape
  std::vector<KernelResources> resources;  ///< one for each code and shape; empty: not known
};

struct AttachedDevice {
  metrics::Device device;
  std::uint32_t threads_per_multiprocessor = 0;
};

/// One process, up to the last time that this was written.
struct AttachedProcess {
  std::string command;  ///< its arguments, joined by blanks
  std::int64_t pid = 0;
  std::map<int, AttachedDevice> devices;  ///< by their ordinals in the process
  std::vector<AttachedKernel> kernels;
  std::map<int, metrics::SassRecords> records;  ///< by device
  std::uint64_t waiting = 0;                    ///< the launches whose counts can still be taken
  std::vector<std::string> warnings;  ///< a sentence for each thing that could not be counted
};

/// A result that cannot be read: says file and problem.
class AttachedError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The process as a JSON object: {"schema": "warpgauge.attached/5", ...}.
std::string to_text(const AttachedProcess& process);
/// Throws AttachedError; `path` names the text in it.
AttachedProcess parse_attached(std::string_view text, const std::string& path);

/// Endings of a process's files: its AttachedProcess, and its LaunchCount.
inline constexpr const char* kProcessEnding = ".json";
inline constexpr const char* kLaunchesEnding = ".launches";

/// The name of the file of a cubin in the folder: "0123abcd.cubin".
std::string cubin_name(std::uint32_t crc);

}  // namespace warpgauge::attach
