// Selects the code that the emulated GPU runs, of a fat binary or of what a program loads.
#include "harness/emulator/runtime/code_selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "harness/emulator/ptx/error.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/machine_code/code_image.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/fat_binary.h"
#include "metrics/machine_code/line_table.h"

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

bool has_machine_code_for(const std::vector<FatBinaryEntry>& entries, int chip) {
  return std::ranges::any_of(entries, [&](const FatBinaryEntry& entry) {
    const auto name = ArchName::parse(entry.arch);
    return entry.kind == CodeKind::cubin && name && name->machine_code_runs_on(chip);
  });
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

/// The name after `.target`; empty if there is none.
std::string target_of(std::string_view ptx) {
  constexpr std::string_view kTarget = ".target";
  const auto at = ptx.find(kTarget);
  if (at == ptx.npos) return "";
  const auto begin = ptx.find_first_not_of(" \t", at + kTarget.size());
  if (begin == ptx.npos) return "";
  return std::string(ptx.substr(begin, ptx.find_first_of(" \t\r\n,;", begin) - begin));
}

SelectedCode code_of_text(std::span<const std::byte> bytes, std::string_view arch) {
  SelectedCode out{.ptx = {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  if (out.ptx.find(".version") == out.ptx.npos) {
    throw std::invalid_argument("it is no PTX, no cubin and no fat binary");
  }
  out.ptx_arch = target_of(out.ptx);
  const auto made = ArchName::parse(out.ptx_arch), chip = ArchName::parse(arch);
  if (made && chip && !made->ptx_compiles_for(chip->number)) {
    throw ptx::PtxError(
        fmt::format("this PTX is for {}, and the emulated GPU is {}", made->str(), arch));
  }
  return out;
}

/// A cubin with the PTX that it was made of.
SelectedCode code_of_cubin(std::span<const std::byte> bytes, std::string_view arch) {
  const metrics::Cubin cubin(bytes);
  const auto made = ArchName::parse(cubin.arch()), chip = ArchName::parse(arch);
  if (made && chip && !made->machine_code_runs_on(chip->number)) {
    throw NoPtx(fmt::format("this cubin is for {}, and the emulated GPU is {}", made->str(), arch));
  }
  SelectedCode out{.ptx = metrics::PtxLines(cubin).text(), .cubin = {bytes.begin(), bytes.end()}};
  if (out.ptx.empty()) {
    throw NoPtx(
        "this cubin keeps no PTX, which the emulator runs: have it compiled with line tables "
        "(-lineinfo; Numba: lineinfo=True), or load PTX; a cache of compiled kernels may keep it",
        true);
  }
  out.ptx_arch = target_of(out.ptx);
  return out;
}

}  // namespace

SelectedCode select_code(std::span<const std::byte> fat_binary, const WantedCode& wanted) {
  const auto entries = metrics::read_fat_binary(fat_binary);
  const auto* ptx = named(entries, CodeKind::ptx, wanted.arch);
  const auto arch = ArchName::parse(wanted.arch);
  if (ptx == nullptr && wanted.older_ptx && arch) ptx = other_ptx(entries, *arch);
  if (ptx == nullptr) {
    const bool runs_on_gpu = arch && has_machine_code_for(entries, arch->number);
    throw NoPtx(no_ptx_text(entries, wanted.arch), runs_on_gpu);
  }
  SelectedCode out{.ptx = ptx->unpack_text(), .ptx_arch = ptx->arch};
  // The driver makes other code of the PTX than the cubin of an older architecture has.
  const auto made = ArchName::parse(ptx->arch);
  const auto* cubin = named(entries, CodeKind::cubin, ptx->arch);
  if (cubin != nullptr && arch && made && made->number == arch->number) {
    out.cubin = cubin->unpack();
  }
  return out;
}

ModuleCode select_registered(const void* wrapper, const WantedCode& wanted) {
  const std::span<const std::byte> own = metrics::registered_fat_binary(wrapper);
  ModuleCode out;
  const auto objects = metrics::linked_fat_binaries(wrapper);
  if (objects.empty()) {
    out.objects.push_back(select_code(own, wanted));
    return out;
  }
  bool runs_on_gpu = false;
  for (const auto& object : objects) {
    try {
      out.objects.push_back(select_code(object, wanted));
    } catch (const NoPtx& error) {
      out.left_out = error.what();
      runs_on_gpu |= error.runs_on_gpu;
    }
  }
  if (out.objects.empty()) throw NoPtx(out.left_out, runs_on_gpu);
  const auto entries = metrics::read_fat_binary(own);
  const auto* cubin = named(entries, CodeKind::cubin, out.objects.front().ptx_arch);
  if (cubin != nullptr) out.linked_cubin = cubin->unpack();
  return out;
}

ModuleCode select_loaded(const void* image, const WantedCode& wanted) {
  const WantedCode as_driver{wanted.arch, true};
  const metrics::CodeImage code = metrics::code_image_at(image);
  ModuleCode out;
  switch (code.kind) {
    case metrics::CodeImage::Kind::wrapper:
      return select_registered(image, as_driver);
    case metrics::CodeImage::Kind::fat_binary:
      out.objects.push_back(select_code(code.bytes, as_driver));
      break;
    case metrics::CodeImage::Kind::cubin:
      out.objects.push_back(code_of_cubin(code.bytes, wanted.arch));
      break;
    case metrics::CodeImage::Kind::text:
      out.objects.push_back(code_of_text(code.bytes, wanted.arch));
      break;
  }
  return out;
}

}  // namespace warpgauge::emulator::runtime
