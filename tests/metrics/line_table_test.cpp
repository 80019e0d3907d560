// Lines of source and of PTX: recorded cubins against what nvdisasm says of them, and damaged ones.
#include "metrics/machine_code/line_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/machine_code/sass.h"

namespace warpgauge::metrics::line_table_test {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Image = std::vector<std::byte>;

constexpr const char* kSource = "/tmp/warpgauge/inlined.cu";
constexpr const char* kHeader = "/tmp/warpgauge/inlined.h";

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(WARPGAUGE_TEST_DATA) + "/line_table/" + file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

Image recorded(const std::string& file) {
  const std::string bytes = text_of(file);
  Image image(bytes.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  return image;
}

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

  std::istringstream listing(text_of(name + ".txt"));
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
  EXPECT_GT(inlined, 20u) << "nothing was recorded";
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
  // __ldg and atomicAdd; p[i + 1] and out[...]; deep; p[3 * i].
  EXPECT_THAT(lines_of_source, UnorderedElementsAre(8, 22, 23));
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

TEST_P(LinesOf, PtxIsOfTheSameKind) {
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
  try {
    SourceLines{Cubin(image)};
    FAIL() << "was read";
  } catch (const LineTableError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at offset 4, its version is 5, and only 2 to 4 are known "
                                        "here. Compile"));
  }
}

using Octets = std::vector<std::uint8_t>;

/// The octets behind their number, in four octets.
Octets with_length(const Octets& octets) {
  Octets all = {static_cast<std::uint8_t>(octets.size()), 0, 0, 0};
  all.insert(all.end(), octets.begin(), octets.end());
  return all;
}

Octets joined(const std::vector<Octets>& parts) {
  Octets all;
  for (const Octets& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// A unit of one file, with two rows of its first line.
std::vector<std::byte> unit_of(std::uint8_t version, std::uint8_t first, std::uint8_t second) {
  const auto row_at = [](std::uint8_t address) {
    return Octets{0, 9, 2, address, 0, 0, 0, 0, 0, 0, 0, 1};  // set the address; copy
  };
  const Octets operations = version >= 4 ? Octets{1} : Octets{};
  const Octets header = joined({{1},  // bytes of the smallest instruction
                                operations,
                                {1, 0, 1, 2, 0},         // lines: base 0, range 1; one opcode
                                {0},                     // no folder
                                {'a', 0, 0, 0, 0, 0}});  // a file, and no other
  const Octets end = {0, 1, 1};
  const Octets unit =
      with_length(joined({{version, 0}, with_length(header), row_at(first), row_at(second), end}));
  std::vector<std::byte> bytes(unit.size());
  std::memcpy(bytes.data(), unit.data(), unit.size());
  return bytes;
}

TEST(LineProgram, OfEachVersionThatIsKnownIsRead) {
  for (const std::uint8_t version : {2, 3, 4}) {
    SCOPED_TRACE(int{version});
    const LineProgram program = read_line_program(unit_of(version, 0x10, 0x20), {});
    ASSERT_EQ(program.rows.size(), 2u);
    EXPECT_EQ(program.files, (std::vector<std::string>{"", "a"}));
    EXPECT_EQ(program.rows[0].pc, 0x10u);
    EXPECT_EQ(program.rows[0].file, 1u) << "the first one, as none is set";
    EXPECT_EQ(program.rows[1].pc, 0x20u);
    EXPECT_EQ(program.rows[1].line, 1u);
  }
}

TEST(LineProgram, RowsThatGoBackAreRefusedWhereTheyDo) {
  try {
    read_line_program(unit_of(2, 0x20, 0x10), {});
    FAIL() << "was read";
  } catch (const LineTableError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at offset 47, its rows go back from 0x20 to 0x10"));
  }
}

TEST(LineProgram, AnyPrefixIsRefused) {
  const Image image = recorded("inlined.sm_90.cubin");
  const Cubin cubin(image);
  for (const char* name : {".debug_line", ".nv_debug_line_sass"}) {
    const auto section = cubin.section(name);
    const auto kernels = cubin.kernels_at(name);
    EXPECT_EQ(read_line_program(section, kernels).sequences.size(), 2u);
    for (std::size_t size = 1; size < section.size(); ++size) {
      EXPECT_THROW(read_line_program(section.first(size), kernels), LineTableError) << size;
    }
  }
}

// Run with -fsanitize=address,undefined to see that nothing outside of the section is touched.
TEST(LineProgram, AnyDamagedByteIsReadOrRefused) {
  const Image image = recorded("inlined.sm_90.cubin");
  for (const char* name : {".debug_line", ".nv_debug_line_sass"}) {
    const std::size_t begin = offset_of(image, name), size = Cubin(image).section(name).size();
    for (std::size_t at = begin; at < begin + size; ++at) {
      for (const std::byte damage : {std::byte{0x00}, std::byte{0x7f}, std::byte{0xff}}) {
        Image damaged = image;
        damaged[at] = damage;
        const Cubin cubin(damaged);
        try {
          const SourceLines source(cubin);
          const PtxLines ptx(cubin);
          for (std::uint64_t pc = 0; pc < 0x400; pc += 16) {
            source.find("first", pc);
            ptx.find("first", pc);
          }
        } catch (const LineTableError&) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpgauge::metrics::line_table_test
