// Says how a case failed, and where.
#include "harness/measuring/error_facts.h"

#include <fmt/format.h>

#include <utility>

#include "harness/build_info.h"
#include "harness/files/source_root.h"
#include "harness/measuring/blank_facts.h"
#include "warpgauge/cuda_error.h"

namespace warpgauge {

using metrics::Fact;

Fact error_fact(const Case& test_case, std::string reason, const std::string& arch) {
  Fact fact = with_value(blank_fact(test_case, arch), "result.correct", {});
  fact.source = "harness";
  fact.verdict = metrics::Verdict::error;
  fact.reason = std::move(reason);
  return fact;
}

Fact error_fact(const Case& test_case, const metrics::DeviceFault& fault, const std::string& arch) {
  std::string reason = files::with_relative_paths(kBuildInfo.source_root, fault.text);
  Fact fact = blamed_on(error_fact(test_case, std::move(reason), arch), fault.kernel, fault.source);
  fact.rule = fault.rule;
  fact.other = files::relative_to_root(fault.other);
  fact.cure = fault.cure;
  return fact;
}

Fact error_fact(const Case& test_case, const metrics::CudaError& error,
                const std::vector<metrics::DeviceFault>& faults, const std::string& arch) {
  if (faults.empty()) return error_fact(test_case, error.what(), arch);
  Fact fact = error_fact(test_case, faults.back(), arch);
  // The general remedy adds nothing to a located fault.
  fact.reason += fmt::format("; {}", error.failure());
  return fact;
}

}  // namespace warpgauge
