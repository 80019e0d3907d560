// Looks for the PTX in compiled files, and decodes it as the emulator does.
#include "harness/inspect/refused_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/emulator/machine/refusals.h"
#include "harness/emulator/ptx/error.h"
#include "harness/emulator/ptx/module.h"
#include "harness/files/mapped_file.h"
#include "harness/files/printable.h"
#include "harness/inspect/code_files.h"
#include "harness/inspect/readable.h"
#include "metrics/architecture/arch_name.h"
#include "metrics/base/glob.h"
#include "metrics/machine_code/byte_text.h"
#include "metrics/machine_code/code_file.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"
#include "metrics/machine_code/zip.h"

namespace warpgauge::inspect {
namespace {

namespace machine = emulator::machine;

machine::Architecture architecture_of(std::string_view target) {
  const int number = metrics::ArchName::parse(target).value_or(metrics::ArchName{90, 0}).number;
  return {.major = number / 10, .minor = number % 10};
}

std::string first_line(std::string_view text) {
  return files::printable(text.substr(0, text.find('\n')));
}

class RefusedCode {
 public:
  explicit RefusedCode(const InspectOptions& options) : options_(options) {}

  void read(const NamedFile& file) try {
    if (!file.problem.empty()) return leave_out(file, file.problem);
    const files::MappedFile mapped(file.path);
    const std::span<const std::byte> bytes = mapped.bytes();
    if (is_ptx(file.path)) {
      const std::string target = target_of(bytes);
      if (is_wanted(target)) decode(metrics::text_of(bytes), file.shown);
    } else if (metrics::may_have_code(bytes)) {
      read_code(file, bytes);
    } else if (metrics::is_zip(bytes)) {
      leave_out(file, "a zip is not looked into for this; unpack it, and name the folder");
    } else {
      leave_out(file, "it is neither PTX (.ptx) nor a file with code for GPUs");
    }
  } catch (const std::system_error& error) {
    fault(file.shown, error.code().message());
  } catch (const NotReadable& error) {
    fault(file.shown, error.what());
  }

  outcome::ExitCode end() const {
    if (texts_ == 0 && refused_ == 0 && !is_faulty_) {
      fmt::print(stderr, "no file has PTX for {}; name what nvcc has compiled\n",
                 options_.archs.empty() ? "GPUs" : fmt::format("{}", options_.archs.front()));
      return outcome::kFault;
    }
    fmt::print("{} refused, in {} of {} texts of PTX\n", refused_, faulty_texts_, texts_);
    if (is_faulty_) return outcome::kFault;
    return refused_ == 0 ? outcome::kWithinBudget : outcome::kOverBudget;
  }

 private:
  bool is_wanted(std::string_view arch) const {
    const std::array<std::string, 1> name = {std::string(arch)};
    return options_.archs.empty() || std::ranges::any_of(options_.archs, [&](const auto& glob) {
             return metrics::fits(glob, name);
           });
  }

  void read_code(const NamedFile& file, std::span<const std::byte> bytes) {
    std::vector<metrics::FoundPtx> cubins;  // with their PTX, if they have it
    std::set<int> numbers;                  // of architectures with PTX in fat binaries
    const auto number_of = [](const std::string& arch) {
      return metrics::ArchName::parse(arch).value_or(metrics::ArchName{}).number;
    };
    const metrics::CodeFile code = metrics::read_code_file(
        bytes, [&](auto arch) { return is_wanted(arch); },
        [&](const metrics::FoundCubin& found) {
          cubins.push_back({found.arch, found.place, text_in(found)});
        },
        [&](const metrics::FoundPtx& found) {
          numbers.insert(number_of(found.arch));
          decode(found.text, in(file, found.place, found.arch));
        });
    for (const std::string& problem : code.damaged) fault(file.shown, problem);
    for (const metrics::FoundPtx& found : cubins) {
      if (numbers.contains(number_of(found.arch))) continue;  // that PTX is executed
      const std::string name = in(file, found.place, found.arch);
      if (!found.text.empty()) {
        decode(found.text, name);
      } else if (numbers.empty()) {
        refuse(fmt::format("{}: machine code without PTX; compile with -lineinfo, or keep the PTX",
                           name));
      }
    }
    const bool is_empty = code.cubins == 0 && code.ptx == 0 && code.damaged.empty();
    if (is_empty && !file.in_folder) fault(file.shown, "it has no code for GPUs");
  }

  static std::string text_in(const metrics::FoundCubin& found) {
    std::string text(
        metrics::text_of(metrics::Cubin(found.image).numbered_section(".nv_debug_ptx_txt")));
    std::ranges::replace(text, '\0', '\n');
    return text;
  }

  static std::string in(const NamedFile& file, const std::string& place, const std::string& arch) {
    return fmt::format("{}{}{} ({})", file.shown, place.empty() ? "" : ", ", place, arch);
  }

  /// `name` stands in front of lines.
  void decode(std::string_view text, const std::string& name) try {
    if (!decoded_.emplace(text).second) return;  // the same is in another file
    ++texts_;
    emulator::ptx::Module module = emulator::ptx::parse(text, name);
    const machine::Architecture architecture = architecture_of(module.target);
    const std::size_t before = refused_;
    for (const auto& [line, source, instruction, why] :
         machine::refusals(std::move(module), architecture)) {
      const std::string place =
          source.file.empty() ? "" : fmt::format(" ({}:{})", source.file, source.line);
      refuse(fmt::format("{}:{}: {}: {}{}", name, line, instruction,
                         why.empty() ? "not emulated" : why, place));
    }
    faulty_texts_ += refused_ == before ? 0 : 1;
  } catch (const emulator::ptx::PtxError& error) {
    fault("", first_line(error.what()));
  }

  void refuse(const std::string& line) {
    ++refused_;
    fmt::print("{}\n", files::printable(line));
  }

  /// Files of a folder are not all to have code.
  void leave_out(const NamedFile& file, const std::string& problem) {
    if (!file.in_folder || metrics::is_named_as_code(file.path.string())) {
      fault(file.shown, problem);
    }
  }

  void fault(const std::string& file, const std::string& problem) {
    is_faulty_ = true;
    fmt::print(stderr, "error: {}{}{}\n", files::printable(file), file.empty() ? "" : ": ",
               files::printable(problem));
  }

  const InspectOptions& options_;
  std::set<std::string, std::less<>> decoded_;
  std::size_t texts_ = 0, faulty_texts_ = 0, refused_ = 0;
  bool is_faulty_ = false;
};

}  // namespace

outcome::ExitCode list_refused(const InspectOptions& options) {
  RefusedCode code(options);
  for (const NamedFile& file : files_of(options.paths)) code.read(file);
  return code.end();
}

}  // namespace warpgauge::inspect
