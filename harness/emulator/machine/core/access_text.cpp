// Texts of accesses, for messages.
#include "harness/emulator/machine/core/access_text.h"

#include <sstream>

namespace warpgauge::emulator::machine {
namespace {

const char* name_of(const Access& access, Window window) {
  if (access.space == AccessSpace::constant) return "constant";
  switch (window) {
    case Window::shared:
      return "shared";
    case Window::local:
      return "local";
    case Window::parameter:
      return "parameter";
    default:
      return "global";
  }
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

std::string title(const Access& access, Window window, std::uint64_t address) {
  std::string verb;
  switch (access.effect) {
    case AccessEffect::read:
      verb = "read";
      break;
    case AccessEffect::write:
      verb = "write";
      break;
    case AccessEffect::update:
      verb = "atomic access";
      break;
  }
  return std::string(name_of(access, window)) + " " + verb + " of " + bytes_text(access.width) +
         " at " + hexadecimal(address);
}

}  // namespace warpgauge::emulator::machine
