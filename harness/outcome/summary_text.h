// The summary for people: on a terminal, and as Markdown.
#pragma once

#include <functional>
#include <string>

#include "harness/outcome/summary.h"
#include "metrics/fact.h"

namespace warpgauge {

/// A fact that is over its budget (or in error, or would be over it if it were sure enough to be
/// judged), told in full: metric, value, budget and reason, line of source, what it means, what
/// cures it, and `repeat`, the command that runs just this.
/// `with_kernel`: with the kernel's name, too, which ids of unregistered cases have but a part of.
std::string failure_text(const metrics::Fact& fact, const std::string& repeat,
                         bool with_kernel = false);

/// How a summary tells of cases.
struct Told {
  /// The command that gives this very verdict again; empty: the gate's.
  std::function<std::string(const metrics::Fact&)> repeat;
  bool kernels = false;  ///< by the names of their kernels, too
};

/// Table by family, failures, what is missing, verdict. At most 100 columns wide for names of usual
/// length. `colour` puts ANSI colours in.
std::string terminal_text(const Summary& summary, const Requirements& requirements, bool colour,
                          const Told& told = {});

/// The same as Markdown. Names are escaped.
std::string markdown_text(const Summary& summary, const Requirements& requirements,
                          const metrics::Run& run);

}  // namespace warpgauge
