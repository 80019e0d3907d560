// Tensor copies: as a bulk copy, one is checked when it is issued, and made when a thread waits for
// it.
#include "harness/emulator/machine/control/tensor_copies.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/memory/access_bounds.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/tensor_box.h"
#include "harness/emulator/machine/memory/whole_requests.h"

namespace warpgauge::emulator::machine::control {
namespace {

using memory::TensorMap;

constexpr std::uint32_t kBoxAlignment = 128;  // bytes, in shared memory
// The alignment that the box of a tensor with interleaved channels in slices of 32 bytes needs.
constexpr std::uint32_t kSlicesAlignment = 256;

[[noreturn]] void refuse(const Warp& warp, const Instruction& instruction, int lane,
                         const std::string& why) {
  memory::refuse(warp, instruction, lane, Fault::Kind::illegal_instruction, why);
}

/// The type whose operations a reduction does; none: there are none.
ptx::Type type_of(TensorMap::Type type) {
  using Type = TensorMap::Type;
  switch (type) {
    case Type::u32:
      return ptx::Type::u32;
    case Type::s32:
      return ptx::Type::s32;
    case Type::u64:
      return ptx::Type::u64;
    case Type::s64:
      return ptx::Type::s64;
    case Type::f16:
      return ptx::Type::f16;
    case Type::bf16:
      return ptx::Type::bf16;
    case Type::f32:
    case Type::f32_ftz:
      return ptx::Type::f32;
    case Type::f64:
      return ptx::Type::f64;
    default:
      return ptx::Type::none;
  }
}

AtomicOperation operation_on(memory::AtomicOp op, TensorMap::Type type) {
  ptx::Type as = type_of(type);
  const bool is_bitwise = op == memory::AtomicOp::bit_and || op == memory::AtomicOp::bit_or ||
                          op == memory::AtomicOp::bit_xor;
  if (is_bitwise) as = memory::element_bytes(type) == 8 ? ptx::Type::b64 : ptx::Type::b32;
  if (op == memory::AtomicOp::add && as == ptx::Type::s64) as = ptx::Type::u64;
  return as == ptx::Type::none ? nullptr : memory::atomic_operation(op, as);
}

/// One copy of one lane.
class TensorCopier {
 public:
  TensorCopier(Warp& warp, const Instruction& instruction, int lane)
      : warp_(warp),
        instruction_(instruction),
        detail_(*static_cast<const TensorCopyDetail*>(instruction.detail)),
        lane_(lane),
        map_(read_map()) {
    for (int n = 0; n < detail_.rank; ++n) {
      place_.coordinates[n] = value_of<std::int32_t>(warp, detail_.coordinates[n], lane);
    }
    for (int n = 0; n < detail_.offset_count; ++n) {
      place_.offsets[n] = value_of<std::uint16_t>(warp, detail_.offsets[n], lane);
    }
    check();
    memory::unpack(map_, place_);
    check_global();
  }

  void issue() const {
    if (detail_.way == TensorCopyDetail::Way::prefetch) return;
    count();
    const memory::SharedPlace here = shared_place(warp_, detail_.shared, lane_);
    if (detail_.way == TensorCopyDetail::Way::store) {
      store(here.offset, box_in(here));
    } else if (!detail_.multicasts) {
      load(here);
    } else {
      const auto mask = value_of<std::uint16_t>(warp_, detail_.blocks, lane_);
      for (std::uint32_t rank = 0; rank < memory::ClusterMemory::kMostBlocks; ++rank) {
        if ((mask >> rank & 1) != 0) load({rank, here.offset});
      }
    }
  }

 private:
  bool is_store() const { return detail_.way == TensorCopyDetail::Way::store; }

  bool repeats() const {
    if (!is_store() || detail_.reduction) return false;
    return repeats_a_lane(warp_, lane_, [&](int lane) {
      std::array<std::int32_t, 5> coordinates{};
      for (int n = 0; n < detail_.rank; ++n) {
        coordinates[n] = value_of<std::int32_t>(warp_, detail_.coordinates[n], lane);
      }
      return std::tuple(address_of(warp_, detail_.map, lane),
                        address_of(warp_, detail_.shared, lane), coordinates);
    });
  }

