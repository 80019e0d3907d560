// Decoding memory instructions: recorded machine code against what nvdisasm says of it.
#include "metrics/machine_code/sass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::sass_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Image = std::vector<std::byte>;

std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) out.push_back(part);
  return out;
}

/// Operation and width of an instruction by its name in nvdisasm, as "ATOMG.E.ADD.F32x2.FTZ.RN".
MemoryInstruction by_name(const std::string& name) {
  static const std::map<std::string, MemoryOp> ops = {
      {"LDG", MemoryOp::ldg},   {"STG", MemoryOp::stg},       {"LDS", MemoryOp::lds},
      {"STS", MemoryOp::sts},   {"LDL", MemoryOp::ldl},       {"STL", MemoryOp::stl},
      {"LD", MemoryOp::ld},     {"ST", MemoryOp::st},         {"ATOMS", MemoryOp::atoms},
      {"ATOM", MemoryOp::atom}, {"ATOMG", MemoryOp::atomg},   {"RED", MemoryOp::red},
      {"REDG", MemoryOp::red},  {"LDGSTS", MemoryOp::ldgsts}, {"LDSM", MemoryOp::ldsm},
      {"STSM", MemoryOp::stsm}};
  static const std::map<MemoryOp, MemoryOp> cas = {{MemoryOp::atoms, MemoryOp::atoms_cas},
                                                   {MemoryOp::atomg, MemoryOp::atomg_cas},
                                                   {MemoryOp::atom, MemoryOp::atom_cas}};
  static const std::map<std::string, int> widths = {
      {"U8", 1},   {"S8", 1},   {"U16", 2},   {"S16", 2},    {"64", 8},    {"S64", 8},   {"F64", 8},
      {"128", 16}, {"256", 32}, {"F32x2", 8}, {"F32x4", 16}, {"F16x4", 8}, {"BF16x4", 8}};
  const auto pieces = parts(name, '.');
  MemoryInstruction out;
  if (!ops.contains(pieces[0])) return out;
  out.op = ops.at(pieces[0]);
  out.width = 4;
  const bool matrices = out.op == MemoryOp::ldsm || out.op == MemoryOp::stsm;
  for (const std::string& piece : pieces) {
    if (piece == "CAS" || piece == "CAST") out.op = cas.at(out.op);
    if (piece == "POPC") out.op = MemoryOp::atoms_popc;
    if (widths.contains(piece)) out.width = widths.at(piece);
    if (matrices && (piece == "2" || piece == "4")) out.width = 4 * std::stoi(piece);
  }
  return out;
}

TEST(Sass, ACopyReadsByAPredicateOrASize) {
  const auto reads = [](std::uint64_t high) {
    return memory_instruction({.pc = 0, .low = 0x4077fae, .high = high}, 90)->reads;
  };
  EXPECT_EQ(reads(0x000fe8000b901c46), CopyReads::all) << "LDGSTS.E.BYPASS.128 [R7], [R4.64]";
  EXPECT_EQ(reads(0x000fe80008101c46), CopyReads::by_p0) << "P0";
  EXPECT_EQ(reads(0x000fe8000c101c46), CopyReads::by_p0) << "!P0";
  EXPECT_EQ(reads(0x000fe8000c901c46), CopyReads::by_predicate) << "!P1";
  EXPECT_EQ(reads(0x000fe8000f901c46), CopyReads::by_predicate) << "!PT: none reads";
  EXPECT_EQ(reads(0x000fe8000b941c46), CopyReads::by_size) << "ZFILL";
  EXPECT_EQ(reads(0x000fe80008141c46), CopyReads::by_size) << "ZFILL, P0";
}

class SassOf : public testing::TestWithParam<const char*> {};

TEST_P(SassOf, MemoryInstructionsAreThoseOfNvdisasm) {
  const std::string name = std::string("sass/memory.") + GetParam();
  const Image image = recorded_file(name + ".cubin");
  const auto found = memory_instructions(Cubin(image), "memory");

  std::istringstream listing(recorded_text(name + ".txt"));
  std::size_t index = 0;
  for (std::string line; std::getline(listing, line); ++index) {
    const auto words = parts(line, ' ');
    MemoryInstruction expected = by_name(words.back());
    expected.pc = std::stoull(words.front(), nullptr, 16);
    expected.executes = words[1] != "@!PT";
    expected.guarded = words[1].starts_with("@");
    ASSERT_LT(index, found.size()) << line;
    EXPECT_EQ(found[index].pc, expected.pc) << line;
    EXPECT_EQ(found[index].op, expected.op) << line;
    EXPECT_EQ(found[index].width, expected.width) << line;
    EXPECT_EQ(found[index].executes, expected.executes) << line;
    EXPECT_EQ(found[index].guarded, expected.guarded) << line;
  }
  EXPECT_GT(index, 100u) << "nothing was recorded";
  EXPECT_EQ(found.size(), index);
}

INSTANTIATE_TEST_SUITE_P(Recorded, SassOf, testing::Values("sm_75", "sm_80", "sm_90", "sm_120"),
                         [](const auto& suite) { return std::string(suite.param); });

