// Decoding of tensor copies, their prefetches, and the changes of tensor maps.
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/control/tensor_copies.h"
#include "harness/emulator/machine/control/tensor_map_changes.h"
#include "harness/emulator/machine/decode/memory_common.h"
#include "harness/emulator/machine/decode/modifiers.h"
#include "harness/emulator/machine/memory/address_conversion.h"
#include "harness/emulator/machine/memory/tensor_box.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using control::TensorCopyDetail;

constexpr std::array<std::string_view, 5> kRanks = {"1d", "2d", "3d", "4d", "5d"};

control::BulkAddress address_of(const ptx::Operand& operand, AccessSpace space, Decoder& decoder) {
  const Address at = decode_address(operand, space, decoder);
  return {at.slot, at.is_short, at.offset};
}

int take_rank(Modifiers& modifiers) {
  for (std::size_t n = 0; n < kRanks.size(); ++n) {
    if (modifiers.take(kRanks[n])) return static_cast<int>(n) + 1;
  }
  throw Unsupported("without a number of dimensions");
}

/// What [map, {coordinates}] names.
struct Tensor {
  control::BulkAddress map;
  decltype(TensorCopyDetail::coordinates) coordinates{};
};
Tensor decode_tensor(const ptx::Operand& operand, int count, Decoder& decoder) {
  const bool has_place = operand.kind == ptx::Operand::Kind::address &&
                         operand.elements.size() == 2 &&
                         operand.elements[1].kind == ptx::Operand::Kind::vector;
  if (!has_place) throw Unsupported("a tensor of another form than [map, {coordinates}]");
  const auto& coordinates = operand.elements[1].elements;
  if (coordinates.size() != static_cast<std::size_t>(count)) {
    throw Unsupported("with so many coordinates");
  }
  ptx::Operand map = operand;
  map.elements.pop_back();
  Tensor tensor = {.map = address_of(map, AccessSpace::generic, decoder)};
  for (std::size_t n = 0; n < coordinates.size(); ++n) {
    tensor.coordinates[n] = decoder.source(coordinates[n], ptx::Type::s32);
  }
  return tensor;
}

/// The offsets of im2col, of which there are `count`.
auto decode_offsets(const ptx::Operand& operand, int count, Decoder& decoder) {
  const bool is_list = operand.kind == ptx::Operand::Kind::vector;
  if (!is_list || operand.elements.size() != static_cast<std::size_t>(count)) {
    throw Unsupported("with so many offsets");
  }
  decltype(TensorCopyDetail::offsets) offsets{};
  for (std::size_t n = 0; n < operand.elements.size(); ++n) {
    offsets[n] = decoder.source(operand.elements[n], ptx::Type::u16);
  }
  return offsets;
}

/// A copy to shared memory completes at an mbarrier, one from there in a bulk group, and a prefetch
/// nowhere.
TensorCopyDetail::Way take_way(Modifiers& modifiers) {
  if (modifiers.take("prefetch")) {
    modifiers.take("L2");
    return TensorCopyDetail::Way::prefetch;
  }
  if (modifiers.take("bulk_group")) return TensorCopyDetail::Way::store;
  if (modifiers.take("mbarrier::complete_tx::bytes")) return TensorCopyDetail::Way::load;
  throw Unsupported("this completion");
}

/// What the modifiers of a copy say.
struct CopyForm {
  TensorCopyDetail detail;  ///< without operands
  bool has_offsets = false, has_blocks = false, has_policy = false;
};

CopyForm copy_form(const ptx::Instruction& instruction) {
  CopyForm form;
  Modifiers modifiers(instruction);
  const bool reduces = modifiers.take("reduce");
  form.detail.name = reduces ? "cp.reduce.async.bulk.tensor" : "cp.async.bulk.tensor";
  for (const char* const name :
       {"async", "bulk", "tensor", "global", "shared::cta", "shared::cluster"}) {
    modifiers.take(name);
  }
  form.detail.way = take_way(modifiers);
  form.detail.rank = take_rank(modifiers);
  form.has_offsets = modifiers.take("im2col");
  if (form.has_offsets || modifiers.take("im2col_no_offs")) {
    form.detail.mode = memory::TensorMap::Mode::im2col;
  } else {
    modifiers.take("tile");
  }
  const bool stores = form.detail.way == TensorCopyDetail::Way::store;
  form.detail.has_rows = modifiers.take(stores ? "tile::scatter4" : "tile::gather4");
  if (form.detail.has_rows && form.detail.rank != 2)
    throw Unsupported("four rows of other than 2d");
  form.detail.coordinate_count =
      form.detail.has_rows ? 1 + static_cast<int>(memory::BoxPlace::kRows) : form.detail.rank;
  form.has_blocks = modifiers.take("multicast::cluster");
  form.has_policy = take_hints(modifiers);
  if (reduces) form.detail.reduction = take_reduction_op(modifiers);
  modifiers.finish();
  return form;
}

