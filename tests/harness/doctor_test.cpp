// The doctor's findings on an invented machine, because no real one has all the faults.
#include "harness/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "harness/doctor/counting_findings.h"
#include "harness/doctor/gpu_findings.h"
#include "harness/doctor/host_probe.h"
#include "harness/doctor/precondition.h"

namespace warpgauge::doctor_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::chrono::seconds kTimeLimit{10};

/// A machine in a folder of its own.
class Machine : public testing::Test {
 protected:
  Machine() {
    std::string name = fs::temp_directory_path() / "doctor-XXXXXX";
    here_.root = mkdtemp(name.data());
    here_.variable = [this](const char* variable) -> std::optional<std::string> {
      const auto found = variables_.find(variable);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
  }
  ~Machine() override { fs::remove_all(here_.root); }

  void file(const std::string& path, const std::string& text) const {
    fs::create_directories(here_.at(path).parent_path());
    std::ofstream(here_.at(path)) << text;
  }
  void process(int id, const std::string& name) const {
    file("/proc/" + std::to_string(id) + "/comm", name + "\n");
  }
  void restricted(bool yes) const {
    file("/proc/driver/nvidia/params",
         std::string("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: ") + (yes ? "1" : "0") +
             "\n");
  }

  std::map<std::string, std::string> variables_;
  doctor::HostProbe here_;
};

TEST_F(Machine, WithoutDriverSaysNothingOfThePermission) {
  EXPECT_EQ(doctor::check_permission(here_).health, doctor::Health::unknown);
}

TEST_F(Machine, LetsEveryUserReadCounters) {
  restricted(false);
  file("/proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_EQ(doctor::check_permission(here_).health, doctor::Health::ok);
}

TEST_F(Machine, LetsAdministratorsReadCounters) {
  restricted(true);
  file("/proc/self/status", "CapInh:\t0\nCapEff:\t000001ffffffffff\n");
  const doctor::Precondition finding = doctor::check_permission(here_);
  EXPECT_EQ(finding.health, doctor::Health::ok);
  EXPECT_THAT(finding.text, HasSubstr("CAP_SYS_ADMIN"));
}

TEST_F(Machine, NamesTheFirstDriverForPerfmon) {
  restricted(true);
  file("/proc/self/status", "CapEff:\t0000004000000000\n");
  const doctor::Precondition finding = doctor::check_permission(here_);
  EXPECT_EQ(finding.health, doctor::Health::ok);
  EXPECT_THAT(finding.text, HasSubstr("CAP_PERFMON (suffices from driver 565 on)"));
}

TEST_F(Machine, KeepsCountersFromUsers) {
  restricted(true);
  file("/proc/self/status", "CapEff:\t00000000a80425fb\n");  // the capabilities of root in Docker
  EXPECT_EQ(doctor::check_permission(here_).health, doctor::Health::warn);
  EXPECT_THAT(doctor::check_permission(here_).remedy, HasSubstr("/etc/modprobe.d"));
  file("/.dockerenv", "");
  EXPECT_THAT(doctor::check_permission(here_).remedy, HasSubstr("--cap-add=SYS_ADMIN"));
}

TEST_F(Machine, HasNoMps) { EXPECT_EQ(doctor::check_mps(here_).health, doctor::Health::ok); }

TEST_F(Machine, RunsMps) {
  process(12, "nvidia-cuda-mps");
  EXPECT_EQ(doctor::check_mps(here_).health, doctor::Health::warn);
  EXPECT_THAT(doctor::check_mps(here_).text, HasSubstr("its daemon runs"));
}

TEST_F(Machine, HasThePipeOfAnMpsThatIsNotSeen) {
  file("/mps/control", "");
  EXPECT_EQ(doctor::check_mps(here_).health, doctor::Health::ok);
  variables_["CUDA_MPS_PIPE_DIRECTORY"] = "/mps";
  EXPECT_EQ(doctor::check_mps(here_).health, doctor::Health::warn);
  EXPECT_THAT(doctor::check_mps(here_).text, HasSubstr("/mps/control"));
}

TEST_F(Machine, RunsOtherProfilers) {
  EXPECT_EQ(doctor::check_profilers(here_).health,
            doctor::Health::unknown);  // not even this process is seen
  process(1, "init");
  process(20, "ncurses");
  EXPECT_EQ(doctor::check_profilers(here_).health, doctor::Health::ok);
  process(21, "nv-hostengine");
  process(22, "ncu");
  const doctor::Precondition finding = doctor::check_profilers(here_);
  EXPECT_EQ(finding.health, doctor::Health::warn);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("DCGM"), HasSubstr("Nsight Compute")));
  EXPECT_THAT(finding.remedy, HasSubstr("dcgmi profile --pause"));
}

