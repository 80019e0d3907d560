// Reads recorded fat binaries in each compression, compares them with what cuobjdump extracts, and
// refuses damaged copies of them.
#include "metrics/machine_code/fat_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "metrics/base/hash.h"
#include "metrics/machine_code/cubin.h"
#include "tests/metrics/fat_binary_wrapper.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::fat_binary_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using Kind = FatBinaryEntry::Kind;
using Compression = FatBinaryEntry::Compression;
using Bytes = std::vector<std::byte>;

// Offsets of fields in the header of a container.
constexpr std::size_t kContainerMagic = 0, kContainerVersion = 4, kContainerBytes = 8;
// Offsets of fields in the header of the first entry, which follows that of the container.
constexpr std::size_t kEntry = 16, kVersion = kEntry + 2, kHeaderBytes = kEntry + 4,
                      kBytes = kEntry + 8, kCompressedBytes = kEntry + 16, kFlags = kEntry + 40,
                      kUnpackedBytes = kEntry + 56;

Bytes recorded(const std::string& name) { return recorded_file("fat_binary/" + name + ".fatbin"); }

/// Overwrites a number in the bytes.
template <typename Number>
void overwrite(Bytes& bytes, std::size_t offset, Number number) {
  std::memcpy(bytes.data() + offset, &number, sizeof number);
}

/// Reads and unpacks all entries. Returns the error, or "" if there is none.
std::string error_of(const Bytes& bytes) {
  try {
    for (const FatBinaryEntry& entry : read_fat_binary(bytes)) entry.unpack();
  } catch (const FatBinaryError& error) {
    return error.what();
  }
  return "";
}

/// An entry as cuobjdump extracts it.
struct Expected {
  Kind kind;
  std::string arch;
  Compression compression;
  std::size_t bytes;
  std::string hash;
};

void expect_entries(const Bytes& bytes, const std::vector<Expected>& expected) {
  const auto entries = read_fat_binary(bytes);
  ASSERT_EQ(entries.size(), expected.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].kind, expected[i].kind) << i;
    EXPECT_EQ(entries[i].arch, expected[i].arch) << i;
    EXPECT_EQ(entries[i].compression, expected[i].compression) << i;
    Bytes code = entries[i].unpack();
    EXPECT_EQ(code.size(), entries[i].unpacked_bytes) << i;
    if (entries[i].kind == Kind::ptx) code.resize(entries[i].unpack_text().size());
    EXPECT_EQ(code.size(), expected[i].bytes) << i;
    EXPECT_EQ(hash_text(code), expected[i].hash) << i;
  }
}

TEST(FatBinary, Uncompressed) {
  expect_entries(recorded("none"),
                 {{Kind::cubin, "sm_75", Compression::none, 3112, "68abb0f2642b90ef"},
                  {Kind::cubin, "sm_100a", Compression::none, 5680, "2efa991e1510889d"},
                  {Kind::cubin, "sm_90", Compression::none, 3840, "efc62d0d7845b805"},
                  {Kind::ptx, "sm_90", Compression::none, 758, "180ab80a486f5b78"}});
}

TEST(FatBinary, ForAFamilyOfArchitectures) {
  expect_entries(recorded("family"),
                 {{Kind::cubin, "sm_103f", Compression::none, 5680, "07b1d93130914941"},
                  {Kind::ptx, "sm_103f", Compression::none, 784, "96b51c82bea2b58e"}});
}

TEST(FatBinary, CompressedWithLz4) {
  expect_entries(recorded("lz4"),
                 {{Kind::cubin, "sm_90", Compression::lz4, 10440, "b7e7d7f24de31b91"},
                  {Kind::ptx, "sm_90", Compression::lz4, 2801, "bfefca424a129305"}});
}

TEST(FatBinary, CompressedWithZstd) {
  expect_entries(recorded("zstd"),
                 {{Kind::cubin, "sm_75", Compression::zstd, 3112, "68abb0f2642b90ef"},
                  {Kind::cubin, "sm_120", Compression::zstd, 5680, "063de9b99abb5bbf"},
                  {Kind::ptx, "sm_120", Compression::zstd, 783, "4852aeba0e5696cb"}});
}

TEST(FatBinary, HasCubinsAndPtxForItsArchitectures) {
  for (const char* name : {"none", "family", "lz4", "zstd"}) {
    const Bytes bytes = recorded(name);
    for (const FatBinaryEntry& entry : read_fat_binary(bytes)) {
      if (entry.kind == Kind::cubin) {
        const Bytes cubin = entry.unpack();
        EXPECT_THAT(Cubin(cubin).kernels(), testing::ElementsAre("_Z4copyPfPKfi")) << name;
        EXPECT_EQ(Cubin(cubin).arch(), entry.arch) << name;
      } else {
        const std::string target = "\n.target " + entry.arch;
        EXPECT_THAT(entry.unpack_text(), HasSubstr(target)) << name;
      }
    }
  }
}

TEST(FatBinary, CanHaveSeveralContainers) {
  Bytes both = recorded("lz4");
  const Bytes second = recorded("family");
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(read_fat_binary(both).size(), 4u);
  EXPECT_EQ(error_of(both), "");
}

