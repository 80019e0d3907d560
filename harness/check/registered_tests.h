// Every case as a GoogleTest test. `family.variant.type@size` runs the case and judges its values;
// `sm_NN/family.variant.type@size` judges the compile-time values for that architecture, and needs
// no GPU. `fuzz/family.variant.type@size` runs the case at other sizes and with other seeds.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "harness/fuzz/fuzz.h"
#include "harness/outcome/exit_code.h"

namespace warpgauge::check {

struct Options {
  std::string facts;    ///< file to append facts to; empty: none
  std::string results;  ///< gets results.json; empty: none
  bool use_cupti = true;
  bool require_cupti = false;
  bool large = false;  ///< large cases, too
  fuzz::Asked fuzz;    ///< tests of cases at other sizes and with other seeds
  std::string arch;    ///< the emulator runs the cases as this; empty: its default
  std::chrono::seconds time_limit{600};  ///< for each case
};

/// Registers the tests with GoogleTest; it must outlive their run.
class Tests {
 public:
  /// `program` is how failures name it.
  Tests(const Options& options, std::string program);
  ~Tests();

  /// Ends the run in the file of facts.
  void end(outcome::ExitCode least);

 private:
  std::unique_ptr<class Session> session_;
};

}  // namespace warpgauge::check
