// Finds the kernels of compiled files again where they or their files have other names: in another
// version of a library, in another build.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/diff/compared_facts.h"
#include "metrics/base/shared_string.h"
#include "metrics/facts/fact.h"

namespace warpgauge::diff {

/// A kernel's names in both runs, mangled.
struct KernelNames {
  metrics::SharedString a, b;
};
/// The names of kernels by id and architecture of their case.
using KernelsOfCases =
    std::map<std::pair<metrics::SharedString, metrics::SharedString>, KernelNames>;

/// The inspected cases that two runs have in common.
class SameKernels {
 public:
  /// `a` and `b` are the cases of both, as facts. Kernels of one name are the same, then those
  /// whose names differ in a hash, in parameters or in template arguments. Where there are several,
  /// the one with most words in common is the same; of equals none is.
  SameKernels(const std::vector<metrics::Fact>& a, const std::vector<metrics::Fact>& b);

  /// The names of the cases that both have, by those in `a`.
  const KernelsOfCases& names() const { return names_; }
  /// The case in `a` that is the same as this one in `b`; this one itself where none is.
  CaseKey case_in_a(const CaseKey& in_b) const;
  /// Gives facts of `b` the ids and kernels of the same cases in `a`.
  void rename(std::vector<metrics::StoredRun>& runs) const;

 private:
  struct Renamed {
    metrics::CaseId id;
    std::string kernel;
  };

  KernelsOfCases names_;
  std::map<CaseKey, Renamed> renamed_;  ///< by the case in `b`
};

}  // namespace warpgauge::diff
