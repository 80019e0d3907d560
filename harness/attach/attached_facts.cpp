#include "harness/attach/attached_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "harness/case_facts.h"
#include "harness/counted_facts.h"
#include "harness/devices.h"
#include "harness/files/demangled.h"
#include "metrics/catalog.h"
#include "metrics/cubin.h"
#include "metrics/cupti.h"
#include "metrics/hash.h"
#include "metrics/sass_lines.h"

namespace warpgauge::attach {
namespace {

using metrics::Fact;

/// The cubins of a run, read on demand.
class Cubins {
 public:
  explicit Cubins(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::span<const std::byte> image(std::uint32_t crc) {
    const auto [place, is_new] = images_.try_emplace(crc);
    if (is_new) {
      std::ifstream file(folder_ / cubin_name(crc), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      const auto all = std::as_bytes(std::span(bytes));
      place->second.assign(all.begin(), all.end());
    }
    return place->second;
  }

 private:
  std::filesystem::path folder_;
  std::map<std::uint32_t, std::vector<std::byte>> images_;
};

/// All that is known of a kernel on one model of GPU.
struct Known {
  const AttachedDevice* device = nullptr;
  std::uint64_t launches = 0;
  std::vector<metrics::Launch> shapes;
  std::vector<KernelResources> resources;
  metrics::SassRecords records;
};

/// By name of the GPU and mangled name of the kernel.
using KnownKernels = std::map<std::pair<std::string, std::string>, Known>;

KnownKernels merged(const std::vector<AttachedProcess>& processes) {
  KnownKernels kernels;
  for (const AttachedProcess& process : processes) {
    const auto of = [&](int ordinal, const std::string& kernel) -> Known& {
      static const AttachedDevice kUnknown{.device = {.name = "unknown device"}};
      const auto found = process.devices.find(ordinal);
      const AttachedDevice& device = found == process.devices.end() ? kUnknown : found->second;
      Known& known = kernels[{device.device.name, kernel}];
      known.device = &device;
      return known;
    };
    for (const AttachedKernel& kernel : process.kernels) {
      Known& known = of(kernel.device, kernel.name);
      known.launches += kernel.launches;
      for (const metrics::Launch& shape : kernel.counted) {
        metrics::add(known.shapes, shape);
      }
      std::ranges::copy(kernel.resources, std::back_inserter(known.resources));
    }
    for (const auto& [ordinal, records] : process.records) {
      for (const auto& [instruction, values] : records) {
        of(ordinal, instruction.kernel).records[instruction] += values;
      }
    }
  }
  return kernels;
}

std::string family_of(const std::string& program) {
  return id_word(std::filesystem::path(program).filename().string());
}

metrics::CaseId id_of(const std::string& program, const std::string& kernel) {
  constexpr std::size_t kDigits = 8;
  const std::string hash = metrics::hash_text(std::as_bytes(std::span(kernel)));
  return {.family = family_of(program),
          .variant = id_word(files::plain_name(files::demangled(kernel))),
          .type = hash.substr(0, kDigits),
          .size = "run"};
}

/// The driver's resources of the kernel: the worst of its codes and shapes, if it has several.
std::vector<Fact> driver_facts(const Known& known, const Fact& blank) {
  std::vector<Fact> facts;
  if (known.resources.empty()) return facts;
  const auto add = [&](std::string_view metric, double value) {
    Fact fact = blank;
    fact.metric = metric;
    fact.value = value;
    fact.source = "ptxas";
    fact.confidence = "exact";
    facts.push_back(std::move(fact));
  };
  const auto most = [&](auto member) {
    const auto value = [&](const KernelResources& one) { return std::invoke(member, one); };
    return static_cast<double>(value(*std::ranges::max_element(known.resources, {}, value)));
  };
  add("registers", most(&KernelResources::registers));
  add("stack.bytes", most(&KernelResources::local_bytes));
  add("shared.static_bytes", most(&KernelResources::shared_static_bytes));
  if (known.device->threads_per_multiprocessor > 0) {
    const auto fewest =
        std::ranges::min_element(known.resources, {}, &KernelResources::resident_threads);
    add("occupancy.theoretical",
        static_cast<double>(fewest->resident_threads) / known.device->threads_per_multiprocessor);
  }
  return facts;
}

/// What `of` says of each code of the kernel, if that is the same; else nothing.
std::string of_all_codes(const Known& known, Cubins& cubins,
                         const std::function<std::string(const metrics::Cubin&)>& of) {
  std::set<std::uint32_t> codes;
  for (const auto& [instruction, values] : known.records) codes.insert(instruction.cubin_crc);
  std::set<std::string> answers;
  for (const std::uint32_t code : codes) {
    const auto image = cubins.image(code);
    if (image.empty()) return "";
    try {
      answers.insert(of(metrics::Cubin(image)));
    } catch (const metrics::CubinError&) {
      return "";
    }
  }
  return answers.size() == 1 ? *answers.begin() : "";
}

/// The full name of the architecture of the code that ran; where it is not known, the GPU's.
std::string arch_of_code(const Known& known, Cubins& cubins) {
  const std::string arch = of_all_codes(known, cubins, &metrics::Cubin::arch);
  return arch.empty() ? arch_of(known.device->device) : arch;
}

std::vector<Fact> facts_of(const Known& known, const std::string& kernel, Fact blank,
                           Cubins& cubins, metrics::SassLines& adder,
                           const metrics::Budgets& budgets) {
  const std::string hash = of_all_codes(
      known, cubins, [&](const metrics::Cubin& cubin) { return cubin.sass_hash(kernel); });
  metrics::CaseContext context{
      .kind = metrics::CaseKind::attached,
      .device = known.device->device.name,
      .kernels = {
          {.name = kernel, .sass_hash = hash, .source_hash = "", .launches = known.shapes}}};
  context.code_hash = code_hash(context.kernels);
  blank.kernel = kernel;
  std::vector<Fact> facts;
  std::string reason = "nothing was counted of this kernel";
  try {
    const std::vector<metrics::LineCounts> lines = adder.add_up(known.records);
    if (!lines.empty()) {
      const auto first = std::ranges::min_element(lines, {}, [](const metrics::LineCounts& one) {
        return std::tuple(one.file.empty(), one.file, one.line);
      });
      blank.file = context.file = first->file;
      blank.line = context.line = first->line;
      blank.context = std::make_shared<const metrics::CaseContext>(context);
      for (Fact& fact : counted_facts(lines, blank, "cupti")) {
        if (fact.scope == metrics::Scope::line && fact.file.empty()) continue;
        facts.push_back(std::move(fact));
      }
      reason = "the kernels made no such access";
    }
  } catch (const metrics::Unmeasured& error) {
    reason = error.what();
  }
  blank.context = std::make_shared<const metrics::CaseContext>(std::move(context));
  std::ranges::move(driver_facts(known, blank), std::back_inserter(facts));
  for (const metrics::Source source :
       {metrics::Source::sass, metrics::Source::run, metrics::Source::ptxas,
        metrics::Source::occupancy, metrics::Source::range, metrics::Source::timer}) {
    const bool counted = source == metrics::Source::sass;
    for (Fact& fact :
         missing_facts(facts, source, blank,
                       counted ? reason : "warpgauge attach does not measure it", budgets)) {
      const metrics::Limit* limit = budgets.find(blank.id, blank.arch, fact.metric);
      // Spills are seen by what they do, which is counted: the local memory they go to.
      const metrics::Limit* built_in = metrics::built_in_limit(fact.metric);
      if (!counted && built_in != nullptr && limit->origin == metrics::kBuiltInOrigin) continue;
      facts.push_back(std::move(fact));
    }
  }
  return facts;
}

/// Every warp executes the first instruction once.
std::uint64_t counted_warps(const metrics::SassRecords& records) {
  std::uint64_t warps = 0;
  for (const auto& [instruction, values] : records) {
    if (instruction.pc == 0) warps += values[metrics::SassMetric::instructions];
  }
  return warps;
}

}  // namespace

std::vector<std::string> AttachedCase::names() const {
  std::vector<std::string> names = files::names_of(kernel);
  names.push_back(id.variant);
  return names;
}

bool AttachedCase::is_called(const std::regex& expression) const {
  return std::regex_search(kernel, expression) ||
         std::regex_search(files::without_void(kernel), expression);
}

Fact program_failure(const std::string& program, std::string how) {
  Case one;
  one.kind = metrics::CaseKind::attached;
  one.id = {.family = family_of(program), .variant = "program", .type = "end", .size = "run"};
  return error_fact(one, std::move(how));
}

std::vector<AttachedCase> attached_cases(const std::string& program,
                                         const std::vector<AttachedProcess>& processes,
                                         const std::filesystem::path& folder,
                                         const metrics::Budgets& budgets) {
  Cubins cubins(folder);
  metrics::SassLines adder([&](std::uint32_t crc) { return cubins.image(crc); });
  std::vector<AttachedCase> cases;
  for (const auto& [key, known] : merged(processes)) {
    const std::string& kernel = key.second;
    AttachedCase one{.id = id_of(program, kernel),
                     .kernel = files::demangled(kernel),
                     .device = known.device->device,
                     .budgets = {},
                     .launches = known.launches,
                     .counted = 0,
                     .warps = 0,
                     .counted_warps = 0,
                     .facts = {}};
    for (const metrics::Launch& shape : known.shapes) {
      one.counted += shape.count;
      one.warps += shape.warps();
    }
    one.counted_warps = counted_warps(known.records);
    const Fact blank{.id = one.id, .arch = arch_of_code(known, cubins), .file = "", .line = 0};
    one.budgets = budgets.of_kernel(one.id, one.names());
    one.facts = facts_of(known, kernel, blank, cubins, adder, one.budgets);
    cases.push_back(std::move(one));
  }
  std::ranges::stable_sort(cases, std::ranges::greater(), &AttachedCase::launches);
  return cases;
}

}  // namespace warpgauge::attach
