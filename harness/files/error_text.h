// The text of an exception, for people.
#pragma once

#include <exception>
#include <string>

namespace warpgauge::files {

/// The message, and the type where that says too little: "std::invalid_argument: stoi",
/// "std::runtime_error without a message".
std::string error_text(const std::exception& error);

}  // namespace warpgauge::files
