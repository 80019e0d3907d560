// The shared libraries that this process has loaded.
#pragma once

#include <set>
#include <string>

namespace warpgauge::process {

/// "libm.so.6 BUILD-ID" of each, with a hash of its content where it has no id. Throws
/// std::system_error where that cannot be read.
std::set<std::string> loaded_libraries();

}  // namespace warpgauge::process
