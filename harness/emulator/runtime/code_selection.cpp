// Selects the code of a fat binary that the emulated GPU runs.
#include "harness/emulator/runtime/code_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "metrics/architecture/arch_name.h"
#include "metrics/machine_code/fat_binary.h"

namespace warpgauge::emulator::runtime {
namespace {

using metrics::ArchName;
using metrics::FatBinaryEntry;
using CodeKind = FatBinaryEntry::Kind;

const FatBinaryEntry* named(const std::vector<FatBinaryEntry>& entries, CodeKind kind,
                            std::string_view arch) {
  const auto found = std::ranges::find_if(entries, [&](const FatBinaryEntry& entry) {
    return entry.kind == kind && entry.arch == arch;
  });
  return found == entries.end() ? nullptr : &*found;
}

/// The PTX that the driver would compile for the chip of `arch`.
const FatBinaryEntry* other_ptx(const std::vector<FatBinaryEntry>& entries, const ArchName& arch) {
  const FatBinaryEntry* best = nullptr;
  std::optional<ArchName> best_name;
  for (const FatBinaryEntry& entry : entries) {
    const auto name = ArchName::parse(entry.arch);
    if (entry.kind != CodeKind::ptx || !name || !name->ptx_compiles_for(arch.number)) continue;
    if (best_name && !name->goes_before(*best_name)) continue;
    best = &entry;
    best_name = name;
  }
  return best;
}

std::string no_ptx_text(const std::vector<FatBinaryEntry>& entries, std::string_view arch) {
  std::set<std::string> ptx, machine_code;
  for (const FatBinaryEntry& entry : entries) {
    if (entry.kind == CodeKind::ptx) ptx.insert(entry.arch);
    if (entry.kind == CodeKind::cubin) machine_code.insert(entry.arch);
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

SelectedCode select_code(std::span<const std::byte> fat_binary, std::string_view arch,
                         bool older_ptx) {
  const auto entries = metrics::read_fat_binary(fat_binary);
  const auto* ptx = named(entries, CodeKind::ptx, arch);
  const auto wanted = ArchName::parse(arch);
  if (ptx == nullptr && older_ptx && wanted) ptx = other_ptx(entries, *wanted);
  if (ptx == nullptr) throw NoPtx(no_ptx_text(entries, arch));
  SelectedCode out{.ptx = ptx->unpack_text(), .ptx_arch = ptx->arch, .cubin = {}};
  // The driver makes other code of the PTX than the cubin of an older architecture has.
  const auto made = ArchName::parse(ptx->arch);
  const auto* cubin = named(entries, CodeKind::cubin, ptx->arch);
  if (cubin != nullptr && wanted && made && made->number == wanted->number) {
    out.cubin = cubin->unpack();
  }
  return out;
}

std::vector<std::byte> select_cubin(std::span<const std::byte> fat_binary, std::string_view arch) {
  const auto entries = metrics::read_fat_binary(fat_binary);
  const auto* cubin = named(entries, CodeKind::cubin, arch);
  return cubin == nullptr ? std::vector<std::byte>() : cubin->unpack();
}

std::set<std::string> ptx_architectures(std::span<const std::byte> fat_binary) {
  std::set<std::string> out;
  for (const FatBinaryEntry& entry : metrics::read_fat_binary(fat_binary)) {
    if (entry.kind == CodeKind::ptx) out.insert(entry.arch);
  }
  return out;
}

}  // namespace warpgauge::emulator::runtime
