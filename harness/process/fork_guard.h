// Code of the user may make a copy of the process with fork(). A copy that came back from that code
// would do all that follows a second time.
#pragma once

#include <functional>
#include <string_view>

namespace warpgauge::process {

/// Calls `call`, which calls code of the user and writes nothing that lasts. `code` names that code
/// ("the case"). Throws std::runtime_error if a copy of this process that it made came back from
/// it, or still runs a second later; else what `call` throws. In the copy it does not return: the
/// copy ends.
void with_fork_guard(std::string_view code, const std::function<void()>& call);

/// Ends this process if it is such a copy; for places in `call` behind which a copy could hang.
/// Does nothing outside of `call`.
void end_if_copy();

}  // namespace warpgauge::process
