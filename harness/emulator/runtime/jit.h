// Compiles PTX that comes without machine code, as the driver does, so that its counts are those of
// the machine code. The toolkit's ptxas does it, where the program that started this one names it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "harness/emulator/runtime/code_selection.h"

namespace warpgauge::emulator::runtime {

/// What a program asks of the compiler. Other options change nothing that counts.
struct JitOptions {
  std::optional<unsigned> most_registers, optimisation;

  /// Where the program reads what went wrong.
  struct Log {
    char* text = nullptr;
    std::size_t bytes = 0;  ///< it can have, with a zero at the end
    void** used = nullptr;  ///< gets how many it has
    void write(std::string_view what) const;
  };
  Log info, errors;

  /// The same numbers stand for options of the driver. Throws Failure with cudaErrorInvalidValue.
  static JitOptions read(const cudaJitOption* options, void** values, unsigned count);
};

/// Gives the code its cubin, or the reason why there is none. `arch` is the emulated architecture.
/// Throws Failure with cudaErrorInvalidPtx, and the compiler's message, for PTX with an error.
void compile(SelectedCode& code, const std::string& arch, const JitOptions& options);

/// Where the cubin was compiled without -lineinfo, compiles its PTX again, with it. The cubin gives
/// way to what comes out if that is the same machine code, to the bit.
void add_line_table(SelectedCode& code, const std::string& arch);

}  // namespace warpgauge::emulator::runtime
