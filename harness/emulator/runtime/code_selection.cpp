// Which code of a fat binary the emulated GPU runs.
#include "harness/emulator/runtime/code_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "metrics/fat_binary.h"

namespace warpgauge::emulator::runtime {
namespace {

using metrics::FatBinaryEntry;

struct Chip {
  int number = 0;           ///< 90
  std::string_view suffix;  ///< "a": code for this chip only; "f": for its family
};

Chip chip_of(std::string_view arch) {
  Chip out;
  const auto [rest, error] =
      std::from_chars(arch.data() + arch.find('_') + 1, arch.data() + arch.size(), out.number);
  out.suffix = arch.substr(static_cast<std::size_t>(rest - arch.data()));
  return out;
}

/// How well code made for `made` suits the GPU `wanted`: the higher, the better; 0: not at all.
int fitness(std::string_view made, std::string_view wanted, bool older) {
  if (made == wanted) return 1'000'000;
  const Chip code = chip_of(made), gpu = chip_of(wanted);
  if (code.number == gpu.number) return code.suffix == "a" ? 999'999 : 999'998;
  const bool runs_on_later_chips = code.suffix.empty();
  return older && runs_on_later_chips && code.number < gpu.number ? code.number : 0;
}

const FatBinaryEntry* best(const std::vector<FatBinaryEntry>& entries, FatBinaryEntry::Kind kind,
                           std::string_view arch, bool older) {
  const FatBinaryEntry* found = nullptr;
  int most = 0;
  for (const FatBinaryEntry& entry : entries) {
    if (entry.kind != kind) continue;
    const int fits = fitness(entry.arch, arch, older);
    if (fits > most) {
      most = fits;
      found = &entry;
    }
  }
  return found;
}

std::string no_ptx_text(const std::vector<FatBinaryEntry>& entries, std::string_view arch) {
  std::set<std::string> ptx, machine_code;
  for (const FatBinaryEntry& entry : entries) {
    if (entry.kind == FatBinaryEntry::Kind::ptx) ptx.insert(entry.arch);
    if (entry.kind == FatBinaryEntry::Kind::cubin) machine_code.insert(entry.arch);
  }
  const std::string number(arch.substr(arch.find('_') + 1));
  std::string held = "no code";
  if (!ptx.empty()) {
    held = fmt::format("PTX for {}", fmt::join(ptx, ", "));
  } else if (!machine_code.empty()) {
    held = fmt::format("only machine code for {}", fmt::join(machine_code, ", "));
  }
  return fmt::format(
      "no PTX for {0} in this program: it holds {1}; compile with "
      "-gencode arch=compute_{2},code=[compute_{2},sm_{2}]",
      arch, held, number);
}

}  // namespace

int arch_number(std::string_view arch) { return chip_of(arch).number; }

SelectedCode select_code(std::span<const std::byte> fat_binary, std::string_view arch,
                         bool older_ptx) {
  const auto entries = metrics::read_fat_binary(fat_binary);
  const auto* ptx = best(entries, FatBinaryEntry::Kind::ptx, arch, older_ptx);
  if (ptx == nullptr) throw NoPtx(no_ptx_text(entries, arch));
  const auto* cubin = best(entries, FatBinaryEntry::Kind::cubin, ptx->arch, false);
  SelectedCode out{.ptx = ptx->unpack_text(), .ptx_arch = ptx->arch, .cubin = {}};
  if (cubin != nullptr && arch_number(ptx->arch) == arch_number(arch)) {
    out.cubin = cubin->unpack();
  }
  return out;
}

std::vector<std::byte> select_cubin(std::span<const std::byte> fat_binary, std::string_view arch) {
  const auto entries = metrics::read_fat_binary(fat_binary);
  const auto* cubin = best(entries, FatBinaryEntry::Kind::cubin, arch, false);
  return cubin == nullptr ? std::vector<std::byte>() : cubin->unpack();
}

std::set<std::string> ptx_architectures(std::span<const std::byte> fat_binary) {
  std::set<std::string> out;
  for (const FatBinaryEntry& entry : metrics::read_fat_binary(fat_binary)) {
    if (entry.kind == FatBinaryEntry::Kind::ptx) out.insert(entry.arch);
  }
  return out;
}

}  // namespace warpgauge::emulator::runtime
