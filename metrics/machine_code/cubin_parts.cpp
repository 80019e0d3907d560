// Compares the symbols, the code and the resources of a cubin.
#include "metrics/machine_code/cubin_parts.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "metrics/machine_code/kernel_resources.h"
#include "metrics/machine_code/nv_info.h"
#include "metrics/machine_code/sass.h"
#include "metrics/machine_code/sass_code.h"
#include "metrics/machine_code/symbol_name.h"

namespace warpgauge::metrics {
namespace {

// Types of sections in cubins, which are not documented; as ptxas 13 and older write them.
constexpr std::uint32_t kInfoType = SHT_LOPROC, kCallGraphType = SHT_LOPROC + 1;
constexpr std::uint32_t kSharedType = SHT_LOPROC + 10, kFirstBankType = SHT_LOPROC + 0x64,
                        kLastBankType = kFirstBankType + 17;
constexpr std::string_view kCodeOf = ".text.", kInfo = ".nv.info", kInfoOf = ".nv.info.",
                           kSharedOf = ".nv.shared.", kConstantsOf = ".nv.constant";

constexpr std::array<std::string_view, 3> kNotes = {".note.nv.tkinfo", ".note.nv.cuinfo",
                                                    ".note.nv.cuver"};

[[noreturn]] void refuse_parts(std::string_view problem) {
  throw CubinError(fmt::format(
      "not a usable cubin: its parts do not agree: {}. It is damaged: make it again", problem));
}

class Parts {
 public:
  explicit Parts(const Cubin& cubin) : cubin_(cubin), functions_(cubin.functions()) {
    for (const ElfSection& section : cubin.sections()) {
      if (!section.name.empty()) sections_.insert(section.name);
      if (section.name.starts_with(kCodeOf) && !section.bytes.empty()) {
        codes_.insert(section.name.substr(kCodeOf.size()));
      }
    }
  }

  void check() const {
    for (const ElfSection& section : cubin_.sections()) {
      check_name(section);
      check_owner(section);
    }
    check_symbols();
    for (const std::string_view code : codes_) check_code(code);
    check_records(kInfo);
    check_registers();
    check_end();
  }

 private:
  bool has(std::string_view section) const { return sections_.contains(section); }

  static void expect(bool agrees, const ElfSection& section, std::string_view what) {
    if (!agrees) refuse_parts(fmt::format("section '{}' {}", section.name, what));
  }

  /// The type of a section, which the name must fit.
  void check_name(const ElfSection& section) const {
    const std::string_view name = section.name;
    const std::uint32_t type = section.type;
    expect(type == SHT_NULL ? name.empty() : is_symbol_name(name), section,
           type == SHT_NULL ? "has no type" : "has no usable name");
    if ((section.flags & SHF_EXECINSTR) != 0) {
      expect(name.starts_with(kCodeOf), section, "has code, and the name of another part");
    }
    if (type == kInfoType) {
      expect(name == kInfo || name.starts_with(kInfoOf), section,
             "has resources, and the name of another part");
    }
    if (type == kCallGraphType) {
      expect(name == ".nv.callgraph", section, "has calls, and the name of another part");
    }
    if (type == SHT_SYMTAB) {
      expect(name == ".symtab", section, "has symbols, and the name of another part");
    }
    if (type == SHT_STRTAB) {
      expect(name == ".strtab" || name == ".shstrtab", section,
             "has names, and the name of another part");
    }
    const std::uint64_t kinds = section.flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR);
    if ((type >= kFirstBankType && type <= kLastBankType) ||
        (type == SHT_PROGBITS && kinds == SHF_ALLOC)) {
      expect(name.starts_with(kConstantsOf) || name.starts_with(".nv.merc."), section,
             "has constants, and the name of another part");
    }
    const bool is_of_code = (section.flags & SHF_INFO_LINK) != 0;
    if ((type == SHT_NOBITS || type == kSharedType) && is_of_code) {
      expect(name.starts_with(kSharedOf) || name.starts_with(".nv.local."), section,
             "has shared memory, and the name of another part");
    }
    if (type == SHT_REL || type == SHT_RELA) {
      const std::string_view prefix = type == SHT_REL ? ".rel" : ".rela";
      expect(name.starts_with(prefix) && has(name.substr(prefix.size())), section,
             "has relocations of a section that is not there");
    }
    if (type == SHT_NOTE) {
      expect(std::ranges::count(kNotes, name) > 0, section, "is a note of no known name");
    }
  }

