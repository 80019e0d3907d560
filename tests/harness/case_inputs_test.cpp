// What the values of a case depend on: each change is seen, and only where it matters.
#include "harness/cases/case_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "harness/files/temporary_path.h"
#include "harness/process/loaded_libraries.h"
#include "warpgauge/problem.h"

namespace warpgauge {
namespace {

using metrics::Inputs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Circumstances kHere = {.machine = "H100 9.0 580.65",
                             .libraries = {"libm.so.6 01"},
                             .options = "async",
                             .linked_files = "11 scan\n22 reduce\n33 reduce sum\n44\n",
                             .other_files = "55\n66 scan\n",
                             .named_libraries = "m"};

Case case_of(const std::string& family) {
  return {.id = {family, "plain", "f32", "64"},
          .file = "/nowhere/family.cu",
          .make_problem = nullptr,
          .launch = nullptr};
}

Inputs inputs_of(const Circumstances& circumstances, const std::string& family = "scan") {
  return CaseInputs(circumstances).of(case_of(family));
}

/// The words whose hashes differ.
std::vector<std::string> changed(const Circumstances& circumstances,
                                 const std::string& family = "scan") {
  std::vector<std::string> words;
  for (const auto& [word, hash] : inputs_of(kHere, family)) {
    if (inputs_of(circumstances, family).at(word) != hash) words.push_back(word);
  }
  return words;
}

Circumstances with(const std::function<void(Circumstances&)>& change) {
  Circumstances circumstances = kHere;
  change(circumstances);
  return circumstances;
}

TEST(CaseInputs, AreTheSameWhereNothingChanges) {
  EXPECT_THAT(changed(kHere), IsEmpty());
  EXPECT_EQ(inputs_of(kHere).size(), 6u);
}

TEST(CaseInputs, SeeTheObjectsOfTheFamilyAlone) {
  const Circumstances kernel =
      with([](auto& c) { c.linked_files = "11 scan\n2f reduce\n33 reduce sum\n44\n"; });
  EXPECT_THAT(changed(kernel, "reduce"), ElementsAre("code"));
  EXPECT_THAT(changed(kernel, "scan"), IsEmpty());
  const Circumstances shared =
      with([](auto& c) { c.linked_files = "11 scan\n22 reduce\n3f reduce sum\n44\n"; });
  EXPECT_THAT(changed(shared, "reduce"), ElementsAre("code"));
  EXPECT_THAT(changed(shared, "sum"), ElementsAre("code"));
  // Of one family a part may need a GPU, as variants that call a library.
  const Circumstances on_gpu = with([](auto& c) { c.other_files = "55\n6f scan\n"; });
  EXPECT_THAT(changed(on_gpu, "scan"), ElementsAre("code"));
  EXPECT_THAT(changed(on_gpu, "sum"), IsEmpty());
}

TEST(CaseInputs, SeeWhatAllFamiliesShare) {
  const auto only = [](const char* word, const std::function<void(Circumstances&)>& change) {
    EXPECT_THAT(changed(with(change)), ElementsAre(word));
  };
  only("linked", [](auto& c) { c.linked_files = "11 scan\n22 reduce\n33 reduce sum\n4f\n"; });
  only("counting", [](auto& c) { c.other_files = "5f\n66 scan\n"; });
  only("machine", [](auto& c) { c.machine = "H100 9.0 580.66"; });
  only("machine", [](auto& c) { c.machine = "H200 9.0 580.65"; });
  only("machine", [](auto& c) { c.libraries = {"libm.so.6 02"}; });
  only("options", [](auto& c) { c.options = "races"; });
  const files::TemporaryPath project = files::TemporaryPath::file();
  std::ofstream(project.path()) << "[default]\nregisters = { max = 1 }\n";
  only("budgets", [&](auto& c) { c.project = project.path(); });
}

TEST(CaseInputs, SeeVariablesOfCudaButNotTheChoiceOfADevice) {
  const Inputs before = inputs_of(kHere);
  setenv("CUDA_VISIBLE_DEVICES", "3", 1);
  EXPECT_EQ(inputs_of(kHere), before);
  setenv("CUDA_FORCE_PTX_JIT", "1", 1);
  EXPECT_THAT(inputs_of(kHere), testing::Ne(before));
  unsetenv("CUDA_FORCE_PTX_JIT");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(inputs_of(kHere), before);
}

TEST(CaseInputs, AreNotKnownWhereTheBuildDoesNotSay) {
  CaseInputs inputs(kHere);
  EXPECT_THAT(inputs.of(case_of("other")), IsEmpty());
  EXPECT_EQ(inputs.why_unknown(case_of("other")), "no object of the build is known to register it");
  CaseInputs unknown(with([](auto& c) { c.named_libraries = "m\nfast"; }));
  EXPECT_THAT(unknown.of(case_of("scan")), IsEmpty());
  EXPECT_THAT(unknown.why_unknown(case_of("scan")), HasSubstr("linked with fast"));
  CaseInputs loaded(with([](auto& c) {
    c.named_libraries = "m\nfast";
    c.libraries.insert("libfast.so.1 07");
  }));
  EXPECT_EQ(loaded.why_unknown(case_of("scan")), "");
}

TEST(CaseInputs, HaveNamesForPeople) {
  for (const auto& [word, hash] : inputs_of(kHere)) EXPECT_NE(name_of_input(word), word);
}

TEST(LoadedLibraries, HaveNameAndContent) {
  const std::set<std::string> libraries = process::loaded_libraries();
  EXPECT_THAT(libraries, testing::Contains(testing::ContainsRegex("^libc\\.so\\.6 [0-9a-f]+$")));
  EXPECT_EQ(libraries, process::loaded_libraries());
}

}  // namespace
}  // namespace warpgauge
