// The PTX parser on what nvcc wrote: tests/data/ptx.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/emulator/ptx/source_lines.h"
#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::ptx::ptx_recorded_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(WARPGAUGE_TEST_DATA) / "ptx";

std::string text_of_file(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return (std::stringstream() << in.rdbuf()).str();
}

Module recorded(const std::string& name) { return parse(text_of_file(kFolder / name), name); }

const Function& function(const Module& module, std::string_view name) {
  const Function* found = module.find(name);
  if (found == nullptr) throw std::runtime_error("no function " + std::string(name));
  return *found;
}

Variable variable(const Module& module, const std::string& name) {
  const auto found = std::ranges::find(module.variables, name, &Variable::name);
  if (found == module.variables.end()) throw std::runtime_error("no variable " + name);
  return *found;
}

template <typename T>
std::vector<T> values_of(const Variable& variable) {
  std::vector<T> values(variable.initial.size() / sizeof(T));
  std::memcpy(values.data(), variable.initial.data(), values.size() * sizeof(T));
  return values;
}

/// Source line of the first instruction with this opcode.
int line_of(const Module& module, const Function& function, std::string_view name) {
  for (const Instruction& instruction : function.body) {
    if (instruction.full_name() != name) continue;
    return ptx::line_of(instruction, module).line;
  }
  throw std::runtime_error("no instruction " + std::string(name));
}

/// Counts instructions without a grammar: semicolons outside of comments and directives.
std::ptrdiff_t count_of_instructions(const std::string& text) {
  const std::string code = std::regex_replace(text, std::regex("//[^\n]*"), "");
  const std::regex directive(
      R"([\s{:]\.(reg|local|shared|global|const|pragma|callprototype)\b[^;]*;|)"
      R"(\s\.param\b[^;,()]*;|\.func\b[^;{]*;)");
  return std::ranges::count(code, ';') -
         std::distance(std::sregex_iterator(code.begin(), code.end(), directive), {});
}

std::vector<fs::path> recorded_files() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  }
  EXPECT_THAT(files, SizeIs(4));
  return files;
}

TEST(PtxRecorded, NoInstructionIsLost) {
  for (const fs::path& file : recorded_files()) {
    const std::string text = text_of_file(file);
    std::ptrdiff_t instructions = 0;
    for (const Function& function : parse(text, "").functions) {
      instructions += std::ssize(function.body);
    }
    EXPECT_EQ(instructions, count_of_instructions(text)) << file;
  }
}

TEST(PtxRecorded, NamesAreUniqueInAFunction) {
  for (const fs::path& file : recorded_files()) {
    for (const Function& function : parse(text_of_file(file), "").functions) {
      std::vector<std::string> names;
      for (const Register& reg : function.registers) names.push_back(reg.name);
      for (const Variable& variable : function.variables) names.push_back(variable.name);
      for (const Label& label : function.labels) names.push_back(label.name);
      const std::set<std::string> distinct(names.begin(), names.end());
      EXPECT_EQ(distinct.size(), names.size()) << file << " " << function.name;
    }
  }
}

TEST(PtxRecorded, EveryInstructionHasALineOfTheSourceAndNoneOfTheToolkit) {
  for (const fs::path& file : recorded_files()) {
    const Module module = parse(text_of_file(file), "");
    for (const Function& function : module.functions) {
      for (const Instruction& instruction : function.body) {
        const metrics::SourceLine line = ptx::line_of(instruction, module);
        EXPECT_EQ(line.file, file.stem().stem().string() + ".cu") << instruction.text_line;
        EXPECT_GE(line.line, 1);
      }
    }
  }
}

TEST(PtxRecorded, Calls) {
  for (const std::string name : {"calls.sm_75.ptx", "calls.sm_120.ptx"}) {
    const Module module = recorded(name);
    EXPECT_EQ(module.version_major, 9);
    EXPECT_EQ("calls." + module.target + ".ptx", name);

    const Variable table = variable(module, "table");
    ASSERT_THAT(table.relocations, SizeIs(2));
    EXPECT_EQ(table.relocations[1].offset, 8u);
    EXPECT_EQ(table.relocations[1].name, "_Z3mulff");

    const Function& prints = function(module, "_Z6printsPi");
    EXPECT_TRUE(prints.is_kernel);
    EXPECT_EQ(prints.max_threads.at(0), 256u);
    EXPECT_THAT(texts_of(prints), Contains("call.uni (retval0), vprintf, (param0, param1)"));
    // Defined in the toolkit, called here: the line of the call.
    EXPECT_EQ(line_of(module, prints, "atom.global.add.u32"), 35);
    EXPECT_FALSE(function(module, "vprintf").has_body);
    EXPECT_THAT(function(module, "__assertfail").parameters, SizeIs(5));

    const Function& indirect = function(module, "_Z8indirectPfi");
    ASSERT_THAT(indirect.prototypes, SizeIs(1));
    EXPECT_THAT(indirect.prototypes[0].parameters, SizeIs(2));
    EXPECT_EQ(indirect.prototypes[0].results.at(0).bytes, 4u);

    const Function& pair = function(module, "_Z4pair4Pairi");
    EXPECT_FALSE(pair.is_kernel);
    EXPECT_EQ(pair.results.at(0).bytes, 16u);
    EXPECT_EQ(pair.parameters.at(0).bytes, 16u);
  }
}

