// Text from outside, as a terminal may have it.
#pragma once

#include <string>
#include <string_view>

namespace warpgauge {

/// One line that a terminal shows as it is: a text may hold whatever a kernel's code threw, and
/// must neither forge lines nor reach the terminal as control sequences (C0, DEL, and C1 in UTF-8).
std::string printable(std::string_view text);

}  // namespace warpgauge
