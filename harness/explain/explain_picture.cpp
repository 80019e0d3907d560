// Runs a case on the emulator, and draws the access that was asked for or the worst.
#include "harness/explain/explain_picture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/cases/built_architectures.h"
#include "harness/cases/gpu_only.h"
#include "harness/cases/registry.h"
#include "harness/explain/access_picture.h"
#include "harness/explain/access_picture_svg.h"
#include "harness/explain/access_picture_text.h"
#include "harness/files/colour.h"
#include "harness/files/source_root.h"
#include "harness/files/write_file.h"
#include "harness/measuring/case_runner.h"
#include "harness/outcome/exit_code.h"
#include "harness/runtime.h"
#include "metrics/counting/line_access.h"

namespace warpgauge::explain {
namespace {

namespace fs = std::filesystem;
using metrics::LineAccess;

/// A source line as --line names it.
struct WantedLine {
  std::string file;  ///< empty: any
  int number = 0;

  bool fits(const LineAccess& access) const {
    const bool same_file = file.empty() || access.file == file || access.file.ends_with('/' + file);
    return access.line == number && same_file;
  }
};

WantedLine wanted_line(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  WantedLine wanted;
  if (colon != std::string::npos) wanted.file = text.substr(0, colon);
  const char* const begin = text.data() + (colon == std::string::npos ? 0 : colon + 1);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, wanted.number);
  if (error != std::errc() || rest != end || wanted.number <= 0) {
    throw std::invalid_argument(
        fmt::format("--line '{}': say LINE or FILE:LINE, as 67 or family.cu:67", text));
  }
  return wanted;
}

/// Runs the case. Its result must be right, or its addresses mean nothing.
std::vector<LineAccess> accesses_of(const Case& explained) {
  if (!explained.counted)
    throw std::invalid_argument(explained.id.str() + ": no kernel of this program");
  for (const metrics::Fact& fact : CaseRunner(true).run(explained, metrics::Budgets())) {
    if (fact.verdict == metrics::Verdict::error) throw std::runtime_error(fact.reason);
  }
  std::vector<LineAccess> accesses = take_accesses();
  for (LineAccess& access : accesses) access.file = files::relative_to_root(access.file);
  return accesses;
}

/// The access to draw: the worst to shared memory that takes more than its ideal, then to global
/// memory, then any.
const LineAccess& worst_of(const std::vector<const LineAccess*>& accesses) {
  const auto rank = [](const metrics::WarpAccess& access) {
    return std::pair(access.taken <= access.ideal, !access.is_shared());
  };
  return **std::ranges::min_element(accesses, [&](const LineAccess* a, const LineAccess* b) {
    if (rank(a->access) != rank(b->access)) return rank(a->access) < rank(b->access);
    return metrics::shows_more(a->access, b->access);
  });
}

const LineAccess& chosen(const std::vector<LineAccess>& accesses, const PictureOptions& options) {
  std::vector<const LineAccess*> candidates;
  std::set<std::pair<std::string, int>> lines;
  const WantedLine wanted = options.line.empty() ? WantedLine() : wanted_line(options.line);
  for (const LineAccess& access : accesses) {
    lines.emplace(access.file, access.line);
    if (options.line.empty() || wanted.fits(access)) candidates.push_back(&access);
  }
  if (!candidates.empty()) return worst_of(candidates);
  if (lines.empty()) {
    throw std::invalid_argument(options.id + " touches neither shared nor global memory");
  }
  std::string known;
  for (const auto& [file, line] : lines) {
    known += fmt::format("{}{}:{}", known.empty() ? "" : ", ", file, line);
  }
  throw std::invalid_argument(
      fmt::format("--line '{}': no access to shared or global memory there; there are some at {}",
                  options.line, known));
}

}  // namespace

int draw_case(const PictureOptions& options) {
  const Case& explained = Registry::instance().at(options.id);
  if (!options.line.empty()) wanted_line(options.line);  // before anything is run
  if (!options.arch.empty()) chosen_archs({options.arch});
  const std::string arch = options.arch.empty() ? default_emulated_arch() : options.arch;
  if (const std::string why = why_not_run(explained, arch); !why.empty())
    throw std::runtime_error(why);
  emulate_arch(arch);
  const std::vector<LineAccess> accesses = accesses_of(explained);
  const LineAccess& access = chosen(accesses, options);
  const AccessPicture picture =
      picture_of(access, options.id, arch, files::source_text(access.file, access.line));
  if (!options.svg.empty()) files::write_file(options.svg, picture_svg(picture));
  if (options.text) {
    const bool colour = files::may_be_coloured(STDOUT_FILENO);
    fmt::print("{}", picture_text(picture, colour));
  } else {
    fmt::print("{}\n", picture.caption);
  }
  if (!options.svg.empty()) fmt::print("picture: {}\n", options.svg.string());
  return outcome::kWithinBudget;
}

}  // namespace warpgauge::explain