TEST_F(Machine, AttachesToolsByVariables) {
  variables_["CUDA_INJECTION64_PATH"] = "";
  EXPECT_EQ(doctor::check_injection(here_).health, doctor::Health::ok);
  variables_["NVTX_INJECTION64_PATH"] = "/opt/tool.so";
  const doctor::Precondition finding = doctor::check_injection(here_);
  EXPECT_EQ(finding.health, doctor::Health::warn);
  EXPECT_THAT(finding.text, HasSubstr("NVTX_INJECTION64_PATH=/opt/tool.so"));
  EXPECT_EQ(finding.remedy, "unset NVTX_INJECTION64_PATH");
}

TEST_F(Machine, ShowsGpusWithoutDriver) {
  EXPECT_EQ(doctor::gpus_on_bus(here_), 0);
  file("/sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
  file("/sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
  file("/sys/bus/pci/devices/0000:3b:00.1/class", "0x040300\n");  // its audio
  file("/sys/bus/pci/devices/0000:3b:00.1/vendor", "0x10de\n");
  file("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
  file("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
  EXPECT_EQ(doctor::gpus_on_bus(here_), 1);
}

TEST_F(Machine, TakesOutput) {
  EXPECT_NE(doctor::check_out(here_.root / "new" / "folder").health, doctor::Health::fail);
  EXPECT_FALSE(fs::exists(here_.root / "new"));
  file("/file", "");
  EXPECT_EQ(doctor::check_out(here_.root / "file").health, doctor::Health::fail);
  EXPECT_EQ(doctor::check_out(here_.root / "file" / "folder").health, doctor::Health::fail);
  EXPECT_EQ(doctor::check_out("").health, doctor::Health::fail);
}

TEST_F(Machine, HasRoomForOutput) {
  const doctor::Precondition enough = doctor::check_room("results", 100 << 20);
  EXPECT_EQ(enough.health, doctor::Health::ok);
  EXPECT_EQ(enough.text, "'results' can be written, 100 MiB are free");
  EXPECT_EQ(enough.remedy, "");
  const doctor::Precondition little = doctor::check_room("results", (100 << 20) - 1);
  EXPECT_EQ(little.health, doctor::Health::warn);
  EXPECT_EQ(little.text, "'results' can be written, 99 MiB are free");
  EXPECT_EQ(little.remedy, "choose another folder with --out");
  for (const doctor::Precondition& finding : {enough, little, doctor::check_out(here_.root)}) {
    EXPECT_EQ(finding.id, doctor::id::kOutput);
  }
  // That of the disk, which others may write to meanwhile.
  const std::string text = doctor::check_out(here_.root / "new").text;
  const double shown = std::stod(text.substr(text.find("written, ") + 9));
  const double free_mib = static_cast<double>(fs::space(here_.root).available) / (1 << 20);
  EXPECT_NEAR(shown, free_mib, 100 + free_mib / 10) << text;
}

TEST_F(Machine, LacksPython) {
  const doctor::Precondition finding = doctor::check_python(here_.root);
  EXPECT_EQ(finding.health, doctor::Health::warn);
  EXPECT_THAT(finding.remedy, HasSubstr("WARPGAUGE_PYTHON"));
}

TEST_F(Machine, HasAPythonAndSaysWhatItLacks) {
  const struct {
    const char* script;
    doctor::Health health;
    const char* text;  // after the path of the program
    const char* remedy;
  } kPythons[] = {
      {"exit 0", doctor::Health::ok, " can be run", ""},
      {"echo 'lacks the Python modules a, b: install them with `pip install a b`'",
       doctor::Health::warn, " lacks the Python modules a, b",
       "install them with `pip install a b`"},
      {"echo 'python3: not there; run ci/bootstrap' >&2; exit 2", doctor::Health::warn,
       " cannot be run: python3: not there; run ci/bootstrap", "WARPGAUGE_PYTHON"},
      {"exit 2", doctor::Health::warn, " cannot be run", "WARPGAUGE_PYTHON"},
  };
  const fs::path program = here_.root / "warpgauge-python";
  for (const auto& python : kPythons) {
    file("/warpgauge-python", std::string("#!/bin/sh\n") + python.script + "\n");
    fs::permissions(program, fs::perms::owner_all);
    const doctor::Precondition finding = doctor::check_python(here_.root);
    EXPECT_EQ(finding.health, python.health) << python.script;
    EXPECT_EQ(finding.text, program.string() + python.text);
    EXPECT_THAT(finding.remedy, HasSubstr(python.remedy));
  }
}

TEST_F(Machine, LacksTheEmulator) {
  const doctor::Precondition finding =
      doctor::check_emulator(here_.root / "warpgauge-emulated", kTimeLimit);
  EXPECT_EQ(finding.health, doctor::Health::fail);
  EXPECT_THAT(finding.text, HasSubstr("is not there"));
}

TEST_F(Machine, HasAnEmulatorThatSaysSomethingElse) {
  for (const char* text : {"not json", "{}", R"({"checks": []})", R"({"checks": [{"id": 1}]})"}) {
    const fs::path program = here_.root / "warpgauge-emulated";
    file("/warpgauge-emulated", std::string("#!/bin/sh\ncat <<'END'\n") + text + "\nEND\n");
    fs::permissions(program, fs::perms::owner_all);
    const doctor::Precondition finding = doctor::check_emulator(program, kTimeLimit);
    EXPECT_EQ(finding.health, doctor::Health::fail) << text;
    EXPECT_THAT(finding.remedy, HasSubstr("warpgauge-emulated doctor"));
  }
}

TEST(Driver, IsHeldAgainstTheToolkit) {
  EXPECT_EQ(doctor::check_driver(0, 13000, "").health, doctor::Health::unknown);
  EXPECT_EQ(doctor::check_driver(13000, 13000, "580.65").health, doctor::Health::ok);
  EXPECT_EQ(doctor::check_driver(13010, 12080, "590.1").health, doctor::Health::ok);
  EXPECT_EQ(doctor::check_driver(12080, 12090, "570.26").health, doctor::Health::warn);
  const doctor::Precondition old = doctor::check_driver(12080, 13000, "570.26");
  EXPECT_EQ(old.health, doctor::Health::fail);
  EXPECT_EQ(old.text, "570.26 supports CUDA 12.8; this was built with CUDA 13.0");
  EXPECT_THAT(old.remedy, HasSubstr("Install an NVIDIA driver"));
}

TEST(Architectures, HaveCodeForTheGpu) {
  using Archs = std::vector<std::string>;
  const auto health = [](const Archs& cubins, const Archs& ptx, const std::string& arch) {
    return doctor::check_architectures(cubins, ptx, arch).health;
  };
  EXPECT_EQ(health({"sm_80", "sm_90"}, {}, "sm_90"), doctor::Health::ok);
  EXPECT_EQ(health({"sm_90a"}, {}, "sm_90"), doctor::Health::ok);
  EXPECT_EQ(health({"sm_80"}, {}, "sm_86"),
            doctor::Health::warn);  // machine code of its major version
  EXPECT_EQ(health({"sm_100f"}, {}, "sm_103"), doctor::Health::warn);  // of its family
  EXPECT_EQ(health({"sm_100a"}, {}, "sm_103"), doctor::Health::fail);
  EXPECT_EQ(health({"sm_86"}, {}, "sm_80"), doctor::Health::fail);
  EXPECT_EQ(health({"sm_90"}, {}, "sm_100"), doctor::Health::fail);
  EXPECT_EQ(health({"sm_90"}, {"sm_90"}, "sm_100"),
            doctor::Health::warn);  // the driver compiles it
  EXPECT_EQ(health({"sm_90"}, {"sm_90a"}, "sm_100"), doctor::Health::fail);
  EXPECT_EQ(health({}, {}, "sm_90"), doctor::Health::fail);
  EXPECT_THAT(doctor::check_architectures(Archs{"sm_90", "sm_90a"}, Archs{}, "sm_90").text,
              HasSubstr("machine code for sm_90a is in this build"));
  EXPECT_THAT(doctor::check_architectures(Archs{"sm_75"}, Archs{}, "sm_90").remedy,
              HasSubstr("-DCMAKE_CUDA_ARCHITECTURES=90"));
  EXPECT_THAT(doctor::check_architectures(Archs{"sm_100", "sm_90"}, Archs{}, "").text,
              HasSubstr("machine code for sm_90 sm_100; PTX for nothing"));
}

TEST(GpuState, IsFineWhenNothingDisturbsIt) {
  metrics::GpuState state;
  state.sm_clock_mhz = state.max_sm_clock_mhz = 1980;
  EXPECT_THAT(doctor::check_state(state),
              testing::Each(Field(&doctor::Precondition::health, doctor::Health::ok)));
}

TEST(GpuState, NamesDisturbances) {
  metrics::GpuState state;
  state.sm_clock_mhz = 900;
  state.max_sm_clock_mhz = 1980;
  state.throttling = {"power cap"};
  state.processes = 2;
  state.mig = true;
  const std::vector<doctor::Precondition> findings = doctor::check_state(state);
  EXPECT_THAT(findings, testing::Each(Field(&doctor::Precondition::health, doctor::Health::warn)));
  EXPECT_THAT(findings,
              ElementsAre(Field(&doctor::Precondition::id, "MIG"),
                          Field(&doctor::Precondition::text, HasSubstr("slowed down: power cap")),
                          Field(&doctor::Precondition::text, HasSubstr("2 on this GPU"))));
}

TEST(Precondition, OfAnErrorHasItsRemedy) {
  const doctor::Precondition finding =
      doctor::failed_finding("exact count", "nothing there. Look. Again");
  EXPECT_EQ(finding.text, "nothing there");
  EXPECT_EQ(finding.remedy, "Look. Again");
  EXPECT_THAT(doctor::failed_finding("x", "file.cpp:3 went wrong").remedy, IsEmpty());
}

TEST(Precondition, IsReadBack) {
  const doctor::Precondition finding{
      .id = "MPS", .health = doctor::Health::warn, .text = "it \"runs\"", .needed = true};
  const doctor::Precondition again =
      doctor::finding_from(nlohmann::json::parse(doctor::json_of(finding).dump()));
  EXPECT_EQ(doctor::json_of(again), doctor::json_of(finding));
  nlohmann::json other = doctor::json_of(finding);
  other["health"] = "well";
  EXPECT_THROW(doctor::finding_from(other), std::invalid_argument);
  EXPECT_THROW(doctor::finding_from(nlohmann::json::object()), nlohmann::json::exception);
}

TEST(Findings, AreSettledByWhatIsNeeded) {
  std::vector<doctor::Precondition> findings = {{.id = "a", .health = doctor::Health::unknown},
                                                {.id = "b", .health = doctor::Health::fail},
                                                {.id = "c", .health = doctor::Health::unknown},
                                                {.id = "d", .health = doctor::Health::warn}};
  doctor::settle({"a", "d"}, findings);
  EXPECT_THAT(findings, ElementsAre(Field(&doctor::Precondition::health,
                                          doctor::Health::fail),  // fails closed
                                    Field(&doctor::Precondition::health, doctor::Health::warn),
                                    Field(&doctor::Precondition::health, doctor::Health::unknown),
                                    Field(&doctor::Precondition::health, doctor::Health::warn)));
  EXPECT_FALSE((doctor::Diagnosis{findings, "gpu"}).ready());
  EXPECT_THROW(doctor::settle({"e"}, findings), std::out_of_range);  // e was not looked at
}

TEST(Diagnosis, IsShownAligned) {
  const doctor::Diagnosis diagnosis = {{{.id = "GPU", .health = doctor::Health::ok, .text = "here"},
                                        {.id = "clocks",
                                         .health = doctor::Health::unknown,
                                         .text = "who knows\033[2J\nok",
                                         .remedy = "ask"}},
                                       "gpu"};
  EXPECT_EQ(doctor::diagnosis_text(diagnosis, false),
            "ok       GPU     here\n"
            "unknown  clocks  who knows\\x1b[2J ok\n"
            "                 > ask\n"
            "\n"
            "ready: the gate runs and counts kernels on the GPU\n");
  EXPECT_THAT(doctor::diagnosis_text(diagnosis, true), HasSubstr("\033[32mok     \033[0m  GPU"));
}

TEST(Diagnosis, NamesWhatFailed) {
  const doctor::Diagnosis diagnosis = {
      {{.id = "a", .health = doctor::Health::fail, .text = "", .needed = true},
       {.id = "b", .health = doctor::Health::ok, .text = "", .needed = true}},
      "gpu"};
  EXPECT_THAT(doctor::diagnosis_text(diagnosis, false),
              AllOf(HasSubstr("not ready: a\n"), Not(HasSubstr("\033"))));
  const auto json = nlohmann::json::parse(doctor::diagnosis_json(diagnosis));
  EXPECT_EQ(json.at("ready"), false);
  EXPECT_EQ(json.at("checks").size(), 2u);
}

TEST(Diagnosis, IsJsonWhateverBytesThereAre) {
  const doctor::Diagnosis diagnosis = {
      {{.id = "a", .health = doctor::Health::ok, .text = "\xff\x80"}}, "gpu"};
  EXPECT_TRUE(nlohmann::json::accept(doctor::diagnosis_json(diagnosis)));
}

TEST(Toolkit, OneThatWasTestedIsFine) {
  for (const std::string_view toolkit : {"13.0", "13.5", "12.9"}) {
    const doctor::Precondition finding = doctor::check_toolkit(toolkit, "13.5");
    EXPECT_EQ(finding.health, doctor::Health::ok);
    EXPECT_EQ(finding.text, "CUDA " + std::string(toolkit) + " compiled the kernels");
  }
}

TEST(Toolkit, ANewerOneIsNamedWithWhatItMeans) {
  for (const std::string_view toolkit : {"13.6", "13.10", "14.0"}) {
    const doctor::Precondition finding = doctor::check_toolkit(toolkit, "13.5");
    EXPECT_EQ(finding.health, doctor::Health::warn);
    EXPECT_THAT(finding.text, HasSubstr("the newest that was tested is 13.5"));
    EXPECT_THAT(finding.remedy, HasSubstr("predicted"));
  }
}

}  // namespace
}  // namespace warpgauge::doctor_test
