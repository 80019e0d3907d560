// Reads single lines of what `nvcc -Xptxas -v` prints.
#include "metrics/machine_code/ptxas_line.h"

#include <algorithm>

#include "metrics/machine_code/symbol_name.h"
#include "metrics/machine_code/text_scanner.h"

namespace warpgauge::metrics {
namespace {

using LineKind = PtxasLine::Kind;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kStackFrame = " bytes stack frame, ";

/// The kind of what stands behind "ptxas info : ".
PtxasLine classify_message(std::string_view message) {
  const std::size_t digits = std::min(message.find_first_not_of(kDigits), message.size());
  if (message.starts_with("Compile time = ")) return {LineKind::compile_time, {}};
  if (digits > 0 && message.substr(digits).starts_with(" bytes gmem"))
    return {LineKind::module, {}};
  if (take_prefix(message, "Compiling entry function ")) return {LineKind::entry, message};
  if (message.starts_with("Compiling ")) return {LineKind::cut_off, {}};
  if (take_prefix(message, "Function properties for ")) return {LineKind::function, message};
  if (take_prefix(message, "Used ")) return {LineKind::resources, message};
  return {};
}

/// Whether a kind of what a kernel uses is cut off, as "bytes sm".
bool is_cut(std::string_view kind) {
  constexpr std::string_view kBank = "bytes cmem[";
  for (const std::string_view known : {std::string_view("barriers"), std::string_view("bytes smem"),
                                       std::string_view("bytes cumulative stack size"), kBank}) {
    if (kind != known && known.starts_with(kind)) return true;
  }
  return kind.starts_with(kBank) && !kind.ends_with("]");
}

/// Reads an item behind the registers, as "used 1 barriers" or "160 bytes smem". False if it is cut
/// off.
bool read_resource(std::string_view item, PtxasResources& resources) {
  take_prefix(item, "used ");
  const auto number = take_number<std::uint64_t>(item);
  if (!number || !take_prefix(item, " ") || is_cut(item)) return false;
  if (item == "barriers") {
    resources.barriers = static_cast<std::uint32_t>(*number);
  } else if (item == "bytes smem") {
    resources.shared_static_bytes = *number;
  } else if (item == "bytes cumulative stack size") {
    resources.cumulative_stack_bytes = *number;
  }
  return true;
}

}  // namespace

PtxasLine classify_ptxas_line(std::string_view line) {
  constexpr std::string_view kTag = "ptxas info";
  if (const std::size_t frame = line.find(kStackFrame); frame != line.npos) {
    // The number begins behind the last character in front of the words that is no digit.
    const std::string_view front = line.substr(0, frame);
    return {LineKind::frame, line.substr(front.find_last_not_of(kDigits) + 1)};
  }
  // Build tools may put something in front of the line, so look for the tag anywhere.
  const std::size_t tag = line.find(kTag);
  if (tag == line.npos) return {};
  std::string_view message = trim(line.substr(tag + kTag.size()));
  if (!take_prefix(message, ":")) return {};
  message = trim(message);
  if (message.find(kTag) != message.npos) return {LineKind::cut_off, {}};
  return classify_message(message);
}

std::optional<PtxasEntry> read_ptxas_entry(std::string_view rest) {
  constexpr std::string_view kFor = "' for '";
  // A demangled name may have quotes: the architecture stands behind the last.
  const std::size_t end = rest.rfind(kFor);
  if (end == rest.npos || !rest.starts_with("'") || !rest.ends_with("'")) return std::nullopt;
  std::string_view arch = rest.substr(end + kFor.size());
  const PtxasEntry entry{.name = std::string(rest.substr(1, end - 1)),
                         .arch = std::string(take_until(arch, '\''))};
  if (!is_symbol_name(entry.name) || !is_symbol_name(entry.arch)) return std::nullopt;
  return entry;
}

std::optional<PtxasFrame> read_ptxas_frame(std::string_view rest) {
  const auto take_bytes = [&](std::string_view words) -> std::optional<std::uint64_t> {
    const auto bytes = take_number<std::uint64_t>(rest);
    return bytes && take_prefix(rest, words) ? bytes : std::nullopt;
  };
  const auto stack = take_bytes(kStackFrame);
  const auto stores = stack ? take_bytes(" bytes spill stores, ") : std::nullopt;
  const auto loads = stores ? take_bytes(" bytes spill loads") : std::nullopt;
  if (!loads) return std::nullopt;
  return PtxasFrame{.stack = *stack, .spill_stores = *stores, .spill_loads = *loads};
}

std::optional<PtxasResources> read_ptxas_resources(std::string_view rest) {
  std::string_view first = take_until(rest, ',');
  const auto registers = take_number<std::uint32_t>(first);
  if (!registers || first != " registers") return std::nullopt;
  PtxasResources resources{.registers = *registers};
  while (!rest.empty()) {
    if (!read_resource(trim(take_until(rest, ',')), resources)) return std::nullopt;
  }
  return resources;
}

}  // namespace warpgauge::metrics
