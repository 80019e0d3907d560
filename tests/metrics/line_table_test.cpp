// Lines of source and of PTX: recorded cubins against what nvdisasm says of them.
#include "metrics/machine_code/line_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/machine_code/sass.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::line_table_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;
using Image = std::vector<std::byte>;

constexpr const char* kSource = "/tmp/warpgauge/inlined.cu";
constexpr const char* kHeader = "/tmp/warpgauge/inlined.h";

Image recorded(const std::string& name) { return recorded_file("line_table/" + name); }

/// The offset of a section in an image.
std::size_t offset_of(const Image& image, const char* section) {
  return static_cast<std::size_t>(Cubin(image).section(section).data() - image.data());
}

class LinesOf : public testing::TestWithParam<const char*> {};

TEST_P(LinesOf, AreThoseOfNvdisasmWithAllThatTheyAreInlinedAt) {
  const std::string name = std::string("inlined.") + GetParam();
  const Image image = recorded(name + ".cubin");
  const LineTable table(Cubin(image), ".debug_line");
  const LineProgram& program = table.program();

  std::istringstream listing(recorded_text("line_table/" + name + ".txt"));
  std::size_t inlined = 0;
  for (std::string line; std::getline(listing, line);) {
    std::istringstream words(line);
    std::string kernel, pc, place, expected, found;
    words >> kernel >> pc;
    while (words >> place) expected += " " + place;
    const auto* row = table.find(kernel, std::stoull(pc, nullptr, 16));
    while (row != nullptr) {
      found += " " + program.files[row->file] + ":" + std::to_string(row->line);
      inlined += row->caller == LineProgram::kNone ? 0 : 1;
      row = row->caller == LineProgram::kNone ? nullptr : &program.rows[row->caller];
    }
    EXPECT_EQ(found, expected) << line;
  }
  EXPECT_GT(inlined, 20u) << "few inlined rows";
}

TEST_P(LinesOf, ToolkitCodeBelongsToTheLineThatCallsIt) {
  const Image image = recorded(std::string("inlined.") + GetParam() + ".cubin");
  const Cubin cubin(image);
  const SourceLines lines(cubin);
  std::set<int> lines_of_source, lines_of_header;
  for (const auto& access : memory_instructions(cubin, "second")) {
    const auto line = lines.find("second", access.pc);
    ASSERT_TRUE(line);
    EXPECT_THAT(line->file, testing::AnyOf(kSource, kHeader));
    (line->file == kSource ? lines_of_source : lines_of_header).insert(line->line);
  }
  // p[i + 1]; __ldg and atomicAdd; out[...].
  EXPECT_THAT(lines_of_source, UnorderedElementsAre(8, 22, 23));
  // deep; p[3 * i].
  EXPECT_THAT(lines_of_header, UnorderedElementsAre(5, 9));
}

TEST_P(LinesOf, TheChainOfCallsIsKept) {
  const Image image = recorded(std::string("inlined.") + GetParam() + ".cubin");
  const Cubin cubin(image);
  const SourceLines lines(cubin);
  std::size_t from_toolkit = 0, from_header = 0;
  for (const auto& access : memory_instructions(cubin, "second")) {
    const auto line = lines.find("second", access.pc);
    ASSERT_TRUE(line);
    if (line->inlined.empty()) continue;
    const CallSite own = {line->file, line->line};
    EXPECT_THAT(line->inlined, testing::Contains(own));
    EXPECT_EQ(line->inlined.back().file, kSource) << "the kernel";
    from_toolkit += is_toolkit_header(line->inlined.front().file);
    from_header += line->inlined.front().file == kHeader;
  }
  // __ldg and atomicAdd, which ptxas may know as instructions; inner and deep.
  EXPECT_GT(from_toolkit, 0u);
  EXPECT_GT(from_header, 0u);
}

TEST_P(LinesOf, PtxLinesHaveTheInstructionOfTheAccess) {
  const Image image = recorded(std::string("inlined.") + GetParam() + ".cubin");
  const Cubin cubin(image);
  const PtxLines lines(cubin);
  std::vector<std::string> ptx;
  std::istringstream text(lines.text());
  for (std::string line; std::getline(text, line);) ptx.push_back(line);
  EXPECT_THAT(ptx, testing::Contains(HasSubstr(".visible .entry second(")));

  int seen = 0;
  for (const auto& access : memory_instructions(cubin, "second")) {
    const auto line = lines.find("second", access.pc);
    ASSERT_TRUE(line);
    ASSERT_LE(static_cast<std::size_t>(*line), ptx.size());
    const char* expected = access.op == MemoryOp::ldg   ? "ld.global"
                           : access.op == MemoryOp::stg ? "st.global"
                                                        : "atom.global.add.f32";
    EXPECT_THAT(ptx[*line - 1], HasSubstr(expected)) << access.pc;
    ++seen;
  }
  EXPECT_EQ(seen, 6);  // two loads of inner, p[i + 1], __ldg, out[...], atomicAdd
}

INSTANTIATE_TEST_SUITE_P(Recorded, LinesOf, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(SourceLines, AreThoseOfTheSource) {
  const Image image = recorded("lines_sm90.cubin");
  const SourceLines lines{Cubin(image)};
  std::set<int> found;
  for (std::uint64_t pc = 0; pc < 0x200; pc += 16) {
    const auto line = lines.find("copy", pc);
    ASSERT_TRUE(line) << pc;
    EXPECT_EQ(line->file, "/tmp/warpgauge/lines.cu");
    found.insert(line->line);
  }
  EXPECT_THAT(found, UnorderedElementsAre(5, 7, 8, 9, 10));
  EXPECT_EQ(lines.find("copy", 0)->line, 5);
  EXPECT_EQ(lines.find("count", 0)->line, 12);
  const SourceLine add = lines.find("count", 0x10).value();
  EXPECT_EQ(add.file, "/tmp/warpgauge/lines.cu");
  EXPECT_EQ(add.line, 13);
  ASSERT_EQ(add.inlined.size(), 2u) << "atomicAdd is a function of the toolkit";
  EXPECT_TRUE(is_toolkit_header(add.inlined[0].file)) << add.inlined[0].file;
}

TEST(SourceLines, AreAbsentWhereThereAreNone) {
  const Image with = recorded("lines_sm90.cubin"), without = recorded("no_lines_sm90.cubin");
  EXPECT_FALSE(SourceLines(Cubin(without)).find("copy", 0));
  EXPECT_FALSE(PtxLines(Cubin(without)).find("copy", 0));
  EXPECT_EQ(PtxLines(Cubin(without)).text(), "");
  EXPECT_FALSE(SourceLines(Cubin(with)).find("nowhere", 0));
  EXPECT_FALSE(SourceLines(Cubin(with)).find("copy", Cubin(with).code("copy").size()));
  EXPECT_FALSE(SourceLines::of({}));
  EXPECT_FALSE(SourceLines::of(std::span(with).first(100)));
  EXPECT_TRUE(SourceLines::of(with));
}

TEST(SourceLines, AnUnknownVersionIsAnError) {
  Image image = recorded("lines_sm90.cubin");
  image[offset_of(image, ".debug_line") + 4] = std::byte{5};
  EXPECT_FALSE(SourceLines::of(image));
  EXPECT_THAT([&] { SourceLines{Cubin(image)}; },
              ThrowsMessage<LineTableError>(HasSubstr(
                  "at offset 4, its version is 5, and only 2 to 4 are known here. Compile")));
}

}  // namespace
}  // namespace warpgauge::metrics::line_table_test
