// Looks instructions up in line programs. NVIDIA does not document the sections for PTX.
// .nv_debug_ptx_txt has the lines of the PTX, each with a zero after it. .nv_debug_line_sass is a
// line program with the numbers of these lines.
#include "metrics/machine_code/line_table.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>

#include "metrics/machine_code/byte_text.h"

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kSourceLines = ".debug_line";

/// The numbers of the lines of a text that contain one of the words.
std::set<int> lines_with(std::initializer_list<std::string_view> words, std::string_view text) {
  std::set<int> numbers;
  for (const std::string_view word : words) {
    const std::boyer_moore_horspool_searcher searcher(word.begin(), word.end());
    const auto next = [&](auto from) { return std::search(from, text.end(), searcher); };
    int number = 1;
    auto counted = text.begin();
    for (auto found = next(counted); found != text.end(); found = next(found + 1)) {
      number += static_cast<int>(std::count(counted, found, '\n'));
      numbers.insert(number);
      counted = found;
    }
  }
  return numbers;
}

}  // namespace

LineTable::LineTable(const Cubin& cubin, std::string_view section)
    : program_(read_line_program(cubin.section(section), cubin.kernels_at(section))) {
  for (std::size_t i = 0; i < program_.sequences.size(); ++i) {
    sequences_[program_.sequences[i].kernel].push_back(i);
  }
}

const LineProgram::Row* LineTable::find(std::string_view kernel, std::uint64_t pc) const {
  const auto own = sequences_.find(kernel);
  if (own == sequences_.end()) return nullptr;
  for (const std::size_t i : own->second) {
    const LineProgram::Sequence& sequence = program_.sequences[i];
    if (pc >= sequence.end) continue;
    const auto rows =
        std::span(program_.rows).subspan(sequence.first, sequence.last - sequence.first);
    const auto next = std::ranges::upper_bound(rows, pc, {}, &LineProgram::Row::pc);
    if (next != rows.begin()) return &*std::prev(next);
  }
  return nullptr;
}

bool has_source_lines(const Cubin& cubin) { return !cubin.section(kSourceLines).empty(); }

SourceLines::SourceLines(const Cubin& cubin) : table_(cubin, kSourceLines) {
  for (const std::string& file : table_.program().files) {
    in_toolkit_.push_back(is_toolkit_header(file));
  }
}

std::optional<SourceLines> SourceLines::of(std::span<const std::byte> image) {
  try {
    return SourceLines(Cubin(image));
  } catch (const CubinError&) {
    return std::nullopt;
  } catch (const LineTableError&) {
    return std::nullopt;
  }
}

std::optional<SourceLine> SourceLines::find(std::string_view kernel, std::uint64_t pc) const {
  const LineProgram& program = table_.program();
  std::vector<Frame> chain;
  const LineProgram::Row* row = table_.find(kernel, pc);
  while (row != nullptr) {
    if (row->file != 0 && row->line != 0) {
      chain.push_back(
          {program.files[row->file], static_cast<int>(row->line), in_toolkit_[row->file]});
    }
    row = row->caller == LineProgram::kNone ? nullptr : &program.rows[row->caller];
  }
  if (chain.empty()) return std::nullopt;
  return line_to_blame(chain);
}

PtxLines::PtxLines(const Cubin& cubin) : table_(cubin, ".nv_debug_line_sass") {
  const auto bytes = cubin.numbered_section(".nv_debug_ptx_txt");
  text_ = text_of(bytes);
  std::ranges::replace(text_, '\0', '\n');
  strong_loads_ = lines_with({"ld.volatile.", "ld.relaxed.", "ld.acquire.", "ld.mmio."}, text_);
  approximations_ = lines_with({".approx.", "div.full."}, text_);
  fusible_ = lines_with({"add.f32", "add.ftz.f32", "add.f64", "sub.f32", "sub.ftz.f32", "sub.f64",
                         "div.approx.", "div.full."},
                        text_);
}

bool PtxLines::is_one_of(const std::set<int>& lines, std::string_view kernel,
                         std::uint64_t pc) const {
  if (lines.empty()) return false;
  const auto line = find(kernel, pc);
  return line && lines.contains(*line);
}

bool PtxLines::is_strong_load(std::string_view kernel, std::uint64_t pc) const {
  return is_one_of(strong_loads_, kernel, pc);
}

bool PtxLines::is_approximation(std::string_view kernel, std::uint64_t pc) const {
  return is_one_of(approximations_, kernel, pc);
}

bool PtxLines::may_be_fused(std::string_view kernel, std::uint64_t pc) const {
  return is_one_of(fusible_, kernel, pc);
}

std::optional<int> PtxLines::find(std::string_view kernel, std::uint64_t pc) const {
  const LineProgram::Row* row = table_.find(kernel, pc);
  if (row == nullptr || row->line == 0) return std::nullopt;
  return static_cast<int>(row->line);
}

}  // namespace warpgauge::metrics
