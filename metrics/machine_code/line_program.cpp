// Interprets line programs: DWARF 2 to 4, section "Line Number Information". NVIDIA's additions are
// not documented; they are as nvdisasm -gi reads them: extended opcode 0x90 has two numbers, the
// row of the call in which the rows from here on are inlined (counted from 1 in each sequence; 0:
// not inlined), and the name of the inlined function as an offset into .debug_str.
#include "metrics/machine_code/line_program.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <type_traits>

namespace warpgauge::metrics {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kOldestVersion = 2, kNewestVersion = 4;

// Standard opcodes.
constexpr unsigned kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3, kSetFile = 4, kConstAddPc = 8,
                   kFixedAdvancePc = 9;
// Extended opcodes, behind a 0 and their length.
constexpr unsigned kEndSequence = 1, kSetAddress = 2, kDefineFile = 3, kInlinedCall = 0x90;

[[noreturn]] void refuse_line_table(std::size_t offset, std::string_view problem) {
  throw LineTableError(
      fmt::format("the line table cannot be read: at offset {}, {}. Compile the kernels again with "
                  "-lineinfo and the toolkit that this program was built with",
                  offset, problem));
}

/// Reads numbers and texts one after the other, up to an end that nothing may cross.
class Cursor {
 public:
  Cursor(Bytes bytes, std::size_t begin, std::size_t end) : bytes_(bytes), at_(begin), end_(end) {
    if (begin > end || end > bytes.size())
      refuse_line_table(begin, "a part reaches beyond its end");
  }

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == end_; }
  void skip_to(std::size_t at) {
    if (at < at_ || at > end_) refuse_line_table(at_, "a part reaches beyond its end");
    at_ = at;
  }

  template <typename Number>
  Number number() {
    static_assert(std::is_integral_v<Number>);
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t uleb() { return leb().first; }
  std::int64_t sleb() {
    const auto [value, bits] = leb();
    const bool negative = bits < 64 && (value >> (bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(negative ? value | ~std::uint64_t{0} << bits : value);
  }
  std::string_view text() {
    const std::size_t begin = at_;
    while (number<std::uint8_t>() != 0) {
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, at_ - begin - 1};
  }
  Cursor part(std::size_t size) {
    const std::size_t begin = at_;
    take(size);
    return Cursor(bytes_, begin, at_);
  }

 private:
  Bytes take(std::size_t size) {
    if (size > end_ - at_) refuse_line_table(at_, "it ends too early");
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }
  /// A number in LEB128, seven bits a byte, and its number of bits.
  std::pair<std::uint64_t, unsigned> leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80u) == 0) return {value, shift + 7};
    }
    refuse_line_table(at_, "a number has more than 64 bits");
  }

  Bytes bytes_;
  std::size_t at_, end_;
};

/// The header of a line program.
struct Header {
  unsigned minimum_instruction;
  int line_base;
  unsigned line_range, opcode_base;
  std::vector<std::uint8_t> operands;  // numbers of operands of the standard opcodes
};

/// One unit of the section: a header with its files, and a program.
class Unit {
 public:
  Unit(const std::map<std::uint64_t, std::string_view>& kernels, LineProgram& out)
      : kernels_(kernels), out_(out), first_file_(out.files.size()) {}

  void run(Cursor unit) {
    read_header(unit);
    begin_sequence();
    while (!unit.at_end()) step(unit);
    if (out_.rows.size() != sequence_start_)
      refuse_line_table(unit.at(), "a sequence of rows has no end");
  }

 private:
  void read_header(Cursor& unit) {
    const std::size_t begin = unit.at();
    const auto version = unit.number<std::uint16_t>();
    if (version < kOldestVersion || version > kNewestVersion) {
      refuse_line_table(begin, fmt::format("its version is {}, and only {} to {} are known here",
                                           version, kOldestVersion, kNewestVersion));
    }
    const auto bytes = unit.number<std::uint32_t>();
    Cursor header = unit.part(bytes);
    header_.minimum_instruction = header.number<std::uint8_t>();
    if (version >= 4) header.number<std::uint8_t>();  // operations per instruction, for VLIW
    header.number<std::uint8_t>();                    // whether lines are statements
    header_.line_base = header.number<std::int8_t>();
    header_.line_range = header.number<std::uint8_t>();
    header_.opcode_base = header.number<std::uint8_t>();
    if (header_.line_range == 0 || header_.opcode_base == 0)
      refuse_line_table(begin, "its header is damaged");
    for (unsigned i = 1; i < header_.opcode_base; ++i) {
      header_.operands.push_back(header.number<std::uint8_t>());
    }
    std::vector<std::string_view> folders = {""};  // 0: where the compiler was started
    for (auto folder = header.text(); !folder.empty(); folder = header.text()) {
      folders.push_back(folder);
    }
    out_.files.emplace_back();  // 0 is no file
    for (auto name = header.text(); !name.empty(); name = header.text()) {
      const std::uint64_t folder = header.uleb();
      header.uleb();  // time of the last change
      header.uleb();  // size
      if (folder >= folders.size())
        refuse_line_table(header.at(), "a file lies in a folder that is not listed");
      const auto path = std::filesystem::path(folders[folder]) / name;
      out_.files.push_back(path.lexically_normal().string());
    }
  }

