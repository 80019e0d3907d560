// Finds the lines of source and of PTX that an instruction of a cubin was compiled from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/base/source_line.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_program.h"

namespace warpgauge::metrics {

/// Finds the row of a line program for an instruction of a cubin, whose image must outlive it.
class LineTable {
 public:
  /// Reads a section of the cubin; empty if there is none. Throws LineTableError.
  LineTable(const Cubin& cubin, std::string_view section);

  /// The row that holds for the instruction at `pc` of `kernel`; nullptr if there is none.
  const LineProgram::Row* find(std::string_view kernel, std::uint64_t pc) const;
  const LineProgram& program() const { return program_; }

 private:
  LineProgram program_;
  /// Indices into program_.sequences, by kernel.
  std::unordered_map<std::string_view, std::vector<std::size_t>> sequences_;
};

/// True for a cubin that was compiled with -lineinfo or -G.
bool has_source_lines(const Cubin& cubin);

/// The lines of source of a cubin that was compiled with -lineinfo or -G.
class SourceLines {
 public:
  explicit SourceLines(const Cubin& cubin);  ///< throws LineTableError
  /// The lines, or nullopt if the image is no cubin or its line table cannot be read: for callers
  /// that do without. The image must outlive the result.
  static std::optional<SourceLines> of(std::span<const std::byte> image);

  /// The line_to_blame() for the instruction at `pc` (an offset into the code) of `kernel`, or
  /// nullopt.
  std::optional<SourceLine> find(std::string_view kernel, std::uint64_t pc) const;

 private:
  LineTable table_;
  std::vector<bool> in_toolkit_;  // per file
};

/// The lines of PTX of a cubin that was compiled with -lineinfo.
class PtxLines {
 public:
  explicit PtxLines(const Cubin& cubin);  ///< throws LineTableError

  /// The line, from 1, of the PTX instruction from which the instruction at `pc` of `kernel` was
  /// compiled.
  std::optional<int> find(std::string_view kernel, std::uint64_t pc) const;
  /// True if the instruction at `pc` of `kernel` comes from a volatile or strong load. Machine code
  /// does not show this for loads from shared memory.
  bool is_strong_load(std::string_view kernel, std::uint64_t pc) const;
  /// True if it comes from an approximate function, such as div.full.
  bool is_approximation(std::string_view kernel, std::uint64_t pc) const;
  /// True if it comes from a sum or a quotient that ptxas may make one instruction of, with
  /// rounding once, of it and the product beside it.
  bool may_be_fused(std::string_view kernel, std::uint64_t pc) const;
  /// The PTX text of the cubin, with line ends; empty if it has none.
  const std::string& text() const { return text_; }

 private:
  bool is_one_of(const std::set<int>& lines, std::string_view kernel, std::uint64_t pc) const;

  LineTable table_;
  std::string text_;
  std::set<int> strong_loads_, approximations_, fusible_;  // lines of PTX
};

}  // namespace warpgauge::metrics