TEST(Sass, PairsOfDoublesAreLoadedByAFormOfTheirOwn) {
  const auto found = memory_instructions(Cubin(recorded_file("sass/pairs.sm_75.cubin")), "pairs");
  ASSERT_EQ(found.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i].pc, 0xe0u + 0x10u * i);
    EXPECT_EQ(found[i].op, MemoryOp::ldg);
    EXPECT_EQ(found[i].width, 16) << "LDG.E.U.128";
  }
  EXPECT_EQ(found[3].op, MemoryOp::stg);
  EXPECT_EQ(found[3].width, 8);
}

TEST(Sass, BulkCopiesAreKnown) {
  const Image image = recorded_file("oracle/bulk.sm_90.cubin");
  const auto pcs = [&](const char* kernel) {
    std::vector<std::uint64_t> found;
    for (const MemoryInstruction& instruction : memory_instructions(Cubin(image), kernel)) {
      if (instruction.op == MemoryOp::bulk) found.push_back(instruction.pc);
    }
    return found;
  };
  EXPECT_THAT(pcs("one_lane"), ElementsAre(0x1b0, 0x330, 0x360)) << "UBLKCP twice, UBLKRED";
  EXPECT_THAT(pcs("sent"), ElementsAre(0x320, 0x390)) << "UBLKCP, STAS";
  EXPECT_THAT(pcs("remote"), IsEmpty());
}

/// Accesses of local memory that can execute.
std::vector<std::uint64_t> spills(const Image& image, const char* kernel) {
  std::vector<std::uint64_t> pcs;
  for (const MemoryInstruction& access : memory_instructions(Cubin(image), kernel)) {
    if (is_local(access.op) && access.executes) pcs.push_back(access.pc);
  }
  return pcs;
}

TEST(Sass, SpillsAreWhereTheDisassemblerShowsThem) {
  const Image image = recorded_file("cubin/spills.sm_75.cubin");
  const auto pcs = spills(image, "_Z6spillsPfPKf");
  ASSERT_EQ(pcs.size(), 30u);      // 15 STL and 15 LDL
  EXPECT_EQ(pcs.front(), 0x170u);  // STL [R1], R21
  EXPECT_EQ(pcs[15], 0x360u);      // LDL.LU R10, [R1+0x34]
  EXPECT_EQ(pcs.back(), 0x500u);   // LDL.LU R17, [R1]
  EXPECT_THAT(spills(image, "_Z4leanPf"), IsEmpty());
  EXPECT_EQ(spills(recorded_file("cubin/spills.sm_90.cubin"), "_Z6spillsPfPKf").size(), 30u);
}

TEST(Sass, APredicateThatIsNeverTrueIsSeen) {
  Image image = recorded_file("cubin/spills.sm_90.cubin");
  const auto before = spills(image, "_Z6spillsPfPKf");
  const auto code =
      static_cast<std::size_t>(Cubin(image).code("_Z6spillsPfPKf").data() - image.data());
  image[code + before[0] + 1] |= std::byte{0xf0};  // @!PT
  EXPECT_EQ(spills(image, "_Z6spillsPfPKf").size(), before.size() - 1);
  image[code + before[1] + 1] &= std::byte{0x0f};  // @P0
  EXPECT_EQ(spills(image, "_Z6spillsPfPKf").size(), before.size() - 1);
}

TEST(Sass, VotesOfAWarpAreSeen) {
  Image image = recorded_file("cubin/spills.sm_90.cubin");
  const char* const kernel = "_Z6spillsPfPKf";
  EXPECT_THAT(warp_votes(Cubin(image), kernel), IsEmpty());
  const auto code = static_cast<std::size_t>(Cubin(image).code(kernel).data() - image.data());
  const std::vector<unsigned> votes = {0x006, 0x086, 0x1c4};  // VOTE, VOTEU, REDUX
  for (std::size_t i = 0; i < votes.size(); ++i) {
    image[code + 32 * i] = static_cast<std::byte>(votes[i]);
    image[code + 32 * i + 1] = static_cast<std::byte>(votes[i] >> 8);
  }
  EXPECT_EQ(warp_votes(Cubin(image), kernel), (std::vector<std::uint64_t>{0x00, 0x20, 0x40}));
  EXPECT_THAT(warp_votes(Cubin(image), "nowhere"), IsEmpty());
}

TEST(Sass, AnUnknownKernelHasNone) {
  const Image image = recorded_file("sass/memory.sm_90.cubin");
  EXPECT_THAT(memory_instructions(Cubin(image), "nowhere"), IsEmpty());
}

TEST(Sass, AnUnknownArchitectureIsRefused) {
  Image image = recorded_file("sass/memory.sm_90.cubin");
  constexpr std::size_t kFlags = 48;  // of Elf64_Ehdr
  image[kFlags + 1] = std::byte{130};
  try {
    memory_instructions(Cubin(image), "memory");
    FAIL() << "was read";
  } catch (const CubinError& error) {
    EXPECT_STREQ(error.what(),
                 "the machine code of sm_130 is not known here, only that of sm_75 to sm_121. "
                 "Compile for one of these");
  }
}

