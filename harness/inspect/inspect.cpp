// Reads compiled files and logs of builds, and judges their kernels.
#include "harness/inspect/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/files/mapped_file.h"
#include "harness/files/printable.h"
#include "harness/files/source_root.h"
#include "harness/files/temporary_path.h"
#include "harness/inspect/code_files.h"
#include "harness/inspect/compiled_kernels.h"
#include "harness/inspect/inspect_text.h"
#include "harness/inspect/readable.h"
#include "harness/outcome/out_folder.h"
#include "harness/outcome/recorded_run.h"
#include "harness/process/progress.h"
#include "harness/programs/program_sources.h"
#include "harness/programs/program_text.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/base/glob.h"
#include "metrics/machine_code/byte_text.h"
#include "metrics/machine_code/code_file.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/ptxas.h"
#include "metrics/machine_code/sass_code.h"
#include "metrics/machine_code/zip.h"

namespace warpgauge::inspect {
namespace {

using programs::CountedKernel;
using programs::ProgramCase;

constexpr programs::Counter kCounter{.command = "inspect",
                                     .kind = metrics::CaseKind::inspected,
                                     .source = "",
                                     .compile = "cubin",
                                     .size = "code"};
/// Names the facts of a build's log.
constexpr programs::Counter kLogCounter{.command = "inspect",
                                        .kind = metrics::CaseKind::inspected,
                                        .source = "",
                                        .compile = "ptxas",
                                        .size = "code"};

/// The reason why most files of a folder or an archive are skipped.
constexpr const char* kNoCode = "neither by name nor by first bytes code for GPUs";
constexpr const char* kNoMachineCode = "no machine code for GPUs";
constexpr const char* kPtx = "PTX and no machine code: ptxas compiles PTX that is named itself";

bool is_text(std::span<const std::byte> file) {
  return !file.empty() && std::ranges::find(file, std::byte{0}) == file.end();
}

std::size_t number_of_kernels(const metrics::Cubin& cubin) {
  std::size_t kernels = 0;
  for (const auto& [number, function] : cubin.functions()) kernels += function.is_entry ? 1 : 0;
  return kernels;
}

/// Reads files one after the other, and then visits their kernels.
class Inspection {
 public:
  using Visit =
      std::function<void(const programs::Counter&, const NamedFile&, const CountedKernel&)>;

  /// `project` is the root of the current project.
  Inspection(const InspectOptions& options, std::string project)
      : options_(options), sources_(std::move(project)) {}

  void read(const NamedFile& file) try {
    if (!file.problem.empty()) return leave_out(file, file.problem);
    const files::MappedFile mapped(file.path);
    names_.insert(file.name);
    budget_ = mapped.bytes().size() * kMostUnpacked;
    read(file, mapped.bytes(), [&] { mapped.forget(); }, 0);
  } catch (const std::system_error& error) {
    fault(file, error.code().message());
  }

  /// The folder that the names of sources are relative to.
  std::string source_root() const { return sources_.path(); }

  /// Visits all kernels that were read, once.
  void visit_kernels(const Visit& visit) {
    const std::string folder = source_root();
    for (ReadKernel& read : std::exchange(kernels_, {})) {
      const auto kernel = std::move(read.kernel);
      programs::name_from(folder, *kernel);
      visit(*read.counter, *read.file, *kernel);
    }
  }

  std::size_t kernels() const { return kernels_.size(); }  ///< that were not visited yet
  std::vector<metrics::Fact> faults;
  std::vector<std::string> lost;  ///< a sentence for each file of which something is not measured
  SkippedFiles skipped;
  OlderCode older;

  /// A sentence for each reason for which something is not judged.
  std::vector<std::string> left_out() const {
    std::vector<std::string> sentences = skipped.sentences();
    if (const std::string text = older.text(metrics::first_known_arch()); !text.empty()) {
      sentences.push_back(text);
    }
    return sentences;
  }

  /// "sm_75, sm_90": that there is code for.
  std::string archs() const { return fmt::format("{}", fmt::join(archs_, ", ")); }

 private:
  using Bytes = std::span<const std::byte>;
  static constexpr std::size_t kMostUnpacked = 1032;  ///< bytes that one byte of a zip becomes
  static constexpr int kMostNested = 8;               ///< zips in zips

  /// Reads a file, or a member of a zip: `forget` gives back its memory, as far as it is read.
  void read(const NamedFile& file, Bytes bytes, const std::function<void()>& forget, int zips) try {
    if (is_ptx(file.path)) {
      read_ptx(file, bytes);
    } else if (metrics::is_zip(bytes)) {
      read_zip(file, bytes, zips);
    } else if (metrics::may_have_code(bytes)) {
      read_code(file, bytes, forget);
    } else if (const auto problem = metrics::why_no_code_file(bytes);
               problem && metrics::is_named_as_code(file.path.string())) {
      fault(file, *problem);
    } else if (!file.in_folder && is_text(bytes)) {
      read_log(file, bytes);
    } else if (file.in_folder) {
      skipped.add(kNoCode, file.shown);
    } else {
      fault(file, why_no_code({}));
    }
  } catch (const NotReadable& error) {
    fault(file, error.what());
  } catch (const NoReader& error) {
    lose(file, error.what());
  } catch (const metrics::ZipError& error) {
    fault(file, error.what());
  }