/// Adds the operands:
/// load:     [to], [map, {coordinates}], [barrier]{, {offsets}}{, blocks}{, policy}
/// store:    [map, {coordinates}], [from]{, policy}
/// prefetch: [map, {coordinates}]{, {offsets}}{, policy}
TensorCopyDetail with_operands(CopyForm form, const ptx::Instruction& instruction,
                               Decoder& decoder) {
  using Way = TensorCopyDetail::Way;
  TensorCopyDetail& detail = form.detail;
  std::size_t next = 0;
  const auto operand = [&]() -> const ptx::Operand& { return operand_at(instruction, next++); };
  const bool loads = detail.way == Way::load;
  if (loads) detail.shared = address_of(operand(), AccessSpace::cluster, decoder);
  const Tensor tensor = decode_tensor(operand(), detail.coordinate_count, decoder);
  detail.map = tensor.map;
  detail.coordinates = tensor.coordinates;
  if (loads) detail.barrier = address_of(operand(), AccessSpace::cluster, decoder);
  if (detail.way == Way::store) {
    detail.shared = address_of(operand(), AccessSpace::shared, decoder);
  } else if (form.has_offsets) {
    detail.offset_count = detail.rank - 2;
    detail.offsets = decode_offsets(operand(), detail.offset_count, decoder);
  }
  if (form.has_blocks) detail.blocks = decoder.source(operand(), ptx::Type::b16);
  if (form.has_policy) ++next;
  if (instruction.operands.size() != next) throw Unsupported("with so many operands");
  return std::move(detail);
}

void decode_copy_of_box(const ptx::Instruction& instruction, Decoder& decoder,
                        Instruction* result) {
  auto detail = std::make_shared<TensorCopyDetail>(
      with_operands(copy_form(instruction), instruction, decoder));
  const Architecture& architecture = decoder.architecture();
  detail->architecture = architecture.major * 10 + architecture.minor;
  detail->counter = bulk_counter(instruction, decoder);
  result->execute = control::execute_tensor_copy;
  result->detail = decoder.keep(std::move(detail));
}

using Field = memory::TensorMapField;

Field take_field(Modifiers& modifiers) {
  const auto field = modifiers.take_one<Field>({{"global_address", Field::global_address},
                                                {"rank", Field::rank},
                                                {"box_dim", Field::box_dim},
                                                {"global_dim", Field::global_dim},
                                                {"global_stride", Field::global_stride},
                                                {"element_stride", Field::element_stride},
                                                {"elemtype", Field::elemtype},
                                                {"interleave_layout", Field::interleave_layout},
                                                {"swizzle_mode", Field::swizzle_mode},
                                                {"swizzle_atomicity", Field::swizzle_atomicity},
                                                {"fill_mode", Field::fill_mode}});
  if (!field) throw Unsupported("unknown field");
  return *field;
}

/// Whether a tensor map has the field for each dimension.
bool is_of_dimension(Field field) {
  return field == Field::box_dim || field == Field::global_dim || field == Field::global_stride ||
         field == Field::element_stride;
}

/// tensormap.replace.tile.field{.global, .shared::cta}.b1024.type [map], {dimension,} value
void decode_replace(const ptx::Instruction& instruction, Decoder& decoder, Instruction* result) {
  Modifiers modifiers(instruction);
  auto detail = std::make_shared<control::TensorReplaceDetail>();
  for (const char* const name : {"replace", "tile", "b1024"}) modifiers.take(name);
  detail->field = take_field(modifiers);
  detail->is_shared = modifiers.take("shared::cta");
  if (!detail->is_shared && !modifiers.take("global")) throw Unsupported("in this state space");
  const ptx::Type type = modifiers.take_type().value_or(ptx::Type::none);
  modifiers.finish();
  detail->is_wide = type == ptx::Type::b64;
  if (!detail->is_wide && type != ptx::Type::b32) throw Unsupported("of this type");
  const bool has_dimension = is_of_dimension(detail->field);
  if (instruction.operands.size() != (has_dimension ? 3 : 2)) {
    throw Unsupported("with so many operands");
  }
  detail->map = address_of(instruction.operands[0],
                           detail->is_shared ? AccessSpace::shared : AccessSpace::global, decoder);
  if (has_dimension) detail->ordinal = static_cast<int>(integer_at(instruction, 1));
  detail->value = decoder.source(instruction.operands.back(), type);
  result->execute = control::execute_tensor_replace;
  result->detail = decoder.keep(std::move(detail));
}

/// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
/// [to], [from], 128
void decode_map_copy(const ptx::Instruction& instruction, Decoder& decoder, Instruction* result) {
  Modifiers modifiers(instruction);
  for (const char* const name : {"cp_fenceproxy", "global", "shared::cta", "tensormap::generic",
                                 "release", "cta", "cluster", "gpu", "sys", "sync", "aligned"}) {
    modifiers.take(name);
  }
  modifiers.finish();
  if (integer_at(instruction, 2) != memory::kTensorMapBytes) throw Unsupported("of this size");
  auto detail = std::make_shared<control::TensorMapCopyDetail>();
  detail->to = address_of(operand_at(instruction, 0), AccessSpace::global, decoder);
  detail->from = address_of(operand_at(instruction, 1), AccessSpace::shared, decoder);
  result->execute = control::execute_tensor_map_copy;
  result->detail = decoder.keep(std::move(detail));
}

}  // namespace

bool decode_tensor_copy(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa&,
                        Instruction* result) {
  const std::string& opcode = instruction.opcode;
  if (opcode == "cp" && instruction.has("tensor")) {
    decode_copy_of_box(instruction, decoder, result);
  } else if (opcode == "tensormap" && instruction.has("replace")) {
    decode_replace(instruction, decoder, result);
  } else if (opcode == "tensormap" && instruction.has("cp_fenceproxy")) {
    decode_map_copy(instruction, decoder, result);
  } else if (opcode == "prefetch" && instruction.has("tensormap")) {
    result->execute = memory::execute_nothing;
  } else {
    return false;
  }
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
