// Finds the instructions of a kernel whose counts can depend on the order in which threads run:
// those that what an atomic returns, another thread writes meanwhile, or malloc returns decides.
// Likewise those that approximate functions decide, where these gave another architecture's values.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "metrics/base/source_line.h"
#include "metrics/facts/confidence.h"
#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::metrics {

/// An instruction whose counts are no property of code and input alone.
struct OrderDependence {
  enum class Source : std::uint8_t {
    atomic,         ///< the result of an atomic
    load,           ///< what a volatile load reads, or one that a fence or a scope orders
    barrier,        ///< whether a barrier in memory is complete yet
    registers,      ///< whether a warpgroup has got more registers yet (setmaxnreg)
    allocation,     ///< an address that malloc gave
    approximation,  ///< an approximate function
    product,        ///< a sum of floats that a wgmma makes
    memory,         ///< what memory holds, where that is unsettled
  };
  enum class Effect : std::uint8_t {
    execution,   ///< it decides whether the instruction executes, and how often
    access,      ///< it is part of an address, or decides which lanes make the access
    divergence,  ///< it decides which lanes branch
  };

  std::uint64_t pc = 0;  ///< of the instruction; offset into Cubin::code()
  Source source = Source::atomic;
  std::uint64_t source_pc = 0;
  Effect effect = Effect::execution;
  /// The groups of metrics that the instruction may count for: first parts of their ids.
  std::vector<std::string_view> groups;

  /// An estimate, with why; `line` is that of the source, empty if it is not known.
  Trust trust(const SourceLine& line) const;
  bool operator==(const OrderDependence&) const = default;
};

/// Whose values the approximate functions of a run have.
enum class Approximations : std::uint8_t { own, of_another_architecture };

/// Who makes the sums of wgmma: the emulator's need not equal a GPU's to the last bit.
enum class Products : std::uint8_t { of_a_gpu, of_the_emulator };

/// Whether what memory holds at the begin of a kernel is a property of code and input alone. It is
/// not after a race, nor after a kernel that leaves there what depends on the order of threads or
/// on sums of wgmma that are not a GPU's.
enum class Memory : std::uint8_t { settled, unsettled };

/// What is not a matter of the kernel's code.
struct Circumstances {
  Approximations approximations = Approximations::own;
  Memory memory = Memory::settled;
  Products products = Products::of_a_gpu;
};

/// What the order of threads may decide of a kernel.
struct OrderInfluence {
  std::vector<OrderDependence> dependences;  ///< in the order of the code
  /// Whether what the kernel leaves in global memory depends on a source.
  bool reaches_global_memory = false;
};

/// Reads the code of a kernel once, for all circumstances.
///
/// A register that is written under a predicate depends on what it was before, unless the predicate
/// is known to hold there, or the opposite one guards another write.
///
/// Follows values through registers, and through memory by space: a load depends on what was stored
/// to its space before it, or before a barrier of the block or an atomic on its memory, or, behind
/// what orders memory for all (fences, strong loads, atomics with a result), anywhere. `ptx_lines`
/// (may be null) know volatile loads of shared memory, which machine code does not tell from
/// others, and approximate functions, which exact ones are made of too. In unsettled memory each
/// load is a source, also of what no thread writes meanwhile.
class OrderOfThreads {
 public:
  struct Code;

  /// Keeps none of them. Of an unknown kernel the order decides nothing. Throws CubinError for an
  /// architecture that is not known here.
  OrderOfThreads(const Cubin& cubin, std::string_view kernel, const PtxLines* ptx_lines);
  ~OrderOfThreads();

  OrderInfluence influence(Circumstances circumstances = {}) const;

 private:
  std::unique_ptr<const Code> code_;
};

}  // namespace warpgauge::metrics
