// A fact: one measured value with all its provenance. Facts are kept as JSON lines of five records:
// run, case, shared, values and end (metrics/facts/fact.schema.json).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/base/boxed_optional.h"
#include "metrics/base/source_line.h"
#include "metrics/base/value.h"
#include "metrics/facts/limit.h"

namespace warpgauge::metrics {

inline constexpr std::string_view kFactSchema = "warpgauge.fact/2";

/// The judge's decision on a value. `error` is a fault of the case (crash, wrong result, time
/// limit). `moved`: beyond its budget, but the machine code and the launches are those that the
/// budget was measured with, so the machine has changed and not the case.
enum class Verdict { pass, fail, better, unmeasured, unbudgeted, waived, moved, error };
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view text);

/// The parts of `family.variant.type@size`, the one id of a case.
struct CaseId {
  std::string family, variant, type, size;

  std::string str() const;           ///< family.variant.type@size
  std::string variant_type() const;  ///< variant.type, as budgets name it
  /// The case `variant_type` of the same family and size.
  CaseId other(std::string_view variant_type) const;
  /// True for `suite.test.launch@N`, the N-th launch that a test measures.
  bool is_of_test() const { return type == kLaunchOfTest; }
  bool operator==(const CaseId&) const = default;
  auto operator<=>(const CaseId&) const = default;

  static constexpr std::string_view kLaunchOfTest = "launch";
};

/// The name with "_" in place of characters that an id must not contain; "_" for an empty name.
std::string id_word(std::string_view name);

/// The GPU that a fact was measured on. Clocks in MHz, as found (never set); 0: not known.
struct Device {
  std::string name, chip, compute_capability, driver, uuid_hash;
  int sm_clock_mhz = 0, memory_clock_mhz = 0;
};

/// The options that decide what is measured, and what is a success. Empty: not set.
struct RunRequest {
  std::string device;  ///< auto | gpu | emulated
  std::vector<std::string> require, filter, exclude, architectures;
  bool strict = false, large = false;
};

/// The members that all facts of a run share. `toolkit` is the CUDA version ("13.0"), `time` is UTC
/// in whole seconds ("2026-05-01T23:00:00Z"), `command` the command that ran, `program` the program
/// that ran tests, `source_root` the folder that it and files are relative to where they lie below
/// it.
struct Run {
  std::string id, time, command, program, version, commit, branch, label, toolkit, flags;
  std::string source_root;
  std::string budgets;  ///< the folder with FAMILY.toml; empty: they lie beside the sources
  bool dirty = false;
  std::vector<Device> devices;  ///< as far as they are known yet
  RunRequest asked;
};

inline constexpr std::array<std::uint32_t, 3> kNoCluster = {1, 1, 1};

/// Shape of a launch; `count` launches had this shape.
struct Launch {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t count = 1;
  std::array<std::uint32_t, 3> cluster = kNoCluster;  ///< blocks in x, y and z
  /// The fewest and the most sectors of global memory that launches with equal arguments moved;
  /// nothing where they are not known to differ.
  std::optional<std::array<std::uint64_t, 2>> unequal_sectors = std::nullopt;

  /// True for launches that differ in nothing but their number.
  bool like(const Launch& other) const {
    return grid == other.grid && block == other.block &&
           dynamic_shared_bytes == other.dynamic_shared_bytes && cluster == other.cluster;
  }
  std::uint64_t cluster_blocks() const {
    return std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
  }
  /// Warps of a block; the last may have fewer than 32 threads.
  std::uint64_t warps_per_block() const {
    constexpr std::uint64_t kThreads = 32;
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    return (threads + kThreads - 1) / kThreads;
  }
  /// Warps of all `count` launches.
  std::uint64_t warps() const { return count * grid[0] * grid[1] * grid[2] * warps_per_block(); }
};

/// Adds what is unequal among the launches of `more`.
inline void add_unequal(Launch& launch, const Launch& more) {
  auto& known = launch.unequal_sectors;
  const auto& added = more.unequal_sectors;
  if (!known) {
    known = added;
  } else if (added) {
    known = {std::min((*known)[0], (*added)[0]), std::max((*known)[1], (*added)[1])};
  }
}

/// Adds `more` to the entry of its shape, or appends it.
inline void add(std::vector<Launch>& launches, const Launch& more) {
  for (Launch& launch : launches) {
    if (!launch.like(more)) continue;
    launch.count += more.count;
    add_unequal(launch, more);
    return;
  }
  launches.push_back(more);
}