  /// A part of a function has that function's code beside it.
  void check_owner(const ElfSection& section) const {
    const auto owner_behind = [&](std::string_view prefix) {
      return section.name.starts_with(prefix) ? section.name.substr(prefix.size()) : "";
    };
    std::string_view owner = owner_behind(kInfoOf);
    if (owner.empty()) owner = owner_behind(kSharedOf);
    if (const std::string_view bank = owner_behind(kConstantsOf); !bank.empty()) {
      const std::size_t digits = std::min(bank.find_first_not_of("0123456789"), bank.size());
      const std::string_view number = bank.substr(0, digits), rest = bank.substr(digits);
      // Those of a module are in two banks: variables, and the compiler's own.
      expect(rest.empty() ? number == "3" || number == "4" : digits > 0 && rest.starts_with('.'),
             section, "has constants, and the name of no bank of them");
      if (!rest.empty()) owner = rest.substr(1);
    }
    if (owner.empty() || owner.starts_with("reserved.")) return;
    expect(codes_.contains(owner), section, "is of a function without code");
  }

  void check_symbols() const {
    if (!codes_.empty() && !has(".symtab")) refuse_parts("there is code, and no symbol");
    for (const auto& [number, function] : functions_) {
      if (!is_symbol_name(function.name))
        refuse_parts(fmt::format("function {} has no name", number));
      if (!codes_.contains(function.kernel)) {
        refuse_parts(fmt::format("'{}' has no code", function.name));
      }
      if (function.is_entry && function.name != function.kernel) {
        refuse_parts(
            fmt::format("kernel '{}' has its code in '.text.{}'", function.name, function.kernel));
      }
    }
  }

  void check_code(std::string_view code) const {
    const auto own = std::ranges::find_if(
        functions_, [&](const auto& entry) { return entry.second.name == code; });
    if (own == functions_.end()) refuse_parts(fmt::format("'.text.{}' has no function", code));
    const std::string info = std::string(kInfoOf).append(code);
    if (!has(info)) refuse_parts(fmt::format("'{}' has no resources ({})", code, info));
    if (has(fmt::format("{}0.{}", kConstantsOf, code)) && !own->second.is_entry) {
      refuse_parts(fmt::format("'{}' has the arguments of a kernel, and is none", code));
    }
    if (cubin_.section(info).empty()) refuse_parts(fmt::format("'{}' has no records", info));
    check_records(info);
    check_spills(code);
  }

  void check_spills(std::string_view code) const {
    std::set<std::uint64_t> spills = spills_and_refills(cubin_, code);
    if (spills.empty()) return;
    for (const MemoryInstruction& instruction : memory_instructions(cubin_, code)) {
      if (is_local(instruction.op)) spills.erase(instruction.pc);
    }
    if (spills.empty()) return;
    refuse_parts(
        fmt::format("'{}' has a spill at {:#x}, where no instruction accesses local memory", code,
                    *spills.begin()));
  }

  /// Files that stand one behind the other have one header at their begin.
  void check_end() const {
    const std::span<const std::byte> rest = behind_elf(cubin_.image());
    if (rest.empty()) return;
    refuse_parts(fmt::format("there is more behind its end, at offset {}",
                             cubin_.image().size() - rest.size()));
  }

  /// The records reach to the end of the section.
  void check_records(std::string_view name) const {
    constexpr std::uint8_t kLastLayout = nv_info::kSizedValue, kMostAttributes = 0x80;
    const nv_info::Bytes records = cubin_.section(name);
    std::uint64_t end = 0;
    bool is_known = true;
    nv_info::for_each_record(records, [&](const nv_info::Record& record) {
      end = static_cast<std::uint64_t>(record.value.data() - records.data()) + record.value.size();
      is_known = is_known && record.layout >= 1 && record.layout <= kLastLayout &&
                 record.attribute < kMostAttributes;
    });
    if (end != records.size() || !is_known) {
      refuse_parts(fmt::format("the records of '{}' are damaged", name));
    }
  }

  /// Each function with code has registers, in cubins that say registers at all.
  void check_registers() const {
    const std::map<std::string, KernelResources> resources = resources_of_kernels(cubin_);
    const auto has_registers = [&](std::string_view code) {
      const auto found = resources.find(std::string(code));
      return found != resources.end() && found->second.registers;
    };
    if (std::ranges::none_of(codes_, has_registers)) return;
    const auto without = std::ranges::find_if_not(codes_, has_registers);
    if (without != codes_.end()) refuse_parts(fmt::format("'{}' has no registers", *without));
  }

  const Cubin& cubin_;
  std::map<std::uint32_t, Cubin::Function> functions_;
  std::set<std::string_view> sections_, codes_;
};

}  // namespace

void check_parts(const Cubin& cubin) { Parts(cubin).check(); }

}  // namespace warpgauge::metrics
