// What the emulator refuses of compiled code, without running it.
#pragma once

#include "harness/inspect/inspect.h"

namespace warpgauge::inspect {

/// Prints a line for each instruction that is not emulated in the PTX of the files, and one at the
/// end that sums up: over budget if there is any. Of a cubin it is the PTX that -lineinfo keeps;
/// machine code alone is refused as a whole. A file that cannot be read, or has no code, is a
/// fault, said on stderr, and does not stop the others. Throws std::runtime_error for a path that
/// does not exist.
outcome::ExitCode list_refused(const InspectOptions& options);

}  // namespace warpgauge::inspect
