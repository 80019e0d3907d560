// Finds which kernels call functions that others call, too.
#include "harness/attach/shared_functions.h"

#include <algorithm>

#include "metrics/machine_code/call_graph.h"
#include "metrics/machine_code/cubin.h"

namespace warpgauge::attach {
namespace {

const std::set<std::string>& of(const std::map<std::string, std::set<std::string>>& called,
                                const std::string& kernel) {
  static const std::set<std::string> kNothing;
  const auto found = called.find(kernel);
  return found == called.end() ? kNothing : found->second;
}

}  // namespace

void SharedFunctions::loaded(std::span<const std::byte> image) try {
  auto calls = metrics::CallGraph(metrics::Cubin(image)).shared_functions();
  const std::scoped_lock lock(mutex_);
  for (auto& [kernel, functions] : calls) called_[kernel].merge(functions);
} catch (const metrics::CubinError&) {
  // A cubin that cannot be read has no functions that are known.
}

bool SharedFunctions::meets(const std::string& kernel, const std::set<std::string>& others) const {
  const std::scoped_lock lock(mutex_);
  const std::set<std::string>& functions = of(called_, kernel);
  if (functions.empty()) return false;
  return std::ranges::any_of(others, [&](const std::string& other) {
    return other != kernel && std::ranges::any_of(of(called_, other), [&](const auto& function) {
             return functions.contains(function);
           });
  });
}

std::string SharedFunctions::caller(const std::string& function,
                                    const std::set<std::string>& kernels) const {
  const std::scoped_lock lock(mutex_);
  std::string found;
  for (const std::string& kernel : kernels) {
    if (!of(called_, kernel).contains(function)) continue;
    if (!found.empty()) return "";
    found = kernel;
  }
  return found;
}

}  // namespace warpgauge::attach
