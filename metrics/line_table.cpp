// NVIDIA's sections .nv_debug_line_sass and .nv_debug_ptx_txt are not documented: the one is a line
// program whose lines are those of the other, which holds each line of the PTX with a zero after
// it.
#include "metrics/line_table.h"

#include <algorithm>
#include <array>

namespace warpgauge::metrics {

LineTable::LineTable(const Cubin& cubin, std::string_view section)
    : program_(read_line_program(cubin.section(section), cubin.kernels_at(section))) {
  for (std::size_t i = 0; i < program_.sequences.size(); ++i) {
    sequences_.emplace(program_.sequences[i].kernel, i);
  }
}

const LineProgram::Row* LineTable::find(std::string_view kernel, std::uint64_t pc) const {
  const auto [begin, end] = sequences_.equal_range(kernel);
  for (auto it = begin; it != end; ++it) {
    const LineProgram::Sequence& sequence = program_.sequences[it->second];
    if (pc >= sequence.end) continue;
    const auto rows =
        std::span(program_.rows).subspan(sequence.first, sequence.last - sequence.first);
    const auto next = std::ranges::upper_bound(rows, pc, {}, &LineProgram::Row::pc);
    if (next != rows.begin()) return &*std::prev(next);
  }
  return nullptr;
}

SourceLines::SourceLines(const Cubin& cubin) : table_(cubin, ".debug_line") {
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

namespace {

/// The lines of a PTX text with loads that say so.
std::set<int> strong_loads_in(std::string_view text) {
  constexpr std::array<std::string_view, 4> kNames = {"ld.volatile.", "ld.relaxed.", "ld.acquire.",
                                                      "ld.mmio."};
  std::set<int> numbers;
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const auto has = [&](std::string_view name) { return line.find(name) != line.npos; };
    if (std::ranges::any_of(kNames, has)) numbers.insert(number);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace

PtxLines::PtxLines(const Cubin& cubin) : table_(cubin, ".nv_debug_line_sass") {
  const auto bytes = cubin.numbered_section(".nv_debug_ptx_txt");
  text_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::ranges::replace(text_, '\0', '\n');
  strong_loads_ = strong_loads_in(text_);
}

bool PtxLines::is_strong_load(std::string_view kernel, std::uint64_t pc) const {
  if (strong_loads_.empty()) return false;
  const auto line = find(kernel, pc);
  return line && strong_loads_.contains(*line);
}

std::optional<int> PtxLines::find(std::string_view kernel, std::uint64_t pc) const {
  const LineProgram::Row* row = table_.find(kernel, pc);
  if (row == nullptr || row->line == 0) return std::nullopt;
  return static_cast<int>(row->line);
}

}  // namespace warpgauge::metrics
