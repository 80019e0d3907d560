// wmma.load and wmma.store: fragments of matrices between memory and registers, access by access.
#include "harness/emulator/machine/isa/memory_fragment.h"

#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/isa/matrix_rows.h"
#include "harness/emulator/machine/isa/memory_transfer.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {
namespace {

using Part = FragmentDetail::Part;

/// Where the matrix begins, as a generic address without the instruction's offset, and how many
/// bytes its rows are apart. Copies, for a load may overwrite the registers.
struct Origin {
  u64 begin[kLanes];
  u64 stride[kLanes];
};

Origin origin_of(const Warp& warp, const Instruction& instruction, const FragmentDetail& detail) {
  const Access& access = detail.parts.front().access;
  const u64 window = access.space == AccessSpace::shared ? window_base(Window::shared) : 0;
  const u32* const strides = lanes<u32>(warp, instruction, 1);
  Origin origin;
  for (int lane = 0; lane < kLanes; ++lane) {
    origin.begin[lane] =
        window + (access.short_address
                      ? static_cast<u64>(s64{lanes<s32>(warp, instruction, 0)[lane]})
                      : lanes<u64>(warp, instruction, 0)[lane]);
    origin.stride[lane] = u64{strides[lane]} * detail.element_bits / 8;
  }
  return origin;
}

Checked<u64> part_lanes(const Warp& warp, const Instruction& instruction, const Part& part,
                        const Origin& origin, AddressBuffers& buffers) {
  for (int lane = 0; lane < kLanes; ++lane) {
    buffers.wide[lane] =
        origin.begin[lane] + part.outer[lane] * origin.stride[lane] + part.inner_bytes[lane];
  }
  if (part.access.space == AccessSpace::generic) {
    return generic_lanes(warp, instruction, part.access, buffers.wide, buffers);
  }
  const bool by_rows = part.form == Part::Form::rows || part.form == Part::Form::transposed_rows;
  const Mask lanes = by_rows ? kAllLanes >> (kLanes - 8 * part.count) : kAllLanes;
  const Window window = part.access.space == AccessSpace::shared ? Window::shared : Window::global;
  return window_lanes(warp, instruction, part.access, buffers.wide, lanes, window, buffers);
}

/// The rows of an 8x8 matrix in a register.
Rows rows_in(u32* words) {
  Rows rows;
  for (int row = 0; row < 8; ++row) rows.at[row] = reinterpret_cast<std::byte*>(words + 4 * row);
  return rows;
}

std::byte* destination_of(const Warp& warp, OperandSlot slot) {
  return warp.bases[OperandSlot::frame] + slot.offset;
}

void load_values(const Warp& warp, const Part& part, const Checked<u64>& from) {
  std::byte* to[2];
  for (int n = 0; n < part.count; ++n) to[n] = destination_of(warp, part.registers[n]);
  const bool wide = part.access.width == 8 * part.count;
  if (part.count == 1) {
    wide ? load_lanes<8, 1>(from, to) : load_lanes<4, 1>(from, to);
  } else {
    wide ? load_lanes<8, 2>(from, to) : load_lanes<4, 2>(from, to);
  }
}

void load_part(const Warp& warp, const Part& part, const Checked<u64>& from) {
  alignas(64) u32 words[kLanes] = {};
  std::byte* const to = reinterpret_cast<std::byte*>(words);
  const auto registers = [&](int n) {
    return reinterpret_cast<u32*>(destination_of(warp, part.registers[n]));
  };
  switch (part.form) {
    case Part::Form::values:
      return load_values(warp, part, from);
    case Part::Form::transposed:
      load_lanes<4, 1>(from, &to);
      return load_matrix(rows_in(words), 0, true, registers(0));
    case Part::Form::byte: {
      load_lanes<1, 1>(from, &to);
      std::byte* const bytes = destination_of(warp, part.registers[0]) + part.number;
      for (int lane = 0; lane < kLanes; ++lane) bytes[4 * lane] = to[lane];
      return;
    }
    case Part::Form::rows:
    case Part::Form::transposed_rows: {
      Rows rows;
      for (int row = 0; row < 8 * part.count; ++row) rows.at[row] = from.at(row);
      const bool transposed = part.form == Part::Form::transposed_rows;
      for (int n = 0; n < part.count; ++n) load_matrix(rows, n, transposed, registers(n));
      return;
    }
  }
}

void store_part(const Warp& warp, const Part& part, const Checked<u64>& to) {
  const std::byte* from[2];
  for (int n = 0; n < part.count; ++n) {
    from[n] = warp.bases[part.registers[n].base] + part.registers[n].offset;
  }
  if (part.form == Part::Form::transposed) {
    alignas(64) u32 words[kLanes];
    store_matrix(rows_in(words), 0, true, reinterpret_cast<const u32*>(from[0]));
    from[0] = reinterpret_cast<const std::byte*>(words);
    return store_lanes<4, 1>(to, from);
  }
  const bool wide = part.access.width == 8 * part.count;
  if (part.count == 1) {
    wide ? store_lanes<8, 1>(to, from) : store_lanes<4, 1>(to, from);
  } else {
    wide ? store_lanes<8, 2>(to, from) : store_lanes<4, 2>(to, from);
  }
}

/// Calls move(part, its lanes in memory) for all parts; false where lanes are still missing.
template <typename Function>
WARPGAUGE_INLINE bool for_parts(Warp& warp, const Instruction& instruction,
                                const FragmentDetail& detail, Function move) {
  if (control::present_lanes(warp, instruction) == 0) return false;
  if (warp.active != kAllLanes) memory::refuse_part_of_warp(warp, instruction);
  const Origin origin = origin_of(warp, instruction, detail);
  AddressBuffers buffers;
  for (const Part& part : detail.parts) {
    move(part, part_lanes(warp, instruction, part, origin, buffers));
  }
  return true;
}

}  // namespace

void execute_load_fragment(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const FragmentDetail*>(instruction.detail);
  const auto load = [&](const Part& part, const auto& from) { load_part(warp, part, from); };
  if (!for_parts(warp, instruction, detail, load)) return;
  for (const FragmentDetail::Copy& copy : detail.copies) {
    copy_all<4>(destination_of(warp, copy.to), destination_of(warp, copy.from));
  }
}

void execute_store_fragment(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const FragmentDetail*>(instruction.detail);
  for_parts(warp, instruction, detail,
            [&](const Part& part, const auto& to) { store_part(warp, part, to); });
}

}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
