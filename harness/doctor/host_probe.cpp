// Checks files, variables and processes of the machine.
#include "harness/doctor/host_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "harness/process/output_of.h"

namespace warpgauge::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOtherFolder = "choose another folder with --out";

/// The first line of a file that begins with `key` and a colon, without them; nullopt if there is
/// none.
std::optional<std::string> value_of(const fs::path& path, std::string_view key) {
  const std::string label = std::string(key) + ":";
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(label)) continue;
    const std::size_t first = line.find_first_not_of(" \t", label.size());
    return first == line.npos ? "" : line.substr(first);
  }
  return std::nullopt;
}

std::string word_in(const fs::path& path) {
  std::ifstream stream(path);
  std::string word;
  stream >> word;
  return word;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ends;  // a process may end meanwhile
  for (fs::directory_iterator at(folder, ends), end; !ends && at != end; at.increment(ends)) {
    entries.push_back(at->path());
  }
  return entries;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Capabilities of this process that let it read counters, by name.
std::set<std::string_view> capabilities(const HostProbe& here) {
  constexpr int kSysAdmin = 21, kPerfmon = 38;
  const std::string text = value_of(here.at("/proc/self/status"), "CapEff").value_or("");
  std::uint64_t mask = 0;
  std::from_chars(text.data(), text.data() + text.size(), mask, 16);
  std::set<std::string_view> names;
  if ((mask >> kSysAdmin & 1) != 0) names.insert("CAP_SYS_ADMIN");
  if ((mask >> kPerfmon & 1) != 0) names.insert("CAP_PERFMON");
  return names;
}

bool is_container(const HostProbe& here) {
  return fs::exists(here.at("/.dockerenv")) || fs::exists(here.at("/run/.containerenv")) ||
         here.variable("container").has_value();
}

/// `path` if it exists, else the nearest existing folder above it.
fs::path nearest_there(fs::path path) {
  std::error_code error;
  path = fs::absolute(path, error);
  while (!fs::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

}  // namespace

HostProbe HostProbe::of_this_machine() {
  HostProbe here;
  here.variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return here;
}

fs::path HostProbe::at(const std::string& path) const {
  return root / fs::path(path).relative_path();
}

std::vector<std::string> HostProbe::processes() const {
  std::vector<std::string> names;
  for (const fs::path& entry : entries_of(at("/proc"))) {
    if (!is_number(entry.filename())) continue;
    std::ifstream stream(entry / "comm");
    std::string name;
    if (std::getline(stream, name)) names.push_back(name);
  }
  return names;
}

int gpus_on_bus(const HostProbe& here) {
  int count = 0;
  for (const fs::path& device : entries_of(here.at("/sys/bus/pci/devices"))) {
    const bool display = word_in(device / "class").starts_with("0x03");
    count += display && word_in(device / "vendor") == "0x10de" ? 1 : 0;
  }
  return count;
}

Precondition check_permission(const HostProbe& here) {
  Precondition finding{.id = "permission"};
  const auto restricted = value_of(here.at("/proc/driver/nvidia/params"), "RmProfilingAdminOnly");
  const std::set<std::string_view> own = capabilities(here);
  if (!restricted) {
    finding.text = "/proc/driver/nvidia/params does not say whether users may read counters";
    return finding;
  }
  if (*restricted == "0") {
    finding.health = Health::ok;
    finding.text = "every user may read the counters";
    return finding;
  }
  if (!own.empty()) {
    finding.health = Health::ok;
    finding.text = fmt::format("counters are for administrators, and this process is one: {}",
                               fmt::join(own, ", "));
    if (!own.contains("CAP_SYS_ADMIN")) finding.text += " (suffices from driver 565 on)";
    return finding;
  }
  finding.health = Health::warn;
  finding.text = "counters are for administrators, and this process is not one";
  finding.remedy =
      is_container(here)
          ? "start the container with --cap-add=SYS_ADMIN"
          : "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
            "/etc/modprobe.d/nvidia-profiling.conf, rebuild the initramfs and reboot; or run as "
            "root";
  return finding;
}

Precondition check_mps(const HostProbe& here) {
  constexpr std::string_view kCut = "nvidia-cuda-mps";  // -control, -server: cut by the kernel
  const std::string folder = here.variable("CUDA_MPS_PIPE_DIRECTORY").value_or("/tmp/nvidia-mps");
  const std::vector<std::string> processes = here.processes();
  const bool runs = std::ranges::find(processes, kCut) != processes.end();
  const bool pipe = fs::exists(here.at(folder) / "control");
  if (!runs && !pipe) {
    return {.id = "MPS", .health = Health::ok, .text = "no daemon, and no pipe in " + folder};
  }
  return {.id = "MPS",
          .health = Health::warn,
          .text = runs ? "its daemon runs: CUPTI cannot count kernels that it serves"
                       : fmt::format("{}/control exists, but no daemon is visible: it may run "
                                     "outside of this container, or have ended",
                                     folder),
          .remedy = "echo quit | nvidia-cuda-mps-control"};
}

Precondition check_profilers(const HostProbe& here) {
  struct Known {
    std::string_view comm, name, remedy;
  };
  constexpr std::string_view kEnd = "wait for it to end, or stop it";
  constexpr Known kKnown[] = {
      {"nv-hostengine", "DCGM (nv-hostengine)", "dcgmi profile --pause"},
      {"dcgm-exporter", "DCGM (dcgm-exporter)", "dcgmi profile --pause"},
      {"ncu", "Nsight Compute", kEnd},
      {"nsys", "Nsight Systems", kEnd},
      {"nsys-launcher", "Nsight Systems", kEnd},
      {"cuda-gdb", "cuda-gdb", kEnd},
      {"compute-sanitiz", "compute-sanitizer", kEnd},
  };
  const std::vector<std::string> processes = here.processes();
  std::set<std::string_view> names, remedies;
  for (const Known& known : kKnown) {
    if (std::ranges::find(processes, known.comm) == processes.end()) continue;
    names.insert(known.name);
    remedies.insert(known.remedy);
  }
  if (processes.empty()) return {.id = "other profilers", .text = "no process can be seen"};
  if (names.empty()) {
    return {.id = "other profilers",
            .health = Health::ok,
            .text = fmt::format("none among the {} processes that can be seen", processes.size())};
  }
  return {.id = "other profilers",
          .health = Health::warn,
          .text = fmt::format("{}: may hold the counters", fmt::join(names, ", ")),
          .remedy = fmt::format("{}", fmt::join(remedies, "; "))};
}

Precondition check_injection(const HostProbe& here) {
  std::vector<std::string> set, names;
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const auto value = here.variable(name);
    if (!value || value->empty()) continue;
    names.emplace_back(name);
    set.push_back(fmt::format("{}={}", name, *value));
  }
  if (set.empty()) {
    return {.id = "injected tools", .health = Health::ok, .text = "no variable attaches one"};
  }
  return {.id = "injected tools",
          .health = Health::warn,
          .text = fmt::format("{}: a tool in this process; CUPTI lets only one count",
                              fmt::join(set, ", ")),
          .remedy = fmt::format("unset {}", fmt::join(names, " "))};
}

Precondition check_out(const fs::path& out) {
  Precondition finding{.id = id::kOutput, .remedy = kOtherFolder};
  std::error_code error;
  const fs::path there = nearest_there(out);
  if (out.empty() || !fs::is_directory(there, error)) {
    finding.health = Health::fail;
    finding.text = fmt::format("--out '{}': {} is not a folder", out.string(), there.string());
    return finding;
  }
  // Every folder looks writable to root, so try.
  std::string probe = (there / ".warpgauge-XXXXXX").string();
  if (mkdtemp(probe.data()) == nullptr) {
    finding.health = Health::fail;
    finding.text = fmt::format("--out '{}': {} cannot be written: {}", out.string(), there.string(),
                               std::generic_category().message(errno));
    return finding;
  }
  fs::remove(probe, error);
  const fs::space_info space = fs::space(there, error);
  return check_room(out, error ? 0 : space.available);
}

Precondition check_room(const fs::path& out, std::uintmax_t free_bytes) {
  constexpr std::uintmax_t kEnoughMiB = 100;  // facts of some thousand cases
  const std::uintmax_t free_mib = free_bytes >> 20;
  const bool is_enough = free_mib >= kEnoughMiB;
  return {.id = id::kOutput,
          .health = is_enough ? Health::ok : Health::warn,
          .text = fmt::format("'{}' can be written, {} MiB are free", out.string(), free_mib),
          .remedy = is_enough ? "" : kOtherFolder};
}

Precondition check_python(const fs::path& programs) {
  const std::string program = programs / "warpgauge-python";
  Precondition finding{.id = "Python", .health = Health::warn};
  finding.remedy = "name another Python in WARPGAUGE_PYTHON (reports and CI formats need it)";
  if (!fs::exists(program)) {
    finding.text = program + " is not there";
    return finding;
  }
  // What it lacks, "REASON: REMEDY", or nothing.
  const std::optional<std::string> lacks = process::output_of({program, "--missing"});
  if (!lacks) {
    finding.text = program + " cannot be run";
    const char* why = R"("$0" --missing 2>&1 | tail -n 1)";
    const std::string line = process::output_of({"sh", "-c", why, program}).value_or("");
    if (!line.empty()) finding.text += ": " + line;
    return finding;
  }
  if (lacks->empty()) {
    return {.id = "Python", .health = Health::ok, .text = program + " can be run"};
  }
  const std::size_t colon = lacks->find(": ");
  finding.text = program + " " + lacks->substr(0, colon);
  if (colon != lacks->npos) finding.remedy = lacks->substr(colon + 2);
  return finding;
}

}  // namespace warpgauge::doctor
