// Gives the counts of functions that were not inlined to the kernels that called them. CUPTI
// records them by the name of the function, which is no launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "metrics/cupti/sass_metrics.h"

namespace warpgauge::attach {

/// The image of the cubin with a CRC; empty where it is not known.
using CubinOf = std::function<std::span<const std::byte>(std::uint32_t)>;

struct Attributed {
  std::map<std::string, metrics::SassRecords> records;  ///< by kernel, or function that stays alone
  /// Why counts of a kernel are not all its own or not all there, as a sentence.
  std::map<std::string, std::string> doubts;
};

/// `kernels` are those that were counted. A function is of the kernel that the record names as its
/// owner, else of the one of them that calls it by the call graph of the cubin. One that several
/// call, and one that none calls, stays alone.
Attributed attribute(const metrics::SassRecords& records, const std::set<std::string>& kernels,
                     const CubinOf& cubin_of);

}  // namespace warpgauge::attach
