// Whether a cubin was made of the PTX that is emulated.
#pragma once

#include <string_view>

namespace warpgauge::emulator::counting {

/// The first line, from 1, in which the PTX that a cubin keeps is other code than `emulated`; 0 if
/// there is none. The cubin's text lacks indentation, and what says nothing of code: comments,
/// .loc, .file, the strings of .debug_str and pragmas are empty lines there.
int first_difference(std::string_view in_cubin, std::string_view emulated);

}  // namespace warpgauge::emulator::counting