TEST(RegisteredFatBinary, IsFoundInMemory) {
  const Bytes bytes = recorded("none");
  const FatBinaryWrapper wrapper{.container = bytes.data()};
  const auto found = registered_fat_binary(&wrapper);
  EXPECT_EQ(found.data(), bytes.data());
  EXPECT_EQ(found.size(), bytes.size());
}

TEST(RegisteredFatBinary, IsRefusedWithoutItsMagicNumbers) {
  const Bytes bytes = recorded("none"), zeros(64);
  const FatBinaryWrapper other{.magic = 7, .container = bytes.data()};
  const FatBinaryWrapper of_zeros{.container = zeros.data()};
  EXPECT_THROW(registered_fat_binary(&other), FatBinaryError);
  EXPECT_THROW(registered_fat_binary(&of_zeros), FatBinaryError);
}

TEST(RegisteredFatBinary, IsRefusedIfItClaimsMoreBytesThanThereIsMemory) {
  for (const std::uint64_t claimed : {std::uint64_t{1} << 46, ~std::uint64_t{0}}) {
    Bytes bytes = recorded("none");
    overwrite(bytes, kContainerBytes, claimed);
    const FatBinaryWrapper wrapper{.container = bytes.data()};
    EXPECT_THAT(
        [&] { registered_fat_binary(&wrapper); },
        ThrowsMessage<FatBinaryError>(HasSubstr("reaches beyond the program's memory. Compile")))
        << claimed;
  }
}

class DamagedFatBinary : public testing::TestWithParam<const char*> {};

TEST_P(DamagedFatBinary, IsRefusedWhereverItIsCut) {
  const Bytes whole = recorded(GetParam());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_THAT(error_of(cut), StartsWith("not a usable fat binary: ")) << size;
  }
}

TEST_P(DamagedFatBinary, IsReadOrRefusedWhicheverByteIsWrong) {
  const Bytes whole = recorded(GetParam());
  for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      Bytes damaged = whole;
      damaged[at] ^= static_cast<std::byte>(flip);
      error_of(damaged);  // must neither crash nor throw anything else
    }
  }
}

INSTANTIATE_TEST_SUITE_P(FatBinary, DamagedFatBinary, testing::Values("none", "lz4", "zstd"),
                         [](const auto& suite) { return std::string(suite.param); });

/// The error of a recorded fat binary with one number in it changed.
template <typename Number>
std::string error_with(const char* name, std::size_t offset, Number number) {
  Bytes bytes = recorded(name);
  overwrite(bytes, offset, number);
  return error_of(bytes);
}

TEST(FatBinary, ErrorsOfAContainerSayWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of({}), HasSubstr("at offset 0, the header of a container reaches beyond the "
                                      "end (0 bytes). Compile"));
  EXPECT_THAT(error_with("none", kContainerMagic, 0x12345678u),
              HasSubstr("at offset 0, a container begins with 0x12345678, not with 0xba55ed50"));
  EXPECT_THAT(error_with("none", kContainerVersion, std::uint16_t{2}),
              HasSubstr("the container is of version 2"));
}

TEST(FatBinary, ErrorsOfAnEntrySayWhatIsWrongAndWhere) {
  EXPECT_THAT(error_with("none", kVersion, std::uint16_t{0x102}),
              HasSubstr("at offset 16, the entry is of version 0x102"));
  EXPECT_THAT(error_with("none", kHeaderBytes, 48u), HasSubstr("a header of 48 bytes"));
  EXPECT_THAT(error_with("none", kBytes, ~std::uint64_t{0}),
              HasSubstr("the entry (18446744073709551615 bytes) reaches beyond the end of its "
                        "container (13728)"));
}

TEST(FatBinary, ImplausibleSizesAreRefusedBeforeMemoryIsTaken) {
  const std::uint64_t terabyte = std::uint64_t{1} << 40;
  EXPECT_THAT(
      error_with("lz4", kUnpackedBytes, terabyte),
      HasSubstr("4869 compressed bytes cannot hold the 1099511627776 that they are said to"));
  EXPECT_THAT(error_with("zstd", kUnpackedBytes, terabyte), HasSubstr("cannot hold"));
  EXPECT_THAT(error_with("lz4", kCompressedBytes, 5000u),
              HasSubstr("5000 compressed bytes are said to be in 4872"));
}

TEST(FatBinary, CodeThatDoesNotUnpackIsRefused) {
  EXPECT_THAT(error_with("lz4", kUnpackedBytes, std::uint64_t{10441}), HasSubstr("only 10440"));
  EXPECT_THAT(error_with("lz4", kUnpackedBytes, std::uint64_t{10439}),
              HasSubstr("its LZ4 code for sm_90 (4869 bytes) does not unpack to 10439 bytes"));
  EXPECT_THAT(error_with("zstd", kUnpackedBytes, std::uint64_t{3113}), HasSubstr("only 3112"));
  EXPECT_THAT(error_with("zstd", kUnpackedBytes, std::uint64_t{3111}),
              HasSubstr("its zstd code for sm_75"));
  EXPECT_THAT(error_with("zstd", kFlags, std::uint64_t{0x2011}), HasSubstr("LZ4"));
}

}  // namespace
}  // namespace warpgauge::metrics::fat_binary_test
