// Tensor copies: as a bulk copy, one is checked when it is issued, and made when a thread waits for
// it.
#include "harness/emulator/machine/control/tensor_copies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>
#include <tuple>

#include "harness/emulator/machine/checks/history.h"
#include "harness/emulator/machine/control/block.h"
#include "harness/emulator/machine/control/cluster.h"
#include "harness/emulator/machine/control/tensor_reductions.h"
#include "harness/emulator/machine/memory/access_bounds.h"
#include "harness/emulator/machine/memory/access_faults.h"
#include "harness/emulator/machine/memory/context.h"
#include "harness/emulator/machine/memory/tensor_box.h"

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

/// One copy of one lane.
class TensorCopier {
 public:
  TensorCopier(Warp& warp, const Instruction& instruction, int lane)
      : warp_(warp),
        instruction_(instruction),
        detail_(*static_cast<const TensorCopyDetail*>(instruction.detail)),
        lane_(lane),
        map_(read_map()) {
    const auto coordinates = coordinates_of(lane);
    if (detail_.has_rows) {
      place_.coordinates[0] = coordinates[0];
      std::copy_n(coordinates.begin() + 1, memory::BoxPlace::kRows, place_.rows.emplace().begin());
    } else {
      place_.coordinates = coordinates;
    }
    for (int n = 0; n < detail_.offset_count; ++n) {
      place_.offsets[n] = value_of<std::uint16_t>(warp, detail_.offsets[n], lane);
    }
    check();
    if (detail_.has_rows) map_.box[1] = memory::BoxPlace::kRows;
    memory::unpack(map_, place_);
    check_global();
  }

  void issue() const {
    if (detail_.way == TensorCopyDetail::Way::prefetch) return;
    count();
    const memory::SharedPlace here = shared_place(warp_, detail_.shared, lane_);
    if (is_store()) {
      store(here.offset, box_in(here));
    } else if (!detail_.blocks) {
      load(here);
    } else {
      const auto mask = value_of<std::uint16_t>(warp_, *detail_.blocks, lane_);
      for (std::uint32_t rank = 0; rank < memory::ClusterMemory::kMostBlocks; ++rank) {
        if ((mask >> rank & 1) != 0) load({rank, here.offset});
      }
    }
  }

 private:
  bool is_store() const { return detail_.way == TensorCopyDetail::Way::store; }

  std::array<std::int32_t, TensorMap::kMostDimensions> coordinates_of(int lane) const {
    std::array<std::int32_t, TensorMap::kMostDimensions> coordinates{};
    for (int n = 0; n < detail_.coordinate_count; ++n) {
      coordinates[n] = value_of<std::int32_t>(warp_, detail_.coordinates[n], lane);
    }
    return coordinates;
  }

  /// Whether the copy is that of an earlier lane, so that the machine code makes one for both.
  bool repeats() const {
    if (!is_store() || detail_.reduction) return false;
    return repeats_a_lane(warp_, lane_, [&](int lane) {
      return std::tuple(address_of(warp_, detail_.map, lane),
                        address_of(warp_, detail_.shared, lane), coordinates_of(lane));
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
    if (window_of(address) == Window::parameter) {
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
    const bool takes_rows =
        map_.box[1] == 1 && map_.step[1] == 1 && map_.interleave == TensorMap::Interleave::none;
    if (detail_.has_rows && !takes_rows) {
      refuse(warp_, instruction_, lane_,
             what +
                 "four rows need a tensor map that is not interleaved, whose box is one row, "
                 "not " +
                 std::to_string(map_.box[1]));
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
    memory::Memory& memory = *warp_.memory->memory;
    const auto extent =
        is_store() ? memory.extent_to_write(begin, end - begin) : memory.extent(begin);
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

  /// Null if it is a copy.
  AtomicOperation reduction() const {
    if (!detail_.reduction) return nullptr;
    const AtomicOperation operation = reduction_on(*detail_.reduction, map_.type);
    if (operation == nullptr) {
      refuse(warp_, instruction_, lane_,
             detail_.name + ": tensors of this type have no such reduction");
    }
    return operation;
  }

  void store(std::uint32_t offset, std::byte* shared) const {
    const memory::MemoryContext& context = *warp_.memory;
    BulkGroups& groups = warp_.engine->block->warps[warp_.engine->index].bulk_groups;
    const AtomicOperation operation = reduction();
    const auto number = context.history == nullptr
                            ? 0
                            : context.history->begin_read({warp_, instruction_, lane_},
                                                          {offset, memory::box_bytes(map_)},
                                                          /*in_group=*/true);
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

  Warp& warp_;
  const Instruction& instruction_;
  const TensorCopyDetail& detail_;
  const int lane_;
  TensorMap map_;
  memory::BoxPlace place_;
};

}  // namespace

void execute_tensor_copy(Warp& warp, const Instruction& instruction) {
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    TensorCopier(warp, instruction, std::countr_zero(left)).issue();
  }
}

}  // namespace warpgauge::emulator::machine::control