  /// What is found in a folder, and cannot be read.
  void leave_out(const NamedFile& file, const std::string& problem) {
    if (metrics::is_named_as_code(file.path.string())) return fault(file, problem);
    skipped.add(problem, file.shown);
  }

  void read_zip(const NamedFile& zip, Bytes bytes, int zips) {
    if (zips == kMostNested) {
      return fault(zip, fmt::format("zips in zips are looked into {} deep; unpack it, and name "
                                    "the folder",
                                    kMostNested));
    }
    line_.show(fmt::format("{}: is unpacked", zip.shown));
    const std::size_t before = seen();
    const std::vector<metrics::ZipMember> members = metrics::read_zip(bytes);
    if (members.empty() && zip.in_folder) return skipped.add(kNoMachineCode, zip.shown);
    for (const metrics::ZipMember& member : members) {
      NamedFile file{.path = zip.path.string() + '/' + member.name,
                     .name = in_one_word(member.name),
                     .shown = fmt::format("{}, {}", zip.shown, member.name),
                     .in_folder = true,
                     .problem = ""};
      if (!names_.insert(file.name).second) file.name = zip.name + '_' + file.name;
      try {
        read_member(file, member, zips + 1);
      } catch (const metrics::ZipError& error) {
        fault(zip, error.what());
      }
    }
    if (seen() == before && !zip.in_folder) fault(zip, why_no_code({true}));
  }

  /// Keeps in memory only what can have code; all is unpacked, and compared with its checksum.
  void read_member(const NamedFile& file, const metrics::ZipMember& member, int zips) {
    std::vector<std::byte> content;
    bool is_kept = metrics::is_named_as_code(member.name);
    bool is_first = true;
    member.unpack([&](Bytes piece) {
      if (budget_ < piece.size()) {
        throw metrics::ZipError(
            fmt::format("{}: zips in it unpack to more than {} times its size; unpack it, and "
                        "name the folder",
                        file.shown, kMostUnpacked));
      }
      budget_ -= piece.size();
      if (std::exchange(is_first, false)) {
        is_kept = is_kept || metrics::is_zip(piece) || metrics::may_have_code(piece);
      }
      if (is_kept) content.insert(content.end(), piece.begin(), piece.end());
    });
    read(file, content, [] {}, zips);
  }

  void read_ptx(const NamedFile& file, Bytes ptx) {
    const std::set<std::string> archs = archs_of_ptx(target_of(ptx));
    if (file.in_folder) {
      return skipped.add(kPtx, file.shown);
    }
    const auto folder =
        files::TemporaryPath::folder_in(std::filesystem::temp_directory_path(), "warpgauge-ptx-");
    for (const std::string& arch : archs) {
      const std::filesystem::path cubin = folder.path() / (arch + ".cubin");
      line_.show(fmt::format("{}: is compiled for {}", file.shown, arch));
      compile_ptx(file.path, arch, options_.time_limit, cubin);
      const files::MappedFile compiled(cubin);
      read_code(file, compiled.bytes(), [] {});
    }
  }

  /// The architectures to compile PTX for: those that are asked for by name, and its own where a
  /// glob fits that, or none is asked for.
  std::set<std::string> archs_of_ptx(const std::string& own) {
    std::set<std::string> archs;
    for (const std::string& asked : options_.archs) {
      if (metrics::ArchName::parse(asked)) archs.insert(asked);
    }
    if (is_wanted(own)) archs.insert(own);
    return archs;
  }

