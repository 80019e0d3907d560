// Reads what `nvcc -Xptxas -v` prints, line by line. The forms of CUDA 11.8 to 13.0:
//
//   ptxas info    : 0 bytes gmem, 256 bytes cmem[3]
//   ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'
//   ptxas info    : Function properties for _Z1kPf
//       96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 30 registers, used 1 barriers, 4224 bytes smem, 372 bytes cmem[0]
//
// Properties of a device function look the same and may come before, between or after these.
#include "metrics/ptxas.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <utility>

namespace warpgauge::metrics {
namespace {

/// Removes `prefix` from the front of `text` if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Removes the number at the front of `text` and returns it.
template <std::integral Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Removes all up to and including `end` from the front of `text` and returns the text before
/// it; with `end` missing, all of the text.
std::string_view take_until(std::string_view& text, char end) {
  const std::string_view before = text.substr(0, text.find(end));
  text.remove_prefix(std::min(before.size() + 1, text.size()));
  return before;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

class Parser {
 public:
  explicit Parser(std::string_view path) : path_(path) {}

  std::vector<PtxasKernel> parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      read_line(take_until(text, '\n'));
    }
    require_complete();
    if (kernels_.empty() && !says_none_) {
      throw PtxasError(std::string(path_) +
                       ": no kernel recognised in this output of ptxas. Compile with -Xptxas -v "
                       "and keep what nvcc writes to stderr (it writes nothing where nothing is "
                       "compiled again)");
    }
    return std::move(kernels_);
  }

 private:
  void read_line(std::string_view line) {
    // Build tools may put something in front of the line, so look for the tag anywhere.
    constexpr std::string_view kTag = "ptxas info";
    const std::size_t tag = line.find(kTag);
    if (std::exchange(frame_follows_, false)) return read_frame(trim(line), line);
    if (tag == std::string_view::npos) return;

    std::string_view message = line.substr(tag + kTag.size());
    take_until(message, ':');
    message = trim(message);
    // "0 bytes gmem" is what it says of a module; of one without kernels it says nothing else, but
    // of device functions that are compiled on their own (-rdc=true). "Used" is said of kernels
    // only.
    const std::size_t digits = std::min(message.find_first_not_of("0123456789"), message.size());
    const bool of_module = digits > 0 && message.substr(digits).starts_with(" bytes gmem");
    const bool of_function = says_none_ && (message.starts_with("Function properties for ") ||
                                            message.starts_with("Compile time = "));
    says_none_ = of_function || (of_module && (says_none_ || std::exchange(is_first_, false)));
    is_first_ = false;
    if (take(message, "Compiling entry function ")) {
      read_entry(message, line);
    } else if (take(message, "Function properties for ")) {
      frame_follows_ = open_ && message == open_->name;
    } else if (message.starts_with("Used ")) {
      read_resources(message, line);
    }
  }

  /// 'NAME' for 'ARCH'
  void read_entry(std::string_view rest, std::string_view line) {
    require_complete();
    if (rest.empty() || rest.back() != '\'' || !take(rest, "'")) fail_cut(line);
    PtxasKernel kernel;
    kernel.name = take_until(rest, '\'');
    if (!take(rest, " for '")) fail_cut(line);
    kernel.arch = take_until(rest, '\'');
    if (kernel.name.empty() || kernel.arch.empty()) fail_cut(line);
    open_ = std::move(kernel);
    open_line_ = line_;
    has_frame_ = false;
  }

  /// N bytes stack frame, N bytes spill stores, N bytes spill loads
  void read_frame(std::string_view rest, std::string_view line) {
    const auto take_bytes = [&](std::string_view what) {
      const auto bytes = take_number<std::uint64_t>(rest);
      if (!bytes || !take(rest, what)) fail_cut(line);
      return *bytes;
    };
    open_->stack_bytes = take_bytes(" bytes stack frame, ");
    open_->spill_store_bytes = take_bytes(" bytes spill stores, ");
    open_->spill_load_bytes = take_bytes(" bytes spill loads");
    has_frame_ = true;
  }

  /// Used N registers, used N barriers, N bytes smem, N bytes cmem[BANK], ...
  void read_resources(std::string_view rest, std::string_view line) {
    if (!open_) return;  // a device function
    std::string_view first = take_until(rest, ',');
    take(first, "Used ");
    const auto registers = take_number<std::uint32_t>(first);
    if (!registers || first != " registers") fail_cut(line);
    open_->registers = *registers;
    while (!rest.empty()) read_resource(trim(take_until(rest, ',')), line);
    close();
  }

  /// One item behind the registers. Kinds that warpgauge does not count (textures, the cumulative
  /// stack, additions of a later ptxas) are passed over.
  void read_resource(std::string_view item, std::string_view line) {
    take(item, "used ");
    const auto number = take_number<std::uint64_t>(item);
    if (!number || !take(item, " ")) fail_cut(line);
    if (item == "barriers") {
      open_->barriers = static_cast<std::uint32_t>(*number);
    } else if (item == "bytes smem") {
      open_->shared_static_bytes = *number;
    } else if (take(item, "bytes cmem[")) {
      const auto bank = take_number<int>(item);
      if (!bank || item != "]") fail_cut(line);
      open_->constant_bytes[*bank] = *number;
    }
  }

  /// The open kernel is complete: keeps it, unless it is known already.
  void close() {
    if (!has_frame_) require_complete();
    PtxasKernel kernel = *std::exchange(open_, std::nullopt);
    const auto [known, is_new] =
        index_.try_emplace({kernel.name, kernel.arch}, kernels_.size(), open_line_);
    if (is_new) {
      kernels_.push_back(std::move(kernel));
    } else if (kernel != kernels_[known->second.first]) {
      fail(open_line_, "kernel '" + kernel.name + "' for " + kernel.arch +
                           " has other numbers here than in line " +
                           std::to_string(known->second.second) +
                           ". One of the two is out of date or from another file: give the "
                           "output of one compilation at a time");
    }
  }

  void require_complete() const {
    if (!open_) return;
    fail(open_line_, "kernel '" + open_->name + "' for " + open_->arch + " has no " +
                         (has_frame_ ? "\"Used ... registers\"" : "\"... bytes stack frame\"") +
                         " line. The text is cut off or comes from several compilers at once: "
                         "compile again and keep all that one nvcc writes");
  }

  [[noreturn]] void fail_cut(std::string_view line) const {
    fail(line_, "cannot read \"" + std::string(trim(line)) +
                    "\". The line is cut off or its form is unknown: compile again, with a CUDA "
                    "version from 11.8 to 13.0");
  }

  [[noreturn]] void fail(int line, const std::string& problem) const {
    throw PtxasError(std::string(path_) + ":" + std::to_string(line) + ": " + problem);
  }

  std::string_view path_;
  int line_ = 0;
  std::optional<PtxasKernel> open_;  // the kernel being read
  int open_line_ = 0;
  bool is_first_ = true;        // no message of ptxas has been read
  bool says_none_ = false;      // all of them say that there is no kernel
  bool has_frame_ = false;      // its stack and spills have been read
  bool frame_follows_ = false;  // they are on the next line
  std::vector<PtxasKernel> kernels_;
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, int>>
      index_;  // (name, arch) -> place in kernels_, line
};

}  // namespace

std::vector<PtxasKernel> parse_ptxas(std::string_view text, std::string_view path) {
  return Parser(path).parse(text);
}

}  // namespace warpgauge::metrics