TEST(Sass, AFormatNewerThanAllKnownIsRefused) {
  Image image = recorded_file("sass/memory.sm_90.cubin");
  constexpr std::size_t kAbiVersion = 8;  // of e_ident
  EXPECT_EQ(Cubin(image).abi(), 8);
  image[kAbiVersion] = std::byte{9};
  try {
    memory_instructions(Cubin(image), "memory");
    FAIL() << "was read";
  } catch (const CubinError& error) {
    EXPECT_STREQ(error.what(),
                 "the machine code has format 9, and is known here up to format 8. Compile with a "
                 "CUDA toolkit that warpgauge is tested with");
  }
}

TEST(Sass, TheOldestAndTheNewestArchitectureAreRead) {
  Image image = recorded_file("sass/memory.sm_90.cubin");
  constexpr std::size_t kFlags = 48;  // of Elf64_Ehdr
  const auto known = [&](int sm) {
    image[kFlags + 1] = static_cast<std::byte>(sm);
    try {
      return known_sm(Cubin(image)) == sm;
    } catch (const CubinError&) {
      return false;
    }
  };
  EXPECT_FALSE(known(74));
  EXPECT_TRUE(known(75));
  EXPECT_TRUE(known(121));
  EXPECT_FALSE(known(122));
}

TEST(Sass, NamesAreThoseOfTheDisassembler) {
  EXPECT_EQ(name_of({.op = MemoryOp::lds, .width = 16}), "LDS.128");
  EXPECT_EQ(name_of({.op = MemoryOp::stg, .width = 4}), "STG.32");
  EXPECT_EQ(name_of({.op = MemoryOp::atoms_popc, .width = 4}), "ATOMS.POPC.INC");
  EXPECT_EQ(name_of({.op = MemoryOp::atoms_cas, .width = 8}), "ATOMS.CAS.64");
  EXPECT_EQ(name_of({.op = MemoryOp::ldg, .width = 32}), "LDG.256");
}

TEST(Sass, SpacesAreThoseThatTheNameHas) {
  using enum MemoryOp;
  const auto spaces = [](MemoryOp op) {
    std::string names;
    for (const MemorySpace space : spaces_of(op)) names += " " + std::string(to_string(space));
    return names;
  };
  for (const MemoryOp op : {lds, sts, atoms, atoms_popc, atoms_cas, ldsm, stsm, wgmma}) {
    EXPECT_EQ(spaces(op), " shared") << name_of({.op = op});
  }
  for (const MemoryOp op : {ldg, stg, atomg, atomg_cas, red}) {
    EXPECT_EQ(spaces(op), " global") << name_of({.op = op});
  }
  for (const MemoryOp op : {ldl, stl}) EXPECT_EQ(spaces(op), " local") << name_of({.op = op});
  for (const MemoryOp op : {ld, st, atom, atom_cas}) {
    EXPECT_EQ(spaces(op), " shared global local") << name_of({.op = op});
  }
  for (const MemoryOp op : {ldgsts, other}) {
    EXPECT_EQ(spaces(op), " shared global") << name_of({.op = op});
  }
  for (const MemoryOp op : {bulk, barrier}) EXPECT_EQ(spaces(op), "") << name_of({.op = op});
}

TEST(Sass, AccessesOfOtherKindsAreSeen) {
  using enum MemoryOp;
  struct Range {
    const char* name;
    unsigned first, last;
    MemoryOp op = other;
  };
  for (const auto& [name, first, last, op] :
       {Range{"TEX", 0x160, 0x162}, Range{"TLD4", 0x163, 0x165}, Range{"TLD", 0x166, 0x168},
        Range{"TXD", 0x16c, 0x16e}, Range{"SUATOM", 0x193, 0x196}, Range{"SULD", 0x197, 0x19a},
        Range{"SUST", 0x19b, 0x19e}, Range{"SURED", 0x19f, 0x1a0},
        Range{"SYNCS", 0x1a7, 0x1a7, barrier}, Range{"SYNCS", 0x1b1, 0x1b2, barrier},
        Range{"UTMALDG", 0x1b4, 0x1b4, bulk}, Range{"UTMASTG", 0x1b5, 0x1b5, bulk},
        Range{"UTMAREDG", 0x1b6, 0x1b6, bulk}, Range{"UBLKCP", 0x1ba, 0x1ba, bulk},
        Range{"UBLKRED", 0x1bb, 0x1bb, bulk}, Range{"STAS", 0x1bd, 0x1bd, bulk},
        Range{"REDAS", 0x1be, 0x1be, bulk}, Range{"HGMMA and its like", 0x1f0, 0x1f3, wgmma}}) {
    for (unsigned opcode = first; opcode <= last; ++opcode) {
      const auto found = memory_instruction({.low = opcode | SassWord::kAlways << 12}, 90);
      ASSERT_TRUE(found) << name << ' ' << opcode;
      EXPECT_EQ(found->op, op) << name << ' ' << opcode;
    }
  }
}

}  // namespace
}  // namespace warpgauge::metrics::sass_test