  void count() const {
    if (repeats()) return;
    using Space = AccessTotals::Space;
    const memory::BoxUse use = memory::use_of(map_, place_);
    memory::count_bulk_copy(warp_, detail_.counter, lane_,
                            is_store() ? Space::bulk_store : Space::bulk_load, use.bytes,
                            use.sectors);
  }

  TensorMap read_map() const {
    const memory::MemoryContext& context = *warp_.memory;
    const std::uint64_t address = address_of(warp_, detail_.map, lane_);
    const std::string what = "tensor map of " + detail_.name;
    if (address % memory::kTensorMapAlignment != 0) {
      memory::refuse(warp_, instruction_, lane_, Fault::Kind::misaligned_address,
                     what + ": its address must be a multiple of 64");
    }
    const auto* from = reinterpret_cast<const std::byte*>(address);
    if (address >> kWindowShift == static_cast<std::uint64_t>(Window::parameter)) {
      const std::uint64_t offset = address - window_base(Window::parameter);
      if (offset + memory::kTensorMapBytes > context.parameter_bytes) {
        refuse(warp_, instruction_, lane_, what + ": it lies behind the kernel's parameters");
      }
      from = context.parameters + offset;
    } else {
      memory::admit_range(warp_, instruction_, AccessEffect::read, lane_, address,
                          memory::kTensorMapBytes, what.c_str());
    }
    try {
      return memory::read_tensor_map(from);
    } catch (const memory::BadTensorMap& bad) {
      refuse(warp_, instruction_, lane_, what + ": " + bad.what());
    }
  }

  void check() const {
    const std::string what = detail_.name + ": ";
    if (map_.rank != detail_.rank || map_.mode != detail_.mode) {
      const auto form = [](int rank, TensorMap::Mode mode) {
        return std::to_string(rank) + "d" + (mode == TensorMap::Mode::im2col ? ".im2col" : ".tile");
      };
      refuse(warp_, instruction_, lane_,
             what + "the instruction is ." + form(detail_.rank, detail_.mode) +
                 ", the tensor map is one of ." + form(map_.rank, map_.mode));
    }
    if (const auto broken = memory::broken_rule(map_, detail_.architecture)) {
      refuse(warp_, instruction_, lane_, what + *broken);
    }
    const auto direction = is_store() ? memory::BoxDirection::store : memory::BoxDirection::load;
    if (const auto broken = memory::broken_place(map_, place_, direction)) {
      refuse(warp_, instruction_, lane_, what + *broken);
    }
  }

  /// The parts of the box inside of the tensor must be memory of the program.
  void check_global() const {
    const TensorMap map = is_store() ? memory::as_stored(map_) : map_;
    const auto effect = is_store() ? AccessEffect::write : AccessEffect::read;
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
    memory::for_each_run(map, place_, [&](const memory::BoxRun& run) {
      if (!run.inside) return;
      begin = std::min(begin, run.address);
      end = std::max(end, run.address + run.bytes);
    });
    if (begin >= end) return;
    const auto extent = warp_.memory->memory->extent(begin);
    const bool is_whole = extent && end <= extent->end;
    if (is_whole && (!is_store() || extent->rights == memory::Memory::Rights::write)) return;
    const std::string what = "box of " + detail_.name;
    memory::for_each_run(map, place_, [&](const memory::BoxRun& run) {
      if (!run.inside) return;
      memory::admit_range(warp_, instruction_, effect, lane_, run.address, run.bytes, what.c_str());
    });
  }

  /// The pointer to the start of the shared memory of the block that the box lies in.
  std::byte* box_in(memory::SharedPlace place) const {
    const bool in_slices = map_.interleave == TensorMap::Interleave::slices_32;
    const std::string what = "box of " + detail_.name;
    return memory::pointer_to(warp_, instruction_, lane_, place, memory::box_bytes(map_),
                              in_slices ? kSlicesAlignment : kBoxAlignment, what.c_str()) -
           place.offset;
  }

  void load(memory::SharedPlace to) const {
    std::byte* const shared = box_in(to);
    const std::uint32_t barrier = shared_place(warp_, detail_.barrier, lane_).offset;
    send(warp_, instruction_, lane_,
         {.to = to,
          .barrier = {to.rank, barrier},
          .bytes = memory::box_bytes(map_),
          .reduces = false,
          .make = [=, map = map_, place = place_, offset = to.offset,
                   tiles = warp_.memory->cluster->parts[to.rank].tiles] {
            memory::load_box(map, place, shared, offset);
            tiles->add(map, place, offset);
          }});
  }

