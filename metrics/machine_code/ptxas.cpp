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
//
// Compilers that run at once write into one log: lines of a report keep their order, and those of
// others may stand between. Two of the lines name no kernel. A stack frame is of the function named
// last, if no other waits for its own; registers are of the one kernel that has its frame and no
// registers yet. Where there are several, the line is refused.
#include "metrics/machine_code/ptxas.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <utility>

namespace warpgauge::metrics {
namespace {

constexpr std::string_view kTag = "ptxas info";
constexpr std::string_view kFrame = " bytes stack frame, ";

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

/// The line without the codes of a terminal, "ESC [ 1 ; 32 m".
std::string without_codes(std::string_view line) {
  constexpr char kEscape = '\x1b';
  std::string plain;
  while (!line.empty()) {
    plain += take_until(line, kEscape);
    if (!take(line, "[")) continue;
    const auto end = std::ranges::find_if(line, [](char c) { return c >= '@' && c <= '~'; });
    line = {end == line.end() ? end : end + 1, line.end()};
  }
  return plain;
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

/// Whether the frames of the functions that it calls are not in the stack that ptxas names.
bool has_recursion(const PtxasKernel& kernel) {
  std::uint64_t largest = 0;
  for (const CalledFunction& function : kernel.called) {
    largest = std::max(largest, function.frame_bytes);
  }
  // Each function is on some chain of calls, so that a sum without one of them is of a recursion.
  return largest > 0 && kernel.cumulative_stack_bytes < kernel.frame_bytes + largest;
}

class Parser {
 public:
  explicit Parser(std::string_view path) : path_(path) {}

  std::vector<PtxasKernel> parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      is_cut_ = text.find('\n') == text.npos;
      read_line(without_codes(take_until(text, '\n')));
    }
    keep_function();
    if (!named_.empty()) {
      fail(named_.front().line, fmt::format("\"Function properties for {}\" has no \"... bytes "
                                            "stack frame\" behind it. The text is cut off: keep "
                                            "all that the build writes",
                                            named_.front().name));
    }
    if (!open_.empty()) fail_incomplete(kernels_[open_.front()]);
    if (kernels_.empty() && modules_ == 0) {
      throw PtxasError(std::string(path_) +
                       ": no line of ptxas -v. A build that is up to date compiles nothing: build "
                       "again from the start, with -Xptxas -v among nvcc's options (export "
                       "NVCC_APPEND_FLAGS='-Xptxas -v'), and keep what it writes to stderr, too");
    }
    judge_stacks();
    return std::move(kernels_);
  }

 private:
  using Place = std::size_t;  ///< in kernels_

  /// A function whose stack frame stands in a later line.
  struct Named {
    std::string name;
    int line = 0;
    std::optional<Place> kernel;  ///< its place, if it is a kernel and no device function
  };
  /// A device function that reserves stack.
  struct Function {
    CalledFunction function;
    int line = 0;
  };

  void read_line(std::string_view line) {
    if (const std::size_t frame = line.find(kFrame); frame != line.npos) {
      return read_frame(line, frame);
    }
    // Build tools may put something in front of the line, so look for the tag anywhere.
    const std::size_t tag = line.find(kTag);
    if (tag == line.npos) return;
    std::string_view message = trim(line.substr(tag + kTag.size()));
    if (!take(message, ":")) return;
    message = trim(message);
    if (message.find(kTag) != message.npos) fail_cut(line);
    const std::size_t digits = std::min(message.find_first_not_of("0123456789"), message.size());
    if (message.starts_with("Compile time = ")) {
      function_.reset();  // it was compiled on its own
    } else if (digits > 0 && message.substr(digits).starts_with(" bytes gmem")) {
      read_module();
    } else if (take(message, "Compiling entry function ")) {
      read_entry(message, line);
    } else if (message.starts_with("Compiling ")) {
      fail_cut(line);
    } else if (take(message, "Function properties for ")) {
      read_name(message, line);
    } else if (message.starts_with("Used ")) {
      read_resources(message, line);
    }
  }

  /// N bytes gmem, ...: the kernels of a module follow.
  void read_module() {
    keep_function();
    note_mixture();
    ++modules_;
    if (last_) ends_.push_back(*last_);
  }