  void read_code(const NamedFile& file, Bytes bytes, const std::function<void()>& forget) {
    Kernels kernels;
    std::size_t read_bytes = 0, before_known = 0;
    const auto visit = [&](const metrics::FoundCubin& found) {
      if (const metrics::Cubin cubin(found.image); metrics::is_before_known(cubin)) {
        older.add(found.arch, number_of_kernels(cubin));
        ++before_known;
      } else {
        add_kernels(kernels, found);
      }
      line_.show(fmt::format("{}: {} kernels", file.shown, kernels.size()));
      constexpr std::size_t kKept = std::size_t{64} << 20;
      read_bytes += found.image.size();
      if (read_bytes < kKept) return;
      read_bytes = 0;
      forget();
    };
    const metrics::CodeFile code =
        metrics::read_code_file(bytes, [&](auto arch) { return is_wanted(arch); }, visit);
    cubins_ += code.cubins;
    for (const std::string& problem : code.damaged) fault(file, problem);
    for (const std::string& member : code.skipped) {
      skipped.add(kNoCode, fmt::format("{}, {}", file.shown, member));
    }
    if (!code.to_link.empty()) {
      lose(file, fmt::format("{}: it is intermediate code{}, which the device linker compiles: "
                             "link it (nvcc -dlto), and inspect the result",
                             code.to_link.front(), more_than_one(code.to_link)));
    }
    if (before_known > 0 && before_known == code.cubins) {
      lose(file, fmt::format("all its code is for architectures before {}, whose machine code is "
                             "not known here",
                             metrics::first_known_arch()));
    }
    if (code.cubins == 0 && code.damaged.empty() && code.to_link.empty()) {
      if (!file.in_folder) return fault(file, why_no_code(code));
      return skipped.add(code.ptx > 0 ? kPtx : kNoMachineCode, file.shown);
    }
    keep_all(kCounter, file, std::move(kernels));
  }

  /// Reads what ptxas said in the log of a build.
  void read_log(const NamedFile& file, std::span<const std::byte> log) try {
    Kernels kernels;
    for (const metrics::PtxasKernel& said :
         metrics::parse_ptxas(metrics::text_of(log), file.shown)) {
      if (is_wanted(said.arch)) add_kernel(kernels, logged_kernel(said, options_.threads));
    }
    keep_all(kLogCounter, file, std::move(kernels));
  } catch (const metrics::PtxasError& error) {
    faults.push_back(
        programs::program_failure(kLogCounter, file.name, files::printable(error.what())));
  }

  /// By name and architecture, which are those of the kernel.
  using Kernels =
      std::map<std::pair<std::string_view, std::string_view>, std::unique_ptr<CountedKernel>>;

  void keep_all(const programs::Counter& counter, const NamedFile& file, Kernels kernels) {
    const auto of = std::make_shared<const NamedFile>(file);
    for (auto& [name, kernel] : kernels) {
      programs::add_sources(sources_, *kernel);
      kernels_.push_back({&counter, of, std::move(kernel)});
    }
  }

  struct ReadKernel {
    const programs::Counter* counter;
    std::shared_ptr<const NamedFile> file;
    std::unique_ptr<CountedKernel> kernel;
  };

  static std::string why_no_code(const metrics::CodeFile& code) {
    if (code.ptx > 0)
      return "it has PTX and no machine code; extract the PTX (cuobjdump -xptx all) and name that";
    if (code.is_known) return "it has no code for GPUs; name what nvcc has compiled";
    return "it is none of what inspect reads: a cubin, a fat binary, an object, a shared library, "
           "a program, an archive or a wheel of them, PTX (.ptx), or the log of a build";
  }

  static std::string more_than_one(const std::vector<std::string>& places) {
    return places.size() == 1 ? "" : fmt::format(", as {} more parts are", places.size() - 1);
  }

  void fault(const NamedFile& file, const std::string& problem) {
    faults.push_back(programs::program_failure(
        kCounter, file.name, files::printable(fmt::format("{}: {}", file.shown, problem))));
  }

  void lose(const NamedFile& file, const std::string& problem) {
    lost.push_back(files::printable(fmt::format("{}: {}", file.shown, problem)));
  }

  /// Files of which there are kernels, or more than none to say.
  std::size_t seen() const { return cubins_ + faults.size() + lost.size(); }

  bool is_wanted(std::string_view arch) {
    archs_.emplace(arch);
    const std::array<std::string, 1> name = {std::string(arch)};
    return options_.archs.empty() || std::ranges::any_of(options_.archs, [&](const auto& glob) {
             return metrics::fits(glob, name);
           });
  }

  void add_kernels(Kernels& kernels, const metrics::FoundCubin& found) const {
    for (CountedKernel& kernel : compiled_kernels(found, options_.threads)) {
      add_kernel(kernels, std::move(kernel));
    }
  }

  static void add_kernel(Kernels& kernels, CountedKernel kernel) {
    const auto place = kernels.find({kernel.name, kernel.arch});
    if (place != kernels.end()) return add_other_code(*place->second, kernel);
    auto added = std::make_unique<CountedKernel>(std::move(kernel));
    const Kernels::key_type key(added->name, added->arch);
    kernels.emplace(key, std::move(added));
  }

