// A fact: one measured value with all its provenance. Facts are kept as JSON lines.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/value.h"

namespace warpgauge::metrics {

inline constexpr std::string_view kFactSchema = "warpgauge.fact/1";

/// What the judge says of a fact. `error` is a fault of the case (crash, wrong result, time limit).
/// `environment`: beyond its budget, but machine code and launches are those which the budget was
/// measured with, so that the machine has changed and not the case.
enum class Verdict { pass, fail, better, unmeasured, unbudgeted, waived, environment, error };
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view text);

/// The parts of `family.variant.type@size`, the one id of a case.
struct CaseId {
  std::string family, variant, type, size;

  std::string str() const;           ///< family.variant.type@size
  std::string variant_type() const;  ///< variant.type, as budgets name it
  bool operator==(const CaseId&) const = default;
  auto operator<=>(const CaseId&) const = default;
};

/// The GPU that a fact was measured on. Clocks in MHz, as found (never set); 0: not known.
struct Device {
  std::string name, chip, compute_capability, driver, uuid_hash;
  int sm_clock_mhz = 0, memory_clock_mhz = 0;
};

/// What every fact of a run shares. `toolkit` is the CUDA version ("13.0"), `time` is UTC in
/// whole seconds ("2026-05-01T23:00:00Z").
struct Run {
  std::string id, time, commit, toolkit, flags;
  bool dirty = false;
  std::optional<Device> device;
};

/// Shape of the launch a fact belongs to; `count` launches had this shape.
struct Launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t count = 1;

  /// True for launches that differ in nothing but their number.
  bool like(const Launch& other) const {
    return grid == other.grid && block == other.block &&
           dynamic_shared_bytes == other.dynamic_shared_bytes;
  }
  /// Warps of all of them.
  std::uint64_t warps() const {
    constexpr std::uint64_t kThreads = 32;
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    return count * grid[0] * grid[1] * grid[2] * ((threads + kThreads - 1) / kThreads);
  }
};

/// Adds launches to those of their shape.
inline void add(std::vector<Launch>& launches, const Launch& more) {
  for (Launch& one : launches) {
    if (!one.like(more)) continue;
    one.count += more.count;
    return;
  }
  launches.push_back(more);
}

/// The state of the GPU around a timing: [before, after]; 0 and -1: not known.
struct MachineState {
  std::array<int, 2> sm_clock_mhz{}, memory_clock_mhz{}, temperature_c{};
  std::vector<std::string> throttling;  ///< why clocks were lower than they could be
  int other_processes = -1;             ///< with a CUDA context on the same GPU
  /// What makes the time unfit to be kept ("2 other processes use the GPU"); empty if nothing does.
  std::string disturbance;
};

/// Where the confidence interval of a value ends, in the unit of the value.
struct Interval {
  double low = 0, high = 0;
};

/// Where the value belongs to: a whole case (judged) or one source line of it (explains).
enum class Scope { whole_case, line };

/// One value. Members that are empty or nullopt are written as null.
struct Fact {
  CaseId id;
  std::string metric;  ///< of the catalog; `result.correct` where the case itself failed
  Value value;
  std::optional<Interval> interval;  ///< of 95 % confidence; of times
  Scope scope = Scope::whole_case;
  std::string arch;               ///< "sm_90"; empty where no device was there to tell
  std::string source;             ///< ptxas | cupti | emulator | harness; empty if not measured
  std::string confidence;         ///< exact | predicted | estimate; empty for what was not measured
  std::string confidence_reason;  ///< why it is not exact, one sentence; empty where it is
  std::string kernel;             ///< mangled name of the kernel (the worst one of several)
  std::optional<Launch> launch;
  std::optional<MachineState> machine;  ///< of timings
  std::string file;  ///< the line to blame, relative to the source root where it lies below it
  int line = 0;
  std::string sass_hash;
  std::string source_hash;    ///< of the files that the code of the kernel comes from
  std::string code_hash;      ///< of the machine code and the launches of the whole case; of times
  std::string budget;         ///< the limit as text: "= 32", "<= 20"; empty if unbudgeted
  std::string budget_reason;  ///< the reason written beside the limit
  Verdict verdict = Verdict::unbudgeted;  ///< of facts of lines always this, written as null
  std::string reason;                     ///< why the verdict is what it is, one sentence
};

/// The JSON object of a fact, as the schema (metrics/fact.schema.json) describes it. A number that
/// JSON cannot hold (NaN, infinity) becomes null; the judge has put it into the reason. Throws
/// std::out_of_range for a metric that the catalog does not know.
nlohmann::ordered_json to_json(const Fact& fact, const Run& run);

/// Facts that cannot be read: says file and line.
class FactError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A fact with the run it came from, as read back.
struct StoredFact {
  Fact fact;
  Run run;
};

/// Appends facts to a file, each with one write() call under a lock of the file, so that writers
/// in several processes never mix their lines and a crash loses at most the line being written.
class FactWriter {
 public:
  /// Opens (creates) `path` for appending, and cuts off the torn last line that a crash may have
  /// left there; throws FactError.
  FactWriter(const std::filesystem::path& path, Run run);
  ~FactWriter();
  FactWriter(const FactWriter&) = delete;
  FactWriter& operator=(const FactWriter&) = delete;

  /// Throws FactError with path and cause (such as a full disk); the file then still ends in a
  /// whole line.
  void write(const Fact& fact);
  const Run& run() const { return run_; }
  void set_device(Device device) { run_.device = std::move(device); }

 private:
  int fd_;
  std::filesystem::path path_;
  Run run_;
};

/// Reads a file of facts. A last line without newline (a crash while it was written) is dropped;
/// anything else that is not a fact of this schema throws FactError with file:line.
std::vector<StoredFact> read_facts(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
