// Findings: values that people have to look at, grouped by their cause, the worst first.
#pragma once

#include <string>
#include <vector>

#include "harness/outcome/requirements.h"
#include "metrics/facts/fact.h"

namespace warpgauge::outcome {

/// A value of a whole case with the run that it belongs to.
struct JudgedValue {
  const metrics::Fact* fact;
  const metrics::Run* run;
};

/// A source line that has a part of a value.
struct BlamedLine {
  std::string file;
  int line = 0;
  std::string text;  ///< the text of the line; empty where the file is not there
  double value = 0;
  double share = 0;  ///< its share of the whole value, 0 to 1; 0 where parts do not add up to it
  std::vector<metrics::CallSite> inlined = {};  ///< as facts have it
};

/// A value that people have to look at.
struct FoundValue {
  JudgedValue judged;
  std::vector<BlamedLine> blame;  ///< up to three lines, the worst first; both of a finding of two
};

/// Values with one cause: the same verdict on the same metric of a variant, blamed on the same
/// line, over architectures and sizes; of compiled code those of a kernel, over lines, template
/// arguments and files, and what it spills and loads again.
struct Finding {
  std::string group;               ///< names the cause: 16 hexadecimal digits
  bool wrong = false;              ///< makes the run red
  std::vector<FoundValue> values;  ///< the worst first; it is the one that is shown

  const JudgedValue& shown() const { return values.front().judged; }
  const std::vector<BlamedLine>& blame() const { return values.front().blame; }
  /// The values but the worst: the same case on other architectures first.
  std::vector<JudgedValue> others() const;
};

/// The order of verdicts in every output, the worst first.
int rank(metrics::Verdict verdict);

/// True where `a` is worse than `b`: it makes the run red and the other does not, or by its
/// verdict, or it is farther beyond its limit.
bool is_worse(const metrics::Fact& a, const metrics::Fact& b, const Requirements& requirements);

/// True for values that become findings: errors, failures, moved values, values that would fail if
/// they were sure enough and, where they are wrong, better ones.
bool is_found(const metrics::Fact& fact, const Requirements& requirements);

/// The findings among the values of whole cases; `lines` are the facts of source lines.
std::vector<Finding> findings_of(const std::vector<JudgedValue>& values,
                                 const std::vector<JudgedValue>& lines,
                                 const Requirements& requirements);

/// The same of all facts of one run.
std::vector<Finding> findings_of(const std::vector<metrics::Fact>& facts, const metrics::Run& run,
                                 const Requirements& requirements);

}  // namespace warpgauge::outcome