  void begin_sequence() {
    row_ = {.file = 1, .line = 1};
    kernel_ = {};
    sequence_start_ = out_.rows.size();
  }

  void step(Cursor& unit) {
    const unsigned opcode = unit.number<std::uint8_t>();
    if (opcode >= header_.opcode_base) {
      const unsigned adjusted = opcode - header_.opcode_base;
      advance(adjusted / header_.line_range);
      row_.line += static_cast<std::uint32_t>(header_.line_base +
                                              static_cast<int>(adjusted % header_.line_range));
      append(unit.at());
    } else if (opcode == 0) {
      const std::uint64_t size = unit.uleb();
      extended(unit.part(size));
    } else {
      standard(opcode, unit);
    }
  }

  void standard(unsigned opcode, Cursor& unit) {
    switch (opcode) {
      case kCopy:
        append(unit.at());
        break;
      case kAdvancePc:
        advance(unit.uleb());
        break;
      case kAdvanceLine:
        row_.line += static_cast<std::uint32_t>(unit.sleb());
        break;
      case kSetFile:
        row_.file = static_cast<std::uint32_t>(unit.uleb());
        break;
      case kConstAddPc:
        advance((255 - header_.opcode_base) / header_.line_range);
        break;
      case kFixedAdvancePc:
        row_.pc += unit.number<std::uint16_t>();
        break;
      default:  // concerns statements, blocks or columns, or is not known
        for (unsigned i = 0; i < header_.operands[opcode - 1]; ++i) unit.uleb();
    }
  }

  void extended(Cursor operand) {
    switch (operand.number<std::uint8_t>()) {
      case kEndSequence:
        if (!kernel_.empty()) {
          out_.sequences.push_back({kernel_, sequence_start_, out_.rows.size(), row_.pc});
        }
        begin_sequence();
        break;
      case kSetAddress: {
        const auto kernel = kernels_.find(operand.at());
        kernel_ = kernel == kernels_.end() ? std::string_view() : kernel->second;
        row_.pc = operand.number<std::uint64_t>();
        break;
      }
      case kDefineFile:
        refuse_line_table(operand.at(),
                          "it defines a file inside of the program, which is unknown here");
      case kInlinedCall:
        row_.caller = caller(operand.uleb());
        break;
      default:
        break;  // an unknown opcode ends after its length
    }
  }

  /// The index of the `number`-th row of this sequence; none for a number that is out of range.
  std::uint32_t caller(std::uint64_t number) const {
    if (number == 0 || number > out_.rows.size() - sequence_start_) return LineProgram::kNone;
    return static_cast<std::uint32_t>(sequence_start_ + number - 1);
  }

  void advance(std::uint64_t instructions) {
    row_.pc += instructions * header_.minimum_instruction;
  }

  /// Appends a row. `at` is the offset behind the opcode that appends it.
  void append(std::size_t at) {
    LineProgram::Row row = row_;
    const std::uint64_t file = first_file_ + row.file;
    row.file = file < out_.files.size() ? static_cast<std::uint32_t>(file) : 0;
    if (out_.rows.size() > sequence_start_ && row.pc < out_.rows.back().pc) {
      refuse_line_table(
          at, fmt::format("its rows go back from {:#x} to {:#x}", out_.rows.back().pc, row.pc));
    }
    out_.rows.push_back(row);
  }

  const std::map<std::uint64_t, std::string_view>& kernels_;
  LineProgram& out_;
  const std::size_t first_file_;
  Header header_{};
  LineProgram::Row row_;
  std::string_view kernel_;
  std::size_t sequence_start_ = 0;
};

}  // namespace

LineProgram read_line_program(Bytes section,
                              const std::map<std::uint64_t, std::string_view>& kernels) {
  LineProgram program;
  Cursor cursor(section, 0, section.size());
  while (!cursor.at_end()) {
    const auto bytes = cursor.number<std::uint32_t>();
    Unit(kernels, program).run(cursor.part(bytes));
  }
  return program;
}

}  // namespace warpgauge::metrics