  const InspectOptions& options_;
  files::SourceFolder sources_;
  std::vector<ReadKernel> kernels_;
  process::TerminalLine line_;
  std::set<std::string, std::less<>> archs_;
  std::set<std::string> names_;  ///< of files, and of members of zips
  std::size_t cubins_ = 0;
  std::size_t budget_ = 0;  ///< bytes that zips in a file may still unpack to
};

metrics::RunRequest asked_of(const InspectOptions& options) {
  return {.require = {"cubin"}, .architectures = options.archs, .strict = options.strict};
}

/// Takes the spills from a log of ptxas if the machine code leaves them open.
void take_spills_from(const std::filesystem::path& log, CountedKernel& kernel) {
  const auto& doubts = kernel.compiled.doubts;
  if (!doubts.contains("spill.load_bytes") && !doubts.contains("spill.store_bytes")) return;
  const files::MappedFile text(log);
  for (const metrics::PtxasKernel& said :
       metrics::parse_ptxas(metrics::text_of(text.bytes()), log.string())) {
    if (said.name == kernel.name) take_spills(kernel, said);
  }
}

/// Why no kernel is left of `found` ones.
std::string why_nothing(const InspectOptions& options, std::size_t found,
                        const std::string& archs) {
  if (found > 0) {
    return fmt::format("--kernels '{}': matches none of {} kernels", options.kernels, found);
  }
  if (!archs.empty() && !options.archs.empty()) {
    return fmt::format("--arch {}: there is no such code, but for {}",
                       fmt::join(options.archs, ","), archs);
  }
  return archs.empty() ? "no file has machine code; name what nvcc has compiled"
                       : "the machine code has no kernels";
}

}  // namespace

outcome::ExitCode inspect(const InspectOptions& options) {
  const metrics::Budgets budgets = programs::budgets_of(options);
  const std::regex expression = programs::kernel_expression(options.kernels);
  std::vector<NamedFile> files = files_of(options.paths);
  const outcome::OutFolder out(options.out);
  std::erase_if(files, [&](const NamedFile& file) { return out.has(file.path); });
  metrics::Run run = start_run_of_other(std::filesystem::current_path().string(),
                                        std::string(kCounter.command), asked_of(options));
  Inspection inspection(options, run.source_root);
  for (const NamedFile& file : files) inspection.read(file);
  run.source_root = inspection.source_root();
  programs::KernelJudge judge(std::move(run), out, outcome::Kept::judged);
  programs::UnusedSections unused(options, budgets);
  ResourcesTable table;
  const std::size_t found = inspection.kernels();
  inspection.visit_kernels(
      [&](const programs::Counter& counter, const NamedFile& file, const CountedKernel& kernel) {
        ProgramCase program_case = programs::case_of(counter, file.name, kernel, budgets);
        unused.use(program_case);
        if (!programs::is_called(program_case.kernel, expression)) return;
        table.add(program_case);
        judge.add(std::move(program_case));
      });
  std::vector<std::string> lost = unused.text();
  std::ranges::move(inspection.lost, std::back_inserter(lost));
  if (judge.kernels() == 0 && inspection.faults.empty() && inspection.lost.empty()) {
    lost.push_back(why_nothing(options, found, inspection.archs()));
  }
  return judge.end(
      {.faults = std::move(inspection.faults),
       .lost = std::move(lost),
       .left_out = inspection.left_out(),
       .text = table.text(),
       .repeat = [&](const metrics::Fact& fact) { return repeat_inspect(options, fact); }},
      stdout);
}

bool may_be_inspected(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return true;
  if (!std::filesystem::is_regular_file(path)) return false;
  const files::MappedFile mapped(path);
  return metrics::is_named_as_code(path.string()) || metrics::is_zip(mapped.bytes()) ||
         metrics::may_have_code(mapped.bytes());
}

void record(const InspectOptions& options, const std::filesystem::path& facts,
            const Compilation& compilation, const PtxasLogs& logs) {
  metrics::Run run =
      start_run_of_compiled(std::string(kCounter.command), asked_of(options), compilation);
  Inspection inspection(options, run.source_root);
  for (const NamedFile& file : files_of(options.paths)) inspection.read(file);
  if (!inspection.faults.empty()) throw std::runtime_error(inspection.faults.front().reason);
  if (inspection.kernels() == 0) {
    throw std::runtime_error(inspection.lost.empty()
                                 ? fmt::format("{}: {}", options.paths.front().string(),
                                               why_nothing(options, 0, inspection.archs()))
                                 : inspection.lost.front());
  }
  run.source_root = inspection.source_root();
  outcome::RecordedRun recorded(std::move(run), facts, outcome::Kept::judged);
  inspection.visit_kernels(
      [&](const programs::Counter& counter, const NamedFile& file, CountedKernel kernel) {
        kernel.source_hash = compilation.source_hash;
        const auto log = logs.find(file.path);
        if (log != logs.end()) take_spills_from(log->second, kernel);
        recorded.add(programs::case_of(counter, file.name, kernel, {}).facts);
      });
  recorded.end({.requirements = {.judged = false},
                .lost = std::move(inspection.lost),
                .left_out = inspection.left_out()},
               "");
}

}  // namespace warpgauge::inspect