/// The state of the GPU around a timing: [before, after]; 0 and -1: not known.
struct MachineState {
  std::array<int, 2> sm_clock_mhz{}, memory_clock_mhz{}, temperature_c{};
  std::vector<std::string> throttling;  ///< why clocks were lower than they could be
  int other_processes = -1;             ///< with a CUDA context on the same GPU
  /// Why the time is unfit to be kept ("2 other processes use the GPU"); empty if it is fit.
  std::string disturbance;
};

/// The ends of a confidence interval, in the unit of the value.
struct Interval {
  double low = 0, high = 0;
};

/// The origin of a case: registered, a kernel of an attached or emulated program, a launch inside a
/// test, or compiled code.
enum class CaseKind { catalogue, attached, emulated, measured, inspected };
std::string_view to_string(CaseKind kind);
std::optional<CaseKind> case_kind_from(std::string_view text);

/// A kernel of a case. Hashes are empty where the code is not known.
struct Kernel {
  std::string name;              ///< mangled
  std::string sass_hash;         ///< hash of its machine code without addresses
  std::string source_hash;       ///< hash of the files that its code comes from
  std::vector<Launch> launches;  ///< by shape
};

/// The members, beside the id, that all values of a case on one architecture share.
struct CaseContext {
  CaseKind kind = CaseKind::catalogue;
  std::string device;           ///< name of the device that ran it; empty for compile-time values
  std::vector<Kernel> kernels;  ///< in the order of their first launch
  std::string code_hash;        ///< hashes the machine code and the launches of all kernels
  std::string file;             ///< where it is registered, as Run says
  int line = 0;
};

/// An empty context, for a case of which nothing is known.
const std::shared_ptr<const CaseContext>& no_context();

/// The scope of a value. The value of a whole case is judged; values of a source line or of a node
/// of a graph explain it.
enum class Scope { whole_case, line, node };

/// One value. Members that are empty or nullopt are not written.
struct Fact {
  CaseId id;
  std::string arch;  ///< full name, "sm_90a"; empty if there was no device
  std::shared_ptr<const CaseContext> context = no_context();  ///< never null
  std::string metric;  ///< id in the catalog; `result.correct` where the case itself failed
  Value value;
  std::string
      source;  ///< ptxas | cubin | cupti | cupti-range | emulator | clock | harness; or empty
  Scope scope = Scope::whole_case;
  std::optional<int> node;  ///< number of the graph's node
  std::string kernel;       ///< mangled name of the kernel (the worst one of several)
  std::string file;         ///< the line to blame, as in CaseContext
  int line = 0;
  std::vector<CallSite> inlined;     ///< the chain that the line was inlined through: SourceLine
  std::optional<Interval> interval;  ///< the confidence interval (95 %) of a time
  std::optional<bool> stable;        ///< whether the median of a time is known well enough
  std::string confidence;         ///< exact | predicted | estimate; empty for what was not measured
  std::string confidence_reason;  ///< why it is not exact, one sentence; empty where it is
  /// Bulk copies that a count of global memory leaves out, because it counts the load and store
  /// unit alone.
  std::uint64_t leaves_out = 0;
  BoxedOptional<MachineState> machine;    ///< the GPU around a timing
  BoxedOptional<Limit> limit;             ///< the budget; none if unbudgeted
  Verdict verdict = Verdict::unbudgeted;  ///< not written where it is `unbudgeted`
  std::optional<Verdict> would;           ///< pass or fail: if the value were sure enough
  std::string rule;    ///< the rule of a check that the case breaks: race; empty for other errors
  std::string other;   ///< the other line of source that breaks it, "f.cu:12"; empty: there is none
  std::string cause;   ///< why a value moved: environment
  std::string cure;    ///< cure_of() an access of its line; empty: unknown
  std::string reason;  ///< why the verdict is what it is, one sentence
};

/// True for what a check has found and a budget file waives: it has no value.
inline bool is_waived_finding(const Fact& fact) {
  return fact.verdict == Verdict::waived && !fact.rule.empty();
}

/// The records of a file of facts as JSON objects, as the schema describes them.
nlohmann::ordered_json run_json(const Run& run);
/// The record of a case. Its member `case` is the hash of the other members.
nlohmann::ordered_json case_json(const Fact& fact);
/// Moves the members that values share, but for their case, out of a record of values, which then
/// refers to them, into a record of their own. Its member `shared` is the hash of the other
/// members. Null where the reference would be no shorter.
nlohmann::ordered_json take_shared(nlohmann::ordered_json& values);
/// The records of the values of one case. Values that differ only in metric and number share a
/// record. Values with a verdict keep their order, in which outputs list them. A number that JSON
/// cannot hold (NaN, infinity) becomes null; the judge has put it into the reason. Throws
/// std::out_of_range for a metric that is not in the catalog.
std::vector<nlohmann::ordered_json> values_json(std::span<const Fact> facts,
                                                const std::string& case_name);
