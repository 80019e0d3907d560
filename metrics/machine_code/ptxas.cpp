// Reads what `nvcc -Xptxas -v` prints, line by line. The forms of CUDA 11.8 to 13.0:
//
//   ptxas info    : 0 bytes gmem, 256 bytes cmem[3]
//   ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'
//   ptxas info    : Function properties for _Z1kPf
//       96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 30 registers, used 1 barriers, 160 bytes cumulative stack size, ...
//   ptxas info    : Compile time = 1.341 ms
//   ptxas info    : Function properties for _Z1fi
//       64 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
//
// The last are a function that the kernel calls; each kernel is followed by all of its own. With
// -rdc=true functions are compiled on their own, have a compile time and belong to no kernel.
#include "metrics/machine_code/ptxas.h"

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
    if (!frame_of_.empty()) fail_cut("Function properties for " + frame_of_);
    close();
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
    if (!frame_of_.empty()) return read_frame(trim(line), line);
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
    if (message.starts_with("Compile time = ")) last_called_.reset();
    keep_last_called();
    if (of_module) read_module(message, line);
    if (take(message, "Compiling entry function ")) {
      read_entry(message, line);
    } else if (take(message, "Function properties for ")) {
      if (open_) frame_of_ = message;
    } else if (message.starts_with("Used ")) {
      read_resources(message, line);
    }
  }

  /// N bytes gmem, N bytes cmem[3], ...: the kernels of this module follow.
  void read_module(std::string_view rest, std::string_view line) {
    close();
    module_constant_bytes_ = 0;
    while (!rest.empty()) {
      std::string_view item = trim(take_until(rest, ','));
      const auto bytes = take_number<std::uint64_t>(item);
      if (!bytes || !item.starts_with(" bytes ")) fail_cut(line);
      if (item == " bytes cmem[3]") module_constant_bytes_ = *bytes;
    }
  }

  /// 'NAME' for 'ARCH'
  void read_entry(std::string_view rest, std::string_view line) {
    close();
    if (rest.empty() || rest.back() != '\'' || !take(rest, "'")) fail_cut(line);
    PtxasKernel kernel;
    kernel.name = take_until(rest, '\'');
    if (!take(rest, " for '")) fail_cut(line);
    kernel.arch = take_until(rest, '\'');
    if (kernel.name.empty() || kernel.arch.empty()) fail_cut(line);
    kernel.module_constant_bytes = module_constant_bytes_;
    open_ = std::move(kernel);
    open_line_ = line_;
    has_frame_ = has_resources_ = false;
  }

  /// N bytes stack frame, N bytes spill stores, N bytes spill loads
  void read_frame(std::string_view rest, std::string_view line) {
    const auto take_bytes = [&](std::string_view what) {
      const auto bytes = take_number<std::uint64_t>(rest);
      if (!bytes || !take(rest, what)) fail_cut(line);
      return *bytes;
    };
    const std::string of = std::exchange(frame_of_, "");
    const std::uint64_t frame = take_bytes(" bytes stack frame, ");
    const std::uint64_t stores = take_bytes(" bytes spill stores, ");
    const std::uint64_t loads = take_bytes(" bytes spill loads");
    if (of != open_->name) {
      last_called_ = CalledFunction{of, frame};
      return;
    }
    open_->frame_bytes = frame;
    open_->spill_store_bytes = stores;
    open_->spill_load_bytes = loads;
    has_frame_ = true;
  }

  /// The function read last belongs to the open kernel, as no compile time of its own followed.
  void keep_last_called() {
    if (!last_called_) return;
    open_->called.push_back(std::move(*last_called_));
    last_called_.reset();
  }

  /// Used N registers, used N barriers, N bytes smem, N bytes cmem[BANK], ...
  void read_resources(std::string_view rest, std::string_view line) {
    if (!open_ || has_resources_) return;  // a device function
    std::string_view first = take_until(rest, ',');
    take(first, "Used ");
    const auto registers = take_number<std::uint32_t>(first);
    if (!registers || first != " registers") fail_cut(line);
    open_->registers = *registers;
    while (!rest.empty()) read_resource(trim(take_until(rest, ',')), line);
    has_resources_ = true;
  }

  /// One item behind the registers. Kinds that warpgauge does not count (textures, additions of a
  /// later ptxas) are passed over.
  void read_resource(std::string_view item, std::string_view line) {
    take(item, "used ");
    const auto number = take_number<std::uint64_t>(item);
    if (!number || !take(item, " ")) fail_cut(line);
    if (item == "barriers") {
      open_->barriers = static_cast<std::uint32_t>(*number);
    } else if (item == "bytes smem") {
      open_->shared_static_bytes = *number;
    } else if (item == "bytes cumulative stack size") {
      open_->cumulative_stack_bytes = *number;
    } else if (take(item, "bytes cmem[")) {
      const auto bank = take_number<int>(item);
      if (!bank || item != "]") fail_cut(line);
      open_->constant_bytes[*bank] = *number;
    }
  }

  /// What belongs to the open kernel has been read: keeps it, unless it is known already.
  void close() {
    keep_last_called();
    require_complete();
    if (!open_) return;
    PtxasKernel kernel = *std::exchange(open_, std::nullopt);
    const auto [known, is_new] =
        index_.try_emplace({kernel.name, kernel.arch}, kernels_.size(), open_line_);
    if (is_new) {
      kernels_.push_back(std::move(kernel));
      return;
    }
    PtxasKernel& first = kernels_[known->second.first];
    if (!first.agrees_with(kernel)) {
      fail(open_line_, "kernel '" + kernel.name + "' for " + kernel.arch +
                           " has other numbers here than in line " +
                           std::to_string(known->second.second) +
                           ". One of the two is out of date or from another file: give the "
                           "output of one compilation at a time");
    }
    first.module_constant_bytes =
        std::max(first.module_constant_bytes, kernel.module_constant_bytes);
  }

  void require_complete() const {
    if (!open_ || (has_frame_ && has_resources_)) return;
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
  bool has_resources_ = false;  // its registers have been read
  std::string frame_of_;        // whose stack and spills stand in the next line
  std::optional<CalledFunction> last_called_;
  std::uint64_t module_constant_bytes_ = 0;
  std::vector<PtxasKernel> kernels_;
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, int>>
      index_;  // (name, arch) -> place in kernels_, line
};

}  // namespace

std::uint64_t PtxasKernel::stack_bytes() const {
  std::uint64_t sum = frame_bytes, largest = 0;
  for (const CalledFunction& function : called) {
    sum += function.frame_bytes;
    largest = std::max(largest, function.frame_bytes);
  }
  // Each function is on some chain of calls, so that a sum without one of them is of a recursion.
  const bool knows_calls = cumulative_stack_bytes >= frame_bytes + largest;
  return knows_calls ? cumulative_stack_bytes : sum;
}

bool PtxasKernel::agrees_with(PtxasKernel other) const {
  other.module_constant_bytes = module_constant_bytes;
  return *this == other;
}

std::vector<PtxasKernel> parse_ptxas(std::string_view text, std::string_view path) {
  return Parser(path).parse(text);
}

}  // namespace warpgauge::metrics
