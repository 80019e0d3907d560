// Puts the lines that `nvcc -Xptxas -v` prints (ptxas_line.h) together to reports on kernels. A
// kernel is followed by all functions that it calls:
//
//   ptxas info    : Function properties for _Z1fi
//       64 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
//
// With -rdc=true functions are compiled on their own, have a compile time and belong to no kernel.
//
// Compilers that run at once write into one log: lines of a report keep their order, and those of
// others may stand between. Two of the lines name no kernel. A stack frame is of the function named
// last, if no other waits for its own; registers are of the one kernel that has its frame and no
// registers yet. Where there are several, the line is refused.
#include "metrics/machine_code/ptxas.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "metrics/machine_code/ptxas_line.h"
#include "metrics/machine_code/ptxas_stack.h"
#include "metrics/machine_code/text_scanner.h"

namespace warpgauge::metrics {
namespace {

/// A line of the log, and the errors that name it.
struct LogLine {
  std::string_view path;
  int number = 0;
  std::string text;
  bool has_end = true;  ///< without one, more may have stood in it

  [[noreturn]] void fail(std::string_view problem) const {
    throw PtxasError(fmt::format("{}:{}: {}", path, number, problem));
  }

  [[noreturn]] void fail_cut() const {
    fail(
        fmt::format("cannot read \"{}\". The line is cut off, or its form is unknown: "
                    "build again, with a CUDA version from 11.8 to 13.0",
                    trim(text)));
  }

  [[noreturn]] void fail_mixed(std::string_view problem) const {
    fail(
        fmt::format("\"{}\": {}. Compilers that ran at once wrote this log: build again "
                    "with make -O or -j1, or inspect the files that were compiled",
                    trim(text), problem));
  }
};

/// Takes the lines of a log, in their order, and has the kernels once there are no more.
class KernelAssembler {
 public:
  void add(const LogLine& line) {
    const auto [kind, rest] = classify_ptxas_line(line.text);
    switch (kind) {
      case PtxasLine::Kind::other:
        return;
      case PtxasLine::Kind::cut_off:
        line.fail_cut();
      case PtxasLine::Kind::module:
        return begin_module();
      case PtxasLine::Kind::entry:
        return begin_kernel(rest, line);
      case PtxasLine::Kind::function:
        return name_function(rest, line);
      case PtxasLine::Kind::frame:
        return add_frame(rest, line);
      case PtxasLine::Kind::resources:
        return complete_kernel(rest, line);
      case PtxasLine::Kind::compile_time:
        function_.reset();  // it was compiled on its own
    }
  }

  std::vector<PtxasKernel> finish(std::string_view path) {
    keep_function();
    if (!named_.empty()) fail_without_frame(path);
    if (!open_.empty()) fail_incomplete(path);
    if (kernels_.empty() && !has_module_) fail_empty(path);
    // Only the order of lines says which kernel calls a function with stack.
    if (is_mixed_ && first_function_) {
      LogLine{path, first_function_->line,
              "Function properties for " + first_function_->called.name}
          .fail_mixed("which kernel calls it is not known where reports mix");
    }
    doubt_stacks(kernels_, module_ends_);
    return std::move(kernels_);
  }

 private:
  using Place = std::size_t;  ///< in kernels_

  /// A function whose stack frame stands in a later line.
  struct NamedFunction {
    std::string name;
    int line = 0;
    std::optional<Place> kernel;  ///< its place, if it is a kernel and no device function
  };
  /// A device function, whose kernel is the one in front of it.
  struct DeviceFunction {
    CalledFunction called;
    int line = 0;  ///< that names it
  };

  void begin_module() {
    keep_function();
    note_mixture();
    has_module_ = true;
    if (last_) module_ends_.push_back(*last_);
  }

  void begin_kernel(std::string_view rest, const LogLine& line) {
    keep_function();
    note_mixture();
    const auto entry = read_ptxas_entry(rest);
    if (!entry) line.fail_cut();
    open_.push_back(kernels_.size());
    kernels_.push_back({.name = entry->name, .arch = entry->arch, .line = line.number});
  }

  void name_function(std::string_view name, const LogLine& line) {
    keep_function();
    const auto waits = [&](Place place) {
      return kernels_[place].name == name && !has_frame(place);
    };
    named_.push_back({std::string(name), line.number, find_open(waits, line)});
  }

  void add_frame(std::string_view rest, const LogLine& line) {
    const auto frame = read_ptxas_frame(rest);
    if (!frame) line.fail_cut();
    if (named_.empty()) line.fail_mixed("no function in front of it waits for its stack frame");
    if (named_.size() > 1) {
      line.fail_mixed(fmt::format("it may be of {} (line {}) or of {} (line {})", named_[0].name,
                                  named_[0].line, named_[1].name, named_[1].line));
    }
    const NamedFunction named = std::move(named_.front());
    named_.clear();
    if (!named.kernel) {
      function_ = DeviceFunction{.called = {named.name, frame->stack}, .line = named.line};
      return;
    }
    PtxasKernel& kernel = kernels_[*named.kernel];
    kernel.frame_bytes = frame->stack;
    kernel.spill_store_bytes = frame->spill_stores;
    kernel.spill_load_bytes = frame->spill_loads;
    with_frame_.push_back(*named.kernel);
  }