  /// 'NAME' for 'ARCH'
  void read_entry(std::string_view rest, std::string_view line) {
    constexpr std::string_view kFor = "' for '";
    keep_function();
    note_mixture();
    const std::size_t end = rest.rfind(kFor);
    if (end == rest.npos || !rest.starts_with("'") || !rest.ends_with("'")) fail_cut(line);
    PtxasKernel kernel;
    kernel.name = rest.substr(1, end - 1);
    std::string_view arch = rest.substr(end + kFor.size());
    kernel.arch = take_until(arch, '\'');
    if (kernel.name.empty() || kernel.arch.empty()) fail_cut(line);
    kernel.line = line_;
    open_.push_back(kernels_.size());
    kernels_.push_back(std::move(kernel));
  }

  void read_name(std::string_view name, std::string_view line) {
    keep_function();
    const auto waits = [&](Place place) {
      return kernels_[place].name == name && !has_frame(place);
    };
    named_.push_back({std::string(name), line_, only(waits, line)});
  }

  /// N bytes stack frame, N bytes spill stores, N bytes spill loads
  void read_frame(std::string_view line, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
    std::string_view rest = line.substr(begin);
    const auto take_bytes = [&](std::string_view what) {
      const auto bytes = take_number<std::uint64_t>(rest);
      if (!bytes || !take(rest, what)) fail_cut(line);
      return *bytes;
    };
    const std::uint64_t frame = take_bytes(kFrame);
    const std::uint64_t stores = take_bytes(" bytes spill stores, ");
    const std::uint64_t loads = take_bytes(" bytes spill loads");
    if (named_.size() != 1) {
      fail_mixed(line, named_.empty() ? "no function in front of it waits for its stack frame"
                                      : fmt::format("it may be of {} (line {}) or of {} (line {})",
                                                    named_[0].name, named_[0].line, named_[1].name,
                                                    named_[1].line));
    }
    const Named named = std::move(named_.front());
    named_.clear();
    if (!named.kernel) {
      function_ = Function{{named.name, frame}, named.line};
      return;
    }
    PtxasKernel& kernel = kernels_[*named.kernel];
    kernel.frame_bytes = frame;
    kernel.spill_store_bytes = stores;
    kernel.spill_load_bytes = loads;
    with_frame_.push_back(*named.kernel);
  }

  /// Used N registers, used N barriers, N bytes smem, ...
  void read_resources(std::string_view rest, std::string_view line) {
    keep_function();
    const auto place = only([&](Place open) { return has_frame(open); }, line);
    if (!place) fail_mixed(line, "no kernel in front of it waits for its registers");
    PtxasKernel& kernel = kernels_[*place];
    std::string_view first = take_until(rest, ',');
    take(first, "Used ");
    const auto registers = take_number<std::uint32_t>(first);
    if (is_cut_ || !registers || first != " registers") fail_cut(line);
    kernel.registers = *registers;
    while (!rest.empty()) read_resource(kernel, trim(take_until(rest, ',')), line);
    std::erase(open_, *place);
    std::erase(with_frame_, *place);
    last_ = place;
  }

  /// One item behind the registers. Kinds that warpgauge does not read (constants, textures,
  /// additions of a later ptxas) are passed over.
  void read_resource(PtxasKernel& kernel, std::string_view item, std::string_view line) {
    take(item, "used ");
    const auto number = take_number<std::uint64_t>(item);
    if (!number || !take(item, " ") || is_cut(item)) fail_cut(line);
    if (item == "barriers") {
      kernel.barriers = static_cast<std::uint32_t>(*number);
    } else if (item == "bytes smem") {
      kernel.shared_static_bytes = *number;
    } else if (item == "bytes cumulative stack size") {
      kernel.cumulative_stack_bytes = *number;
    }
  }

  bool has_frame(Place place) const { return std::ranges::count(with_frame_, place) > 0; }