/// A limit as an object.
nlohmann::ordered_json limit_json(const Limit& limit);

/// Facts cannot be read or written. what() says file and line.
class FactError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The end of a run: the number of values by verdict, and a sentence for each part that was left
/// out.
struct RunEnd {
  std::map<Verdict, int> counts;
  int exit_code = 0;  ///< 0 to 3, of the run itself, not of a program that it started
  std::vector<std::string> left_out;
};

/// A run as read back. A run without `end` was cut off.
struct StoredRun {
  Run run;
  std::vector<Fact> facts;
  std::optional<RunEnd> end;
  bool torn = false;  ///< a line of the file that may have been of the run was cut off
};

/// Appends records to a file under a lock of the file, so that writers in several processes never
/// mix their lines and a crash loses at most what is being written. The record of the run goes
/// first, and again wherever another run has written in between.
class FactWriter {
 public:
  /// Opens (creates) `path` for appending, and cuts off the torn last line that a crash may have
  /// left there; throws FactError.
  FactWriter(const std::filesystem::path& path, Run run);
  ~FactWriter();
  FactWriter(const FactWriter&) = delete;
  FactWriter& operator=(const FactWriter&) = delete;

  /// Writes all facts with one write() call, and the record of a case, and of members that values
  /// share, before their first value.
  /// Throws FactError with path and cause (such as a full disk); the file then still ends in a
  /// whole line.
  void write(const std::vector<Fact>& facts);
  void write_end(const RunEnd& end);
  const Run& run() const { return run_; }
  /// Opens the file again. A forked process does so because a lock belongs to the open file
  /// description, and its parent does so to cut off the torn line of a fork that has died. All
  /// write the same run. Throws FactError.
  void reopen();
  /// Adds a device to the run, unless it has one of this name. The next records follow a new record
  /// of the run.
  void add_device(const Device& device);

 private:
  void open_file();
  void append(std::string lines);

  int fd_ = -1;
  bool knows_devices_ = false;         // the run that was written has its devices
  std::shared_ptr<std::int64_t> end_;  // size of the file after our last write
  std::filesystem::path path_;
  Run run_;
  std::set<std::string> written_;  // the records of cases and of shared members, by their names
};

class Members;

/// Reads a file of facts, to which others may still append.
class FactReader {
 public:
  /// Decides whether the values of a case are read. Called once for each case of a run, with a fact
  /// without a value.
  using Wanted = std::function<bool(const Fact&)>;

  /// Reads the values of the cases that are wanted (none: all). Throws FactError for a file that
  /// cannot be read.
  explicit FactReader(const std::filesystem::path& path, Wanted wanted = nullptr);

  /// Reads what was appended since the last call and returns all runs so far. A last line without
  /// newline is read when it is whole. Throws FactError with file:line for a line that is no record
  /// of this schema.
  const std::vector<StoredRun>& update();
  /// Moves out the runs so far. A torn last line removes the end of its run.
  std::vector<StoredRun> runs() &&;

  /// Reads the whole file, from its beginning at each call, and returns the runs with the values of
  /// the cases that are wanted. Other cases keep their records alone.
  std::vector<StoredRun> read(const Wanted& wanted);

 private:
  [[noreturn]] void refuse(std::string_view why) const;
  void read(const std::string& line);
  void keep_shared(Members& members);
  /// Throws MalformedFact for members that no record has named.
  const nlohmann::ordered_json& shared(const std::string& name) const;
  void begin(Run run);

  bool is_known(std::string_view line) const;
  void mark_torn();

  std::filesystem::path path_;
  Wanted wanted_;  // none: all
  std::ifstream file_;
  std::size_t line_ = 0;  // the number of the last line read
  bool torn_ = false;
  std::vector<StoredRun> runs_;
  std::size_t current_ = 0;  // the run that records belong to

  struct Described {
    std::string line;  // the text of the record
    Fact fact;         // without a value
    bool is_wanted = true;
  };
  /// The records of a run that others refer to, by name.
  struct Named {
    std::unordered_map<std::string, Described> cases;
    std::unordered_map<std::string, std::shared_ptr<const nlohmann::ordered_json>> shared;
  };
  std::vector<Named> named_;  // of each run
};

/// Reads a file of facts to its end. A last line without newline (a crash while it was written) is
/// dropped, and so is the end of its run.
std::vector<StoredRun> read_facts(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
