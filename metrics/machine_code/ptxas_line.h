// Reads single lines of what `nvcc -Xptxas -v` prints. The forms of CUDA 11.8 to 13.0:
//
//   ptxas info    : 0 bytes gmem, 256 bytes cmem[3]
//   ptxas info    : Compiling entry function '_Z1kPf' for 'sm_75'
//   ptxas info    : Function properties for _Z1kPf
//       96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 30 registers, used 1 barriers, 160 bytes cumulative stack size, ...
//   ptxas info    : Compile time = 1.341 ms
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgauge::metrics {

struct PtxasLine {
  enum class Kind {
    other,         ///< of no interest, or not of ptxas
    cut_off,       ///< its end is missing, or another line begins in it
    module,        ///< N bytes gmem: the kernels of a module follow
    entry,         ///< a kernel is compiled
    function,      ///< the stack frame of a function follows
    frame,         ///< a stack frame and spills
    resources,     ///< registers and memory
    compile_time,  ///< of the kernel, or of a function that is compiled on its own
  } kind = Kind::other;
  std::string_view rest;  ///< what is to be read; of `function`: its mangled name
};

/// The kind of a line without its end and without codes of a terminal. Other text may stand in
/// front of what ptxas wrote.
PtxasLine classify_ptxas_line(std::string_view line);

struct PtxasEntry {
  std::string name, arch;  ///< mangled; "sm_75"
};
/// Reads the rest of an entry. Nothing if it is cut off.
std::optional<PtxasEntry> read_ptxas_entry(std::string_view rest);

/// Bytes per thread.
struct PtxasFrame {
  std::uint64_t stack = 0, spill_stores = 0, spill_loads = 0;
};
/// Reads the rest of a frame. Nothing if it is cut off.
std::optional<PtxasFrame> read_ptxas_frame(std::string_view rest);

/// A kind that ptxas leaves out is 0. Bytes of stack per thread, of shared memory per block.
struct PtxasResources {
  std::uint32_t registers = 0, barriers = 0;
  std::uint64_t cumulative_stack_bytes = 0, shared_static_bytes = 0;
};
/// Reads the rest of resources. Kinds that warpgauge does not read (constants, textures, additions
/// of a later ptxas) are passed over. Nothing if it is cut off.
std::optional<PtxasResources> read_ptxas_resources(std::string_view rest);

}  // namespace warpgauge::metrics