  /// The only open kernel that `fits`, or one of several with one name and architecture, of which
  /// the worst counts; nothing where none does.
  template <typename Fits>
  std::optional<Place> only(Fits fits, std::string_view line) const {
    std::optional<Place> found;
    for (const Place place : open_) {
      if (!fits(place)) continue;
      if (!found) {
        found = place;
        continue;
      }
      const PtxasKernel &first = kernels_[*found], &other = kernels_[place];
      if (first.name == other.name && first.arch == other.arch) continue;
      fail_mixed(line, fmt::format("it may be of {} for {} (line {}) or of {} for {} (line {})",
                                   first.name, first.arch, first.line, other.name, other.arch,
                                   other.line));
    }
    return found;
  }

  /// The device function read last belongs to the kernel in front of it, as no compile time of its
  /// own followed.
  void keep_function() {
    if (!function_) return;
    const Function function = *std::exchange(function_, std::nullopt);
    if (last_) kernels_[*last_].called.push_back(function.function);
    if (function.function.frame_bytes > 0 && !first_function_) first_function_ = function;
    note_mixture();
  }

  /// A report that begins where another has not ended is one of several compilers.
  void note_mixture() { is_mixed_ = is_mixed_ || !open_.empty(); }

  /// Refuses or doubts stacks where reports mix: only their order says which kernels call the
  /// functions with stack.
  void judge_stacks() {
    if (is_mixed_ && first_function_) {
      const auto& [function, line] = *first_function_;
      line_ = line;
      fail_mixed("Function properties for " + function.name,
                 "which kernel calls it is not known where reports mix");
    }
    for (Place place = 0; place < kernels_.size(); ++place) {
      if (!has_recursion(kernels_[place])) continue;
      const std::string doubt = fmt::format(
          "{} calls itself, or is of a kernel that another compiler reported on at the same time",
          std::ranges::max_element(kernels_[place].called, {}, &CalledFunction::frame_bytes)->name);
      kernels_[place].stack_doubt = doubt;
      for (const Place end : ends_) {
        if (end < place) kernels_[end].stack_doubt = doubt;
      }
    }
  }

  [[noreturn]] void fail_incomplete(const PtxasKernel& kernel) const {
    fail(kernel.line,
         fmt::format(
             "kernel '{}' for {} has no {} line. The text is cut off: keep all that the "
             "build writes",
             kernel.name, kernel.arch,
             has_frame(open_.front()) ? "\"Used ... registers\"" : "\"... bytes stack frame\""));
  }

  [[noreturn]] void fail_cut(std::string_view line) const {
    fail(line_, fmt::format("cannot read \"{}\". The line is cut off, or its form is unknown: "
                            "build again, with a CUDA version from 11.8 to 13.0",
                            trim(line)));
  }

  [[noreturn]] void fail_mixed(std::string_view line, std::string_view problem) const {
    fail(line_, fmt::format("\"{}\": {}. Compilers that ran at once wrote this log: build again "
                            "with make -O or -j1, or inspect the files that were compiled",
                            trim(line), problem));
  }

  [[noreturn]] void fail(int line, const std::string& problem) const {
    throw PtxasError(fmt::format("{}:{}: {}", path_, line, problem));
  }

  std::string_view path_;
  int line_ = 0;
  bool is_cut_ = false;  // the line has no end: more may have stood in it
  std::vector<PtxasKernel> kernels_;
  std::vector<Place> open_;        // kernels that lack a line, in their order
  std::vector<Place> with_frame_;  // of these
  std::vector<Named> named_;
  std::optional<Function> function_;        // read last
  std::optional<Function> first_function_;  // with stack, that some kernel calls
  std::optional<Place> last_;               // the kernel that was complete last
  std::vector<Place> ends_;                 // the last kernels of modules
  int modules_ = 0;
  bool is_mixed_ = false;
};

}  // namespace

std::uint64_t PtxasKernel::stack_bytes() const {
  if (!has_recursion(*this)) return std::max(cumulative_stack_bytes, frame_bytes);
  std::uint64_t sum = frame_bytes;
  for (const CalledFunction& function : called) sum += function.frame_bytes;
  return sum;
}

std::vector<PtxasKernel> parse_ptxas(std::string_view text, std::string_view path) {
  return Parser(path).parse(text);
}

}  // namespace warpgauge::metrics