  void store(std::uint32_t offset, std::byte* shared) const {
    const memory::MemoryContext& context = *warp_.memory;
    BulkGroups& groups = warp_.engine->block->warps[warp_.engine->index].bulk_groups;
    AtomicOperation operation = nullptr;
    if (detail_.reduction) {
      operation = operation_on(*detail_.reduction, map_.type);
      if (operation == nullptr) {
        refuse(warp_, instruction_, lane_,
               detail_.name + ": tensors of this type have no such reduction");
      }
    }
    const auto number = context.history == nullptr
                            ? 0
                            : context.history->begin_read({warp_, instruction_, lane_},
                                                          {offset, memory::box_bytes(map_)}, true);
    const auto make = [=, map = map_, place = place_] {
      if (operation == nullptr) {
        memory::store_box(map, place, shared, offset);
      } else {
        reduce_box(map, place, operation, shared, offset);
      }
    };
    groups.issue(lane_, is_lazy(warp_), make, [=, map = map_, place = place_, &context] {
      if (context.history == nullptr) return;
      context.history->has_read(number);
      memory::for_each_run(memory::as_stored(map), place, [&](const memory::BoxRun& run) {
        if (run.inside) {
          note_written(context, reinterpret_cast<const std::byte*>(run.address), run.bytes);
        }
      });
    });
  }

  static void reduce_box(const TensorMap& map, const memory::BoxPlace& place,
                         AtomicOperation operation, const std::byte* shared, std::uint32_t offset) {
    std::vector<std::byte> row;
    memory::for_each_run(memory::as_stored(map), place, [&](const memory::BoxRun& run) {
      if (!run.inside) return;
      row.resize(run.bytes);
      memory::copy_from_swizzled(map.swizzle, row.data(), shared, offset + run.offset, run.bytes);
      reduce(operation, memory::element_bytes(map.type), true,
             reinterpret_cast<std::byte*>(run.address), row.data(), run.bytes);
    });
  }

  Warp& warp_;
  const Instruction& instruction_;
  const TensorCopyDetail& detail_;
  const int lane_;
  TensorMap map_;
  memory::BoxPlace place_;
};

std::byte* map_at(const Warp& warp, const Instruction& instruction, const BulkAddress& operand,
                  bool is_shared, int lane, const char* what) {
  constexpr auto kBytes = memory::kTensorMapBytes;
  if (is_shared) {
    return memory::pointer_to(warp, instruction, lane, shared_place(warp, operand, lane), kBytes,
                              kBytes, what);
  }
  const std::uint64_t address = address_of(warp, operand, lane);
  memory::admit_range(warp, instruction, AccessEffect::write, lane, address, kBytes, what);
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

void execute_tensor_copy(Warp& warp, const Instruction& instruction) {
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    TensorCopier(warp, instruction, std::countr_zero(left)).issue();
  }
}

void execute_tensor_replace(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const TensorReplaceDetail*>(instruction.detail);
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::byte* const at = map_at(warp, instruction, detail.map, detail.is_shared, lane,
                                 "tensor map of tensormap.replace");
    const std::uint64_t value = detail.is_wide ? value_of<std::uint64_t>(warp, detail.value, lane)
                                               : value_of<std::uint32_t>(warp, detail.value, lane);
    try {
      TensorMap map = memory::read_tensor_map(at);
      memory::replace_field(map, detail.field, detail.ordinal, value);
      memory::write_tensor_map(map, at);
    } catch (const memory::BadTensorMap& bad) {
      refuse(warp, instruction, lane, std::string("tensormap.replace: ") + bad.what());
    }
  }
}

void execute_tensor_map_copy(Warp& warp, const Instruction& instruction) {
  const auto& detail = *static_cast<const TensorMapCopyDetail*>(instruction.detail);
  const int lane = std::countr_zero(warp.active);
  const char* const what = "tensor map of tensormap.cp_fenceproxy";
  std::byte* const to = map_at(warp, instruction, detail.to, false, lane, what);
  std::memcpy(to, map_at(warp, instruction, detail.from, true, lane, what),
              memory::kTensorMapBytes);
  note_written(*warp.memory, to, memory::kTensorMapBytes);
}

}  // namespace warpgauge::emulator::machine::control
