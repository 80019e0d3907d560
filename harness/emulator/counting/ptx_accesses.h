// The instructions of a kernel's PTX that access memory and are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::ptx {
struct Function;
struct Module;
}  // namespace warpgauge::emulator::ptx

namespace warpgauge::emulator::counting {

/// A ld, st, atom, red, cp.async, ldmatrix, stmatrix, wmma.load or wmma.store of global, shared,
/// local or unknown memory; a wgmma; a bulk copy, st.async or red.async.
struct PtxAccess {
  enum class Kind : std::uint8_t {
    load,
    store,
    atomic,
    async_copy,
    load_matrix,
    store_matrix,
    load_fragment,
    store_fragment,
    wgmma,  ///< accesses shared memory
    bulk,   ///< has an unknown space and width 0
  };

  int text_line = 0;
  Kind kind = Kind::load;
  ptx::Space space = ptx::Space::generic;  ///< generic, global, shared or local
  /// Bytes a lane; of matrices 4 for each of the warp, of wgmma the columns of the product.
  int width = 0;
  bool is_cas = false;      ///< atom.cas
  bool is_plain = false;    ///< a load or store of one value, neither volatile nor ordered
  bool is_ordered = false;  ///< volatile, or of an order for other threads
  bool guarded = false;
  int parts = 1;               ///< a fragment's counted accesses of this width; 0: not known
  bool by_rows = false;        ///< for a fragment: they load matrices
  bool is_used = true;         ///< for a fragment: all registers that it loads are read
  std::string base;            ///< the register or variable that its address begins with
  std::int64_t offset = 0;     ///< added to it
  int base_zeros = 0;          ///< low bits of `base` that are known to be zero
  std::size_t base_value = 0;  ///< equal only where `base` has not been assigned to in between
  std::size_t block = 0;       ///< equal for what is executed one after the other, with no barrier

  /// Whether it is of wmma: the machine code has several accesses for it.
  bool is_of_fragment() const {
    return kind == Kind::load_fragment || kind == Kind::store_fragment;
  }
  bool is_load() const { return kind == Kind::load || kind == Kind::load_fragment; }
};

/// `kernel` and the functions that it may call, in the order of the text: all with a body that it
/// names. Those of which the address is in a variable count as called too. Empty if the module has
/// no such kernel.
std::vector<const ptx::Function*> functions_of(const ptx::Module& module, std::string_view kernel);

/// The accesses of functions_of(), in the order of the text.
std::vector<PtxAccess> accesses_of(const ptx::Module& module, std::string_view kernel);

/// Whether one of functions_of() allocates memory (malloc).
bool allocates(const ptx::Module& module, std::string_view kernel);

}  // namespace warpgauge::emulator::counting