  void complete_kernel(std::string_view rest, const LogLine& line) {
    keep_function();
    const auto place = find_open([&](Place open) { return has_frame(open); }, line);
    if (!place) line.fail_mixed("no kernel in front of it waits for its registers");
    const auto resources = read_ptxas_resources(rest);
    if (!line.has_end || !resources) line.fail_cut();
    PtxasKernel& kernel = kernels_[*place];
    kernel.registers = resources->registers;
    kernel.barriers = resources->barriers;
    kernel.shared_static_bytes = resources->shared_static_bytes;
    kernel.cumulative_stack_bytes = resources->cumulative_stack_bytes;
    std::erase(open_, *place);
    std::erase(with_frame_, *place);
    last_ = place;
  }

  bool has_frame(Place place) const { return std::ranges::count(with_frame_, place) > 0; }

  /// The only open kernel that `fits`, or the first of several with one name and architecture, of
  /// which the worst counts; nothing where none does.
  template <typename Fits>
  std::optional<Place> find_open(Fits fits, const LogLine& line) const {
    std::optional<Place> found;
    for (const Place place : open_) {
      if (!fits(place)) continue;
      if (!found) {
        found = place;
        continue;
      }
      const PtxasKernel &first = kernels_[*found], &other = kernels_[place];
      if (first.name == other.name && first.arch == other.arch) continue;
      line.fail_mixed(fmt::format("it may be of {} for {} (line {}) or of {} for {} (line {})",
                                  first.name, first.arch, first.line, other.name, other.arch,
                                  other.line));
    }
    return found;
  }

  /// The device function read last belongs to the kernel in front of it, as no compile time of its
  /// own followed.
  void keep_function() {
    if (!function_) return;
    const DeviceFunction function = *std::exchange(function_, std::nullopt);
    if (last_) kernels_[*last_].called.push_back(function.called);
    if (function.called.frame_bytes > 0 && !first_function_) first_function_ = function;
    note_mixture();
  }

  /// A report that begins where another has not ended is one of several compilers.
  void note_mixture() { is_mixed_ = is_mixed_ || !open_.empty(); }

  [[noreturn]] void fail_without_frame(std::string_view path) const {
    const NamedFunction& function = named_.front();
    LogLine{path, function.line, {}}.fail(fmt::format(
        "\"Function properties for {}\" has no \"... bytes stack frame\" behind it. The text is "
        "cut off: keep all that the build writes",
        function.name));
  }

  [[noreturn]] void fail_incomplete(std::string_view path) const {
    const PtxasKernel& kernel = kernels_[open_.front()];
    LogLine{path, kernel.line, {}}.fail(fmt::format(
        "kernel '{}' for {} has no {} line. The text is cut off: keep all that the build writes",
        kernel.name, kernel.arch,
        has_frame(open_.front()) ? "\"Used ... registers\"" : "\"... bytes stack frame\""));
  }

  [[noreturn]] static void fail_empty(std::string_view path) {
    constexpr std::string_view kOfSources[] = {".cu", ".cuh", ".cpp", ".cc", ".c", ".hpp", ".h"};
    if (std::ranges::any_of(kOfSources,
                            [&](std::string_view end) { return path.ends_with(end); })) {
      throw PtxasError(std::string(path) +
                       ": this is source code. Compile it, and name what nvcc has made (a program, "
                       "a library, a cubin) or the log of a build with -Xptxas -v");
    }
    throw PtxasError(std::string(path) +
                     ": no line of ptxas -v. A build that is up to date compiles nothing: build "
                     "again from the start, with -Xptxas -v among nvcc's options (export "
                     "NVCC_APPEND_FLAGS='-Xptxas -v'), and keep what it writes to stderr, too");
  }

  std::vector<PtxasKernel> kernels_;
  std::vector<Place> open_;                       // kernels that lack a line, in their order
  std::vector<Place> with_frame_;                 // of these
  std::vector<NamedFunction> named_;              // functions whose frame has not come
  std::optional<DeviceFunction> function_;        // read last
  std::optional<DeviceFunction> first_function_;  // with stack, that some kernel calls
  std::optional<Place> last_;                     // the kernel that was complete last
  std::vector<Place> module_ends_;                // the last kernels of modules
  bool has_module_ = false;
  bool is_mixed_ = false;
};

}  // namespace

std::vector<PtxasKernel> parse_ptxas(std::string_view text, std::string_view path) {
  KernelAssembler assembler;
  for (int number = 1; !text.empty(); ++number) {
    const bool has_end = text.find('\n') != text.npos;
    assembler.add({path, number, without_terminal_codes(take_until(text, '\n')), has_end});
  }
  return assembler.finish(path);
}

}  // namespace warpgauge::metrics
