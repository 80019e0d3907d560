// Draws one access of a case: lanes against banks, or against sectors.
#pragma once

#include <filesystem>
#include <string>

namespace warpgauge::explain {

struct PictureOptions {
  std::string id;
  std::string arch;           ///< the emulator runs it as this; empty: its default
  std::string line;           ///< "67" or "kernels/transpose/family.cu:67"; empty: the worst
  bool text = false;          ///< to stdout
  std::filesystem::path svg;  ///< to this file; empty: none
};

/// Runs the case on the emulator and draws its worst access to shared memory, or to global memory
/// where the line (without `line`: the case) has none to shared memory. Returns the exit code.
/// Throws std::invalid_argument for an unknown id, architecture or line, std::runtime_error for a
/// case that fails and a file that cannot be written, std::logic_error on a GPU.
int draw_case(const PictureOptions& options);

}  // namespace warpgauge::explain
