// Cubins whose parts do not agree: recorded ones with bytes turned in the names of their parts.
#include "metrics/machine_code/cubin_parts.h"

#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "metrics/machine_code/elf_sections.h"
#include "metrics/machine_code/kernel_values.h"
#include "tests/metrics/recorded_file.h"

namespace warpgauge::metrics::cubin_parts_test {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& image) {
  return std::as_bytes(std::span(image));
}

/// The values of all kernels; "damaged: ..." where the cubin is refused.
std::string values_of(const std::string& image) try {
  const KernelReader reader(bytes_of(image));
  std::string text;
  for (const std::string& kernel : reader.kernels()) {
    const KernelValues values = reader.read(kernel);
    for (const auto& [metric, value] : values.values) {
      text += fmt::format("{} {} {}\n", kernel, metric, value);
    }
  }
  return text;
} catch (const CubinError& error) {
  return std::string("damaged: ") + error.what();
}

/// Where a section begins in the file, and its size.
std::pair<std::size_t, std::size_t> place_of(const std::string& image, std::string_view name) {
  for (const ElfSection& section : elf_sections(bytes_of(image))) {
    if (section.name != name) continue;
    return {static_cast<std::size_t>(section.bytes.data() - bytes_of(image).data()), section.size};
  }
  ADD_FAILURE() << name;
  return {};
}

/// The image with one letter of a name turned; the name is looked for in one of the name tables.
std::string with_name_turned(std::string image, std::string_view table, const std::string& name) {
  const auto [begin, size] = place_of(image, table);
  const std::size_t at = image.find('\0' + name + '\0', begin);
  EXPECT_LT(at, begin + size) << name;
  image[at + name.size()] ^= 1;
  return image;
}

TEST(CubinParts, ThoseOfRecordedCubinsAgree) {
  for (const char* file :
       {"cubin/hopper.sm_90a.cubin", "cubin/linked.sm_90.cubin", "cubin/elsewhere.sm_90.cubin",
        "cubin/recursion.sm_75.cubin", "cubin/shared.sm_90.cubin", "cubin/spills.sm_75.cubin",
        "oracle/oracle.sm_120.cubin", "sass/order.sm_75.cubin"}) {
    const std::string image = recorded_text(file);
    EXPECT_NO_THROW(check_parts(Cubin(bytes_of(image)))) << file;
  }
}

TEST(CubinParts, ANameThatIsDamagedIsSaid) {
  const std::string whole = recorded_text("cubin/spills.sm_90.cubin");
  const std::string kernel = "_Z6spillsPfPKf";
  for (const auto& [table, name, problem] :
       {std::array<std::string, 3>{".shstrtab", ".nv.info." + kernel,
                                   "'.nv.info._Z6spillsPfPKg' is of a function without code"},
        {".shstrtab", ".text." + kernel, "is of a function without code"},
        {".shstrtab", ".nv.info", "section '.nv.infn' has resources, and the name of another"},
        {".shstrtab", ".symtab", "section '.symtac' has symbols, and the name of another part"},
        {".strtab", kernel, "kernel '_Z6spillsPfPKg' has its code in '.text._Z6spillsPfPKf'"}}) {
    const std::string said = values_of(with_name_turned(whole, table, name));
    EXPECT_THAT(said, HasSubstr("not a usable cubin: its parts do not agree: ")) << name;
    EXPECT_THAT(said, HasSubstr(problem));
  }
}

TEST(CubinParts, NamesWithControlCharactersAreDamage) {
  const std::string whole = recorded_text("cubin/spills.sm_90.cubin"), kernel = "_Z6spillsPfPKf";
  for (const char* name : {"_Z6sp\x1b[31PfPKf", "_Z6s\xc2\x9bxxxPfPKf", "_Z6s\xff\xfexxxPfPKf"}) {
    std::string image = whole;
    for (std::size_t at = 0; (at = image.find(kernel, at)) != image.npos;) {
      image.replace(at, kernel.size(), name);
    }
    EXPECT_THAT(values_of(image), HasSubstr("has no usable name"));
  }
}

