// An outcome for people: on a terminal, and as Markdown.
#pragma once

#include <string>

#include "harness/outcome/outcome.h"

namespace warpgauge::outcome {

/// Table by family, findings, what is missing, headline. At most 100 columns wide for names of
/// usual length. `colour` puts ANSI colours in.
std::string terminal_text(const Outcome& outcome, bool colour);

/// The same as Markdown. Names are escaped.
std::string markdown_text(const Outcome& outcome);

}  // namespace warpgauge::outcome