TEST(PtxRecorded, TheSecondCallOfAFunctionHasParametersOfItsOwn) {
  const Module module = recorded("calls.sm_75.ptx");
  EXPECT_THAT(texts_of(function(module, "_Z3fibi")),
              IsSupersetOf({"call.uni (retval0), _Z3fibi, (param0)",
                            "call.uni (retval0#2), _Z3fibi, (param0#2)"}));
}

TEST(PtxRecorded, Data) {
  const Module module = recorded("data.sm_90.ptx");
  EXPECT_THAT(values_of<int>(variable(module, "numbers")), ElementsAre(1, -2, 3, 0x7fffffff, 0));
  EXPECT_THAT(values_of<double>(variable(module, "reals")), ElementsAre(1.0, -0.1));
  EXPECT_THAT(values_of<float>(variable(module, "quarter")), ElementsAre(0.25f));
  EXPECT_THAT(values_of<float>(variable(module, "table")), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(variable(module, "table").space, Space::constant);
  EXPECT_THAT(values_of<std::uint64_t>(variable(module, "big")), ElementsAre(~0ull));
  EXPECT_THAT(values_of<int>(variable(module, "managed")), ElementsAre(42));
  EXPECT_TRUE(variable(module, "second").is_visible);
  EXPECT_TRUE(variable(module, "dynamic").is_extern);

  const Variable first = variable(module, "first");
  EXPECT_EQ(first.relocations.at(0).name, "second");
  EXPECT_TRUE(first.relocations[0].generic);
  const std::vector<float> weights = values_of<float>(first);
  EXPECT_THAT(std::vector(weights.begin() + 3, weights.end()), ElementsAre(0.5f, 1.5f, -2.0f));

  const Variable packed = variable(module, "packed");
  EXPECT_EQ(packed.bytes, 11u);
  ASSERT_THAT(packed.relocations, SizeIs(1));
  EXPECT_EQ(packed.relocations[0].offset, 1u);
  EXPECT_EQ(packed.relocations[0].name, "numbers");
  EXPECT_EQ(packed.relocations[0].addend, 8);

  const Function& use = function(module, "_Z3usePfPKf6Paramscs");
  std::vector<std::pair<Space, std::uint64_t>> inside;
  for (const Variable& variable : use.variables)
    inside.emplace_back(variable.space, variable.bytes);
  EXPECT_THAT(inside, ElementsAre(std::pair(Space::local, 64u), std::pair(Space::shared, 4224u),
                                  std::pair(Space::shared, 8u)));
  EXPECT_EQ(use.parameters.at(2).bytes, 16u);
  EXPECT_EQ(use.parameters.at(4).type, Type::u16);
}

TEST(PtxRecorded, InlineAssembly) {
  const Module module = recorded("inline_asm.sm_100.ptx");
  const Function& blocks = function(module, "_Z6blocksPi");
  EXPECT_THAT(
      texts_of(blocks),
      ElementsAre("ld.param.u64 %rd1, [_Z6blocksPi_param_0]", "cvta.to.global.u64 %rd2, %rd1",
                  "ld.global.u32 %r2, [%rd2]",  //
                  "setp.gt.s32 p, %r2, 0", "@p add.s32 %r1, %r2, 16", "@!p mov.u32 %r1, -1",
                  "mov.b32 t1, 1", "add.s32 %r1, %r1, t1",  //
                  "setp.eq.s32 p#2, %r1, 0U", "setp.ne.u32 p#3, %r1, 3", "@p#3 bra DONE",
                  "@p#2 bra WAIT",  //
                  "setp.eq.s32 p#4, %r1, 1", "@p#4 bra.uni WAIT#2",
                  "setp.lt.and.s32 p#5|q, %r2, 5, 1", "selp.b32 %r7, 1, 0, q",
                  "mul.lo.s32 %r7, %r7, 63", "add.s32 %r7, %r7, 5", "add.s32 %r7, %r7, 19",
                  "st.global.v2.b32 [%rd1+8], {%r2, %r7}", "ret"));
  const Function& matrices = function(module, "_Z8matricesPK6__halfPfP7__half2Pm");
  EXPECT_THAT(
      texts_of(matrices),
      IsSupersetOf(
          {"cp.async.cg.shared.global [%r1], [%rd1], 16", "cp.async.wait_all",
           "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%r2, %r3, %r4, %r5}, [%r6]",
           "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3}, "
           "{%r4}, {%f1, %f2, %f3, %f4}",
           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r11",
           "mbarrier.try_wait.parity.shared::cta.b64 P1, [%r10], %r15",
           "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
           "[%r6], [%rd2, {%r15, %r16}], [%r10]",
           "fma.rn.f16x2 %r18, %r19, %r20, %r21"}));
  EXPECT_EQ(line_of(module, matrices, "fma.rn.f16x2"), 57);
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_recorded_test
