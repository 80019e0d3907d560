// Makes what has no machine code as it is readable: compiles PTX.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>

namespace warpgauge::inspect {

/// A file of which nothing can be made. what() says why, and what to do.
class NotReadable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// What would read it is missing here.
class NoReader : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// By its name.
bool is_ptx(const std::filesystem::path& file);

/// "sm_90": the architecture that PTX is made for. Throws NotReadable if it names none.
std::string target_of(std::span<const std::byte> ptx);

/// Compiles PTX for `arch` with the toolkit's ptxas, whose messages go to stderr. Throws
/// NotReadable, also where it takes longer than the limit, and NoReader where there is no ptxas.
void compile_ptx(const std::filesystem::path& ptx, const std::string& arch,
                 std::chrono::seconds time_limit, const std::filesystem::path& cubin);

}  // namespace warpgauge::inspect
