// Reading line programs: ones of each version, cut ones and damaged ones.
#include "metrics/machine_code/line_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::line_program_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Image = std::vector<std::byte>;

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
Image unit_of(std::uint8_t version, std::uint8_t first, std::uint8_t second) {
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
  Image bytes(unit.size());
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
  EXPECT_THAT(
      [] { read_line_program(unit_of(2, 0x20, 0x10), {}); },
      ThrowsMessage<LineTableError>(HasSubstr("at offset 47, its rows go back from 0x20 to 0x10")));
}

TEST(LineProgram, AnyPrefixIsRefused) {
  const Image image = recorded_file("line_table/inlined.sm_90.cubin");
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
  const Image image = recorded_file("line_table/inlined.sm_90.cubin");
  for (const char* name : {".debug_line", ".nv_debug_line_sass"}) {
    const auto section = Cubin(image).section(name);
    const auto begin = static_cast<std::size_t>(section.data() - image.data());
    for (std::size_t at = begin; at < begin + section.size(); ++at) {
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
}  // namespace warpgauge::metrics::line_program_test