/// Every byte of both tables of names, turned in two ways: what is lost is never lost silently.
TEST(CubinParts, BytesTurnedInNamesAreDamageOrChangeNoValue) {
  for (const char* file : {"cubin/spills.sm_90.cubin", "cubin/spills.sm_75.cubin",
                           "cubin/linked.sm_90.cubin", "cubin/hopper.sm_90a.cubin"}) {
    const std::string whole = recorded_text(file), expected = values_of(whole);
    for (const char* table : {".shstrtab", ".strtab"}) {
      const auto [begin, size] = place_of(whole, table);
      for (std::size_t at = begin; at < begin + size; ++at) {
        for (const int mask : {0x01, 0xff}) {
          std::string turned = whole;
          turned[at] = static_cast<char>(turned[at] ^ mask);
          const std::string said = values_of(turned);
          EXPECT_TRUE(said.starts_with("damaged: ") || said == expected)
              << file << ' ' << table << ' ' << at - begin << '\n'
              << said;
        }
      }
    }
  }
}

/// Where the header of a section is.
std::size_t header_of(const std::string& image, std::size_t section) {
  std::uint64_t headers = 0;
  image.copy(reinterpret_cast<char*>(&headers), sizeof headers, offsetof(Elf64_Ehdr, e_shoff));
  return headers + section * sizeof(Elf64_Shdr);
}

/// The lines of values_of() on local memory.
std::string local_values_of(const std::string& image) {
  std::istringstream lines(values_of(image));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool is_local = line.find(" spill.") != line.npos || line.find(" local.") != line.npos;
    if (is_local || line.starts_with("damaged: ")) text += line + '\n';
  }
  return text;
}

/// Each section is lost, empty, cut, or elsewhere: the cubin is damaged, or spills as before.
TEST(CubinParts, SectionsThatAreDamagedHideNoSpill) {
  for (const char* file : {"cubin/spills.sm_90.cubin", "cubin/spills.sm_75.cubin"}) {
    const std::string whole = recorded_text(file), expected = local_values_of(whole);
    const std::size_t sections = elf_sections(bytes_of(whole)).size();
    for (std::size_t section = 0; section < sections; ++section) {
      const std::size_t header = header_of(whole, section);
      Elf64_Shdr before;
      whole.copy(reinterpret_cast<char*>(&before), sizeof before, header);
      const auto tried = [&](const char* what, auto member, auto value) {
        Elf64_Shdr damaged = before;
        damaged.*member = static_cast<std::remove_reference_t<decltype(damaged.*member)>>(value);
        std::string image = whole;
        image.replace(header, sizeof damaged, reinterpret_cast<char*>(&damaged), sizeof damaged);
        const std::string said = local_values_of(image);
        EXPECT_TRUE(said.starts_with("damaged: ") || said == expected)
            << file << ", section " << section << ", " << what << '\n'
            << said;
      };
      tried("lost", &Elf64_Shdr::sh_type, SHT_NULL);
      tried("without bytes", &Elf64_Shdr::sh_type, SHT_NOBITS);
      tried("empty", &Elf64_Shdr::sh_size, 0);
      tried("cut", &Elf64_Shdr::sh_size, before.sh_size / 2);
      tried("moved", &Elf64_Shdr::sh_offset, before.sh_offset + 8);
      tried("moved by an instruction", &Elf64_Shdr::sh_offset, before.sh_offset + 16);
    }
  }
}

TEST(CubinParts, BytesBehindTheEndAreDamage) {
  const std::string whole = recorded_text("cubin/spills.sm_90.cubin");
  EXPECT_THAT(values_of(whole + recorded_text("cubin/shared.sm_90.cubin")),
              HasSubstr("there is more behind its end, at offset"));
  EXPECT_EQ(values_of(whole + std::string(64, '\0')), values_of(whole));
}

}  // namespace
}  // namespace warpgauge::metrics::cubin_parts_test
