// Makes what has no machine code as it is readable: unpacks wheels, and compiles PTX.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace warpgauge::inspect {

/// A file of which nothing can be made. what() says why, and what to do.
class NotReadable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// By its name.
bool is_wheel(const std::filesystem::path& file);
bool is_ptx(const std::filesystem::path& file);

/// Unpacks a wheel into `folder`. Throws NotReadable.
void unpack_wheel(const std::filesystem::path& wheel, const std::filesystem::path& folder);

/// "sm_90": the architecture that a file of PTX is made for. Throws NotReadable if it names none.
std::string target_of(const std::filesystem::path& ptx);

/// Compiles PTX for `arch` with the toolkit's ptxas, whose messages go to stderr. Throws
/// NotReadable.
void compile_ptx(const std::filesystem::path& ptx, const std::string& arch,
                 const std::filesystem::path& cubin);

}  // namespace warpgauge::inspect
