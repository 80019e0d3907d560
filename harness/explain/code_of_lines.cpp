// Reads the machine code of kernels, and sorts its instructions by source line, with PTX, and with
// SASS where nvdisasm is there.
#include "harness/explain/code_of_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "harness/cases/device_code.h"
#include "harness/files/source_root.h"
#include "harness/files/temporary_path.h"
#include "harness/files/write_file.h"
#include "harness/process/found_program.h"
#include "harness/process/output_of.h"
#include "metrics/base/demangled.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_program.h"
#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/sass_code.h"

namespace warpgauge::explain {
namespace {

namespace fs = std::filesystem;
using Disassembly = std::map<std::string, std::map<std::uint64_t, std::string>>;

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The instruction in a line of PTX, without tabs; empty for a line that only begins a block or a
/// function.
std::string instruction_in(std::string_view line) {
  std::string text(stripped(line));
  std::ranges::replace(text, '\t', ' ');
  return text.find(';') == text.npos ? "" : text;
}

/// Runs nvdisasm once for each cubin.
class Disassembler {
 public:
  const Disassembly& of(std::span<const std::byte> image) {
    const auto [place, is_new] = texts_.try_emplace(image.data());
    if (is_new && !program_.empty()) place->second = read(image);
    return place->second;
  }

  std::string note() const {
    if (program_.empty()) {
      return "The PTX that each machine instruction was made of; no SASS, for neither PATH nor "
             "$CUDA_HOME/bin has nvdisasm.";
    }
    if (failed_) {
      return fmt::format(
          "The PTX that each machine instruction was made of; no SASS, for {} failed.",
          program_.string());
    }
    return "SASS as nvdisasm writes it, and the PTX that it was made of.";
  }

 private:
  Disassembly read(std::span<const std::byte> image) {
    const auto cubin = files::TemporaryPath::file();
    files::write_file(cubin.path(), {reinterpret_cast<const char*>(image.data()), image.size()});
    const auto text = process::output_of({program_, "-c", cubin.path()});
    failed_ = failed_ || !text;
    return text ? read_disassembly(*text) : Disassembly();
  }

  fs::path program_ = process::found_in_toolkit("nvdisasm");
  bool failed_ = false;
  std::map<const std::byte*, Disassembly> texts_;
};

/// Adds the code of a kernel; returns why there is none.
std::string add_kernel(std::vector<LineCode>& lines, const std::string& kernel,
                       const metrics::Cubin& cubin, Disassembler& disassembler) {
  std::optional<metrics::SourceLines> sources;
  std::optional<metrics::PtxLines> ptx;
  try {
    sources.emplace(cubin);
    ptx.emplace(cubin);
  } catch (const metrics::LineTableError& error) {
    return error.what();
  }
  const Disassembly& texts = disassembler.of(cubin.image());
  const auto sass = texts.find(kernel);
  const std::vector<std::string_view> ptx_lines = lines_in(ptx->text());
  const std::string name = metrics::without_void(metrics::demangled(kernel));
  std::map<std::pair<std::string, int>, LineCode> by_line;
  for (const metrics::SassWord& word : metrics::machine_code(cubin, kernel)) {
    const std::uint64_t pc = word.pc;
    const auto source = sources->find(kernel, pc);
    if (!source) continue;
    LineCode& line = by_line[{source->file, source->line}];
    MachineInstruction& instruction = line.instructions.emplace_back();
    instruction.address = pc;
    if (sass != texts.end()) {
      const auto text = sass->second.find(pc);
      if (text != sass->second.end()) instruction.sass = text->second;
    }
    const auto number = ptx->find(kernel, pc);
    if (number && static_cast<std::size_t>(*number) <= ptx_lines.size()) {
      instruction.ptx = instruction_in(ptx_lines[static_cast<std::size_t>(*number) - 1]);
    }
  }
  for (auto& [place, line] : by_line) {
    line.file = files::relative_to_root(place.first);
    line.line = place.second;
    line.kernel = name;
    lines.push_back(std::move(line));
  }
  return by_line.empty() ? "without line information: compile with -lineinfo" : "";
}

}  // namespace

Disassembly read_disassembly(std::string_view text) {
  constexpr std::string_view kSection = ".text.", kOpen = "/*", kClose = "*/";
  Disassembly kernels;
  std::map<std::uint64_t, std::string>* kernel = nullptr;
  for (std::string_view line : lines_in(text)) {
    if (line.starts_with(kSection) && line.ends_with(':')) {
      line.remove_suffix(1);
      kernel = &kernels[std::string(line.substr(kSection.size()))];
      continue;
    }
    line = stripped(line);
    const std::size_t close = line.find(kClose);
    if (kernel == nullptr || !line.starts_with(kOpen) || close == line.npos) continue;
    std::uint64_t address = 0;
    const auto [rest, error] =
        std::from_chars(line.data() + kOpen.size(), line.data() + close, address, 16);
    const std::size_t end = line.rfind(';');
    if (error != std::errc() || rest != line.data() + close || end == line.npos) continue;
    const std::size_t begin = close + kClose.size();
    (*kernel)[address] = stripped(line.substr(begin, end - begin));
  }
  return kernels;
}

CodeOfLines code_of_lines(const std::set<std::string>& kernels, const std::string& arch) {
  CodeOfLines code;
  Disassembler disassembler;
  std::vector<std::string> notes;
  for (const std::string& kernel : kernels) {
    const EmbeddedCubin* const cubin = find_cubin(kernel, arch);
    const std::string why =
        cubin == nullptr
            ? "this program has only its PTX"
            : add_kernel(code.lines, kernel, metrics::Cubin(cubin->image), disassembler);
    if (why.empty()) continue;
    notes.push_back(fmt::format("None of {} for {}: {}.",
                                metrics::without_void(metrics::demangled(kernel)), arch, why));
  }
  if (!code.lines.empty()) notes.insert(notes.begin(), disassembler.note());
  code.note = fmt::format("{}", fmt::join(notes, " "));
  return code;
}

}  // namespace warpgauge::explain
