// Finds the instructions of a kernel whose counts can depend on the order in which threads run,
// because the result of an atomic, a concurrent write or an address from malloc decides them.
// Approximate functions count as well, where their values were another architecture's.
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

/// An instruction whose counts depend on more than code and input.
struct OrderDependence {
  enum class Source : std::uint8_t {
    atomic,         ///< the result of an atomic
    load,           ///< the value of a volatile load, or of a load that a fence or a scope orders
    barrier,        ///< whether a barrier in memory is already complete
    registers,      ///< whether a warpgroup already has more registers (setmaxnreg)
    allocation,     ///< an address from malloc
    approximation,  ///< an approximate function
    product,        ///< a sum of floats in a matrix product
    fusion,         ///< a sum that ptxas has made one with a product
    memory,         ///< a value in unsettled memory
  };
  enum class Effect : std::uint8_t {
    execution,   ///< it decides whether the instruction executes, and how often
    access,      ///< it is part of an address, or decides which lanes make the access
    divergence,  ///< it decides which lanes branch
    parting,     ///< it decides at a branch which lanes come to the instruction together
  };

  std::uint64_t pc = 0;  ///< the instruction's offset into Cubin::code()
  Source source = Source::atomic;
  std::uint64_t source_pc = 0;
  Effect effect = Effect::execution;
  /// The groups of metrics that the instruction can count in: first parts of their ids.
  std::vector<std::string_view> groups;

  /// An estimate with its reason. `line` is the line of the source (see `source`), empty if it is
  /// not known.
  Trust trust(const SourceLine& line) const;
  bool operator==(const OrderDependence&) const = default;
};

/// The architecture whose values approximate functions had in a run.
enum class Approximations : std::uint8_t { own, of_another_architecture };

/// The maker of the sums of matrix products: the emulator's may differ from a GPU's in last bits.
enum class Products : std::uint8_t { of_a_gpu, of_the_emulator };

/// The rounding of sums that ptxas has fused with a product: once, or twice as the PTX has them.
enum class Rounding : std::uint8_t { of_a_gpu, of_the_ptx };

/// The state of memory at the beginning of a kernel. It is settled if its contents depend on code
/// and input alone. It is unsettled after a race, and after a kernel that stored values that depend
/// on the order of threads or on the emulator's sums of matrix products.
enum class Memory : std::uint8_t { settled, unsettled };

/// The circumstances of a launch, beside the kernel's code.
struct Circumstances {
  Approximations approximations = Approximations::own;
  Memory memory = Memory::settled;
  Products products = Products::of_a_gpu;
  Rounding rounding = Rounding::of_a_gpu;
};

/// The instructions of a kernel that the order of threads can decide.
struct OrderInfluence {
  std::vector<OrderDependence> dependences;  ///< in the order of the code
  /// True if the kernel stores values to global memory that depend on a source.
  bool reaches_global_memory = false;
};

/// The code of a kernel, read once for all circumstances.
///
/// A register that is written under a predicate also depends on its former value, unless the
/// predicate is known to hold there, or the opposite one guards another write.
///
/// Values are followed through registers, and through memory by space. A load depends on the stores
/// to its space before it, and on those before a barrier of the block or an atomic on the block's
/// memory. Behind instructions that order memory for all threads (fences, strong loads, atomics
/// with a result) it depends on all stores to its space. `ptx_lines` (may be null) tell which loads
/// from shared memory are volatile, which machine code does not show, and which instructions are
/// approximate functions, because exact functions use the same instructions. In unsettled memory
/// every load is a source, even of memory that no thread writes.
class OrderOfThreads {
 public:
  struct Code;

  /// Reads the code; keeps no reference to the arguments. An unknown kernel has no dependences.
  /// Throws CubinError for an architecture that is not known here.
  OrderOfThreads(const Cubin& cubin, std::string_view kernel, const PtxLines* ptx_lines);
  ~OrderOfThreads();

  /// Whether ptxas has fused sums with products.
  bool fuses() const;
  OrderInfluence influence(Circumstances circumstances = {}) const;

 private:
  std::unique_ptr<const Code> code_;
};

}  // namespace warpgauge::metrics
