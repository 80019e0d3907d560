// From the address of an instruction of a cubin to the line of source and of PTX that it was
// compiled from.
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

/// Where each instruction of a cubin is in a line program. The cubin's image must outlive it.
class LineTable {
 public:
  /// Of a section of the cubin; empty if there is none. Throws LineTableError.
  LineTable(const Cubin& cubin, std::string_view section);

  /// The row that holds for the instruction at `pc` of `kernel`; nullptr if there is none.
  const LineProgram::Row* find(std::string_view kernel, std::uint64_t pc) const;
  const LineProgram& program() const { return program_; }

 private:
  LineProgram program_;
  /// By kernel, into program_.sequences.
  std::unordered_map<std::string_view, std::vector<std::size_t>> sequences_;
};

/// Whether it was compiled with -lineinfo or -G.
bool has_source_lines(const Cubin& cubin);

/// Lines of source, of a cubin compiled with -lineinfo or -G.
class SourceLines {
 public:
  explicit SourceLines(const Cubin& cubin);  ///< throws LineTableError
  /// For callers to whom a line is welcome but not needed: nullopt for what is no cubin, and for a
  /// line table that cannot be read. The image must outlive it.
  static std::optional<SourceLines> of(std::span<const std::byte> image);

  /// The line_to_blame() for the instruction at `pc` (an offset into the code) of `kernel`, or
  /// nullopt.
  std::optional<SourceLine> find(std::string_view kernel, std::uint64_t pc) const;

 private:
  LineTable table_;
  std::vector<bool> in_toolkit_;  // per file
};

/// Lines of PTX, of a cubin compiled with -lineinfo.
class PtxLines {
 public:
  explicit PtxLines(const Cubin& cubin);  ///< throws LineTableError

  /// The line, from 1, of the PTX instruction that the instruction at `pc` of `kernel` was made of.
  std::optional<int> find(std::string_view kernel, std::uint64_t pc) const;
  /// Whether the instruction at `pc` of `kernel` was made of a load that is volatile or strong. Of
  /// shared memory machine code does not show it.
  bool is_strong_load(std::string_view kernel, std::uint64_t pc) const;
  /// Whether it was made of an approximate function, div.full among them.
  bool is_approximation(std::string_view kernel, std::uint64_t pc) const;
  /// The PTX text of the cubin, with line ends; empty if it has none.
  const std::string& text() const { return text_; }

 private:
  bool is_one_of(const std::set<int>& lines, std::string_view kernel, std::uint64_t pc) const;

  LineTable table_;
  std::string text_;
  std::set<int> strong_loads_, approximations_;  // their lines
};

}  // namespace warpgauge::metrics
