// Decodes memory instructions by a table of opcodes. Bits 9 to 11 of the high half are the type or
// width.
#include "metrics/machine_code/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warpgauge::metrics {
namespace {

/// The reading of the field of type or width.
enum class Width : std::uint8_t {
  none,
  access,           // 1 1 2 2 4 8 16 bytes
  load,             // as access, and U.128 before sm_80
  copy,             // as access, from sm_100 on one bit higher
  always_32,        // LDG, STG of 256 bits: the field is something else
  float_columns,    // see columns_of()
  integer_columns,  // columns of IGMMA
  bit_columns,      // columns of BGMMA
  matrices,         // LDSM, STSM: bits 8 and 9 are 0 1 2 for 1 2 4 matrices
  shared_atomic,    // U32 S32 U64, from sm_90 on also 128 bits
  global_atomic,    // see width_of_atomic
  half_atomic,      // F16 or BF16 times 2 4 8
  float_atomic,     // F32 times 1 2 4 with or without FTZ, F64
};

struct Opcode {
  std::uint16_t number;  // bits 0 to 8
  MemoryOp op;
  Width width;
  std::string_view name;
};

constexpr auto kOpcodes = std::to_array<Opcode>({
    {0x03b, MemoryOp::ldsm, Width::matrices, "LDSM"},
    {0x044, MemoryOp::stsm, Width::matrices, "STSM"},
    {0x160, MemoryOp::other, Width::none, "TEX"},
    {0x161, MemoryOp::other, Width::none, "TEX"},
    {0x162, MemoryOp::other, Width::none, "TEX"},
    {0x163, MemoryOp::other, Width::none, "TLD4"},
    {0x164, MemoryOp::other, Width::none, "TLD4"},
    {0x165, MemoryOp::other, Width::none, "TLD4"},
    {0x166, MemoryOp::other, Width::none, "TLD"},
    {0x167, MemoryOp::other, Width::none, "TLD"},
    {0x168, MemoryOp::other, Width::none, "TLD"},
    {0x16c, MemoryOp::other, Width::none, "TXD"},
    {0x16d, MemoryOp::other, Width::none, "TXD"},
    {0x16e, MemoryOp::other, Width::none, "TXD"},
    {0x17e, MemoryOp::ldg, Width::always_32, "LDG"},
    {0x17f, MemoryOp::stg, Width::always_32, "STG"},
    {0x180, MemoryOp::ld, Width::load, "LD"},
    {0x181, MemoryOp::ldg, Width::load, "LDG"},
    {0x183, MemoryOp::ldl, Width::access, "LDL"},
    {0x184, MemoryOp::lds, Width::access, "LDS"},
    {0x185, MemoryOp::st, Width::access, "ST"},
    {0x186, MemoryOp::stg, Width::access, "STG"},
    {0x187, MemoryOp::stl, Width::access, "STL"},
    {0x188, MemoryOp::sts, Width::access, "STS"},
    {0x18a, MemoryOp::atom, Width::global_atomic, "ATOM"},
    {0x18b, MemoryOp::atom_cas, Width::global_atomic, "ATOM"},
    {0x18c, MemoryOp::atoms, Width::shared_atomic, "ATOMS"},
    {0x18d, MemoryOp::atoms_cas, Width::shared_atomic, "ATOMS"},
    {0x18e, MemoryOp::red, Width::global_atomic, "RED"},
    {0x193, MemoryOp::other, Width::none, "SUATOM"},
    {0x194, MemoryOp::other, Width::none, "SUATOM"},
    {0x195, MemoryOp::other, Width::none, "SUATOM"},
    {0x196, MemoryOp::other, Width::none, "SUATOM"},
    {0x197, MemoryOp::other, Width::none, "SULD"},
    {0x198, MemoryOp::other, Width::none, "SULD"},
    {0x199, MemoryOp::other, Width::none, "SULD"},
    {0x19a, MemoryOp::other, Width::none, "SULD"},
    {0x19b, MemoryOp::other, Width::none, "SUST"},
    {0x19c, MemoryOp::other, Width::none, "SUST"},
    {0x19d, MemoryOp::other, Width::none, "SUST"},
    {0x19e, MemoryOp::other, Width::none, "SUST"},
    {0x19f, MemoryOp::other, Width::none, "SURED"},
    {0x1a0, MemoryOp::other, Width::none, "SURED"},
    {0x1a2, MemoryOp::atom, Width::half_atomic, "ATOM"},
    {0x1a3, MemoryOp::atomg, Width::float_atomic, "ATOMG"},
    {0x1a6, MemoryOp::red, Width::float_atomic, "RED"},
    {0x1a7, MemoryOp::barrier, Width::none, "SYNCS"},
    {0x1a8, MemoryOp::atomg, Width::global_atomic, "ATOMG"},
    {0x1a9, MemoryOp::atomg_cas, Width::global_atomic, "ATOMG"},
    {0x1ae, MemoryOp::ldgsts, Width::copy, "LDGSTS"},
    {0x1b1, MemoryOp::barrier, Width::none, "SYNCS"},
    {0x1b2, MemoryOp::barrier, Width::none, "SYNCS"},
    {0x1b4, MemoryOp::bulk, Width::none, "UTMALDG"},
    {0x1b5, MemoryOp::bulk, Width::none, "UTMASTG"},
    {0x1b6, MemoryOp::bulk, Width::none, "UTMAREDG"},
    {0x1ba, MemoryOp::bulk, Width::none, "UBLKCP"},
    {0x1bb, MemoryOp::bulk, Width::none, "UBLKRED"},
    {0x1bd, MemoryOp::bulk, Width::none, "STAS"},
    {0x1be, MemoryOp::bulk, Width::none, "REDAS"},
    {0x1f0, MemoryOp::wgmma, Width::float_columns, "HGMMA"},
    {0x1f1, MemoryOp::wgmma, Width::integer_columns, "IGMMA"},
    {0x1f2, MemoryOp::wgmma, Width::bit_columns, "BGMMA"},
    {0x1f3, MemoryOp::wgmma, Width::float_columns, "QGMMA"},
});
static_assert(std::ranges::is_sorted(kOpcodes, {}, &Opcode::number));

const Opcode* find_opcode(std::uint64_t low) {
  const std::uint64_t number = low & SassWord::kOpcodeMask;
  const auto found = std::ranges::lower_bound(kOpcodes, number, {}, &Opcode::number);
  return found == kOpcodes.end() || found->number != number ? nullptr : &*found;
}

/// The columns of a product of tiles, from bits 53 to 58. For floats the field is columns/8 - 1.
/// For integers it is the index in the list 8, 16, 24, 32, 48, 64 ... (multiples of 16); IGMMA has
/// three times that.
int columns_of(Width width, const SassWord& word) {
  const auto field = static_cast<int>(word.low >> 53 & 0x3f);
  if (width == Width::float_columns) return 8 * ((field & 0x1f) + 1);
  const int number = width == Width::integer_columns ? field / 3 : field;
  return number < 4 ? 8 * (number + 1) : 16 * (number - 1);
}

int width_of(Width width, const SassWord& word, int sm) {
  const std::uint64_t high = word.high;
  using Table = std::array<int, 8>;
  const int shift = width == Width::copy && sm >= 100 ? 10 : 9;
  const auto field = static_cast<std::size_t>(high >> shift & 7);
  switch (width) {
    case Width::none:
      return 0;
    case Width::access:
    case Width::copy:
      return Table{1, 1, 2, 2, 4, 8, 16, 0}[field];
    case Width::load:
      return Table{1, 1, 2, 2, 4, 8, 16, sm < 80 ? 16 : 0}[field];
    case Width::always_32:
      return 32;
    case Width::float_columns:
    case Width::integer_columns:
    case Width::bit_columns:
      return columns_of(width, word);
    case Width::matrices:
      return Table{4, 8, 16, 0}[high >> 8 & 3];
    case Width::shared_atomic:
      return sm < 90 ? Table{4, 4, 8, 0, 4, 4, 8, 0}[field] : Table{4, 4, 8, 0, 16, 0, 0, 0}[field];
    case Width::global_atomic:  // U32 S32 U64, and then F32 F16x2 S64 F64, or S64 and 128 bits
      return sm < 90 ? Table{4, 4, 8, 4, 4, 8, 8, 0}[field] : Table{4, 4, 8, 8, 16, 0, 0, 0}[field];
    case Width::half_atomic:
      return Table{4, 8, 16, 4, 8, 16, 0, 0}[field];
    case Width::float_atomic:
      return Table{0, 4, 8, 16, 4, 8, 16, 8}[field];
  }
  return 0;
}

/// The operation of an instruction with the opcode of ATOMS: one form of the operands means
/// ATOMS.POPC.INC or ATOMS.ARRIVE (of a barrier) instead, by bits 23 to 26 of the high half.
MemoryOp shared_atomic(std::uint64_t low, std::uint64_t high, int sm) {
  constexpr std::uint64_t kOtherForm = 7;
  if ((low >> 9 & 7) != kOtherForm) return MemoryOp::atoms;
  const std::uint64_t popc_inc = sm < 90 ? 10 : 11;
  return (high >> 23 & 0xf) == popc_inc ? MemoryOp::atoms_popc : MemoryOp::barrier;
}

/// The predicate of its sources is in bits 23 to 25, its negation in the next one.
CopyReads reads_of_copy(std::uint64_t high) {
  constexpr std::uint64_t kAlways = 7;
  if ((high >> 18 & 1) != 0) return CopyReads::by_size;
  if ((high >> 23 & 0xf) == kAlways) return CopyReads::all;
  return (high >> 23 & 7) == 0 ? CopyReads::by_p0 : CopyReads::by_predicate;
}

}  // namespace

std::optional<MemoryInstruction> memory_instruction(const SassWord& word, int sm) {
  const Opcode* opcode = find_opcode(word.low);
  if (opcode == nullptr) return std::nullopt;
  const MemoryOp op =
      opcode->op == MemoryOp::atoms ? shared_atomic(word.low, word.high, sm) : opcode->op;
  return MemoryInstruction{
      .pc = word.pc,
      .op = op,
      .width = op == MemoryOp::barrier ? 0 : width_of(opcode->width, word, sm),
      .executes = word.guard() != SassWord::kNever,
      .guarded = word.guard() != SassWord::kAlways,
      .reads = op == MemoryOp::ldgsts ? reads_of_copy(word.high) : CopyReads::all};
}

bool multiplies_floats(const SassWord& word) {
  const Opcode* const opcode = find_opcode(word.low);
  return opcode != nullptr && opcode->width == Width::float_columns;
}

std::vector<MemoryInstruction> memory_instructions(const Cubin& cubin, std::string_view kernel) {
  const int sm = known_sm(cubin);
  std::vector<MemoryInstruction> found;
  for (const SassWord& word : machine_code(cubin, kernel)) {
    if (const auto access = memory_instruction(word, sm)) found.push_back(*access);
  }
  return found;
}

std::vector<std::uint64_t> warp_votes(const Cubin& cubin, std::string_view kernel) {
  constexpr std::uint64_t kVote = 0x006, kVoteUniform = 0x086, kRedux = 0x1c4;
  known_sm(cubin);
  std::vector<std::uint64_t> found;
  for (const SassWord& word : machine_code(cubin, kernel)) {
    const std::uint64_t opcode = word.opcode();
    if (opcode == kVote || opcode == kVoteUniform || opcode == kRedux) found.push_back(word.pc);
  }
  return found;
}

std::vector<std::uint32_t> register_changes(const Cubin& cubin, std::string_view kernel) {
  constexpr std::uint64_t kChange = 0x1c8;
  std::vector<std::uint32_t> found;
  for (const SassWord& word : machine_code(cubin, kernel)) {
    if (word.opcode() == kChange) found.push_back(static_cast<std::uint32_t>(word.low >> 32));
  }
  return found;
}

std::string name_of(const MemoryInstruction& instruction) {
  if (instruction.op == MemoryOp::wgmma) return "a product of tiles";
  if (instruction.op == MemoryOp::bulk) return "a copy in bulk";
  if (instruction.op == MemoryOp::barrier) return "an access to a barrier";
  if (instruction.op == MemoryOp::other) return "an access of another kind";
  if (instruction.op == MemoryOp::atoms_popc) return "ATOMS.POPC.INC";
  const auto opcode = std::ranges::find(kOpcodes, instruction.op, &Opcode::op);
  const bool cas = instruction.op == MemoryOp::atoms_cas || instruction.op == MemoryOp::atomg_cas ||
                   instruction.op == MemoryOp::atom_cas;
  return fmt::format("{}{}.{}", opcode->name, cas ? ".CAS" : "", 8 * instruction.width);
}

std::span<const MemorySpace> spaces_of(MemoryOp op) {
  static constexpr std::array kSpaces = {MemorySpace::shared, MemorySpace::global,
                                         MemorySpace::local};
  const std::span<const MemorySpace> all = kSpaces;
  switch (op) {
    case MemoryOp::lds:
    case MemoryOp::sts:
    case MemoryOp::atoms:
    case MemoryOp::atoms_popc:
    case MemoryOp::atoms_cas:
    case MemoryOp::ldsm:
    case MemoryOp::stsm:
    case MemoryOp::wgmma:
      return all.subspan(0, 1);
    case MemoryOp::ldg:
    case MemoryOp::stg:
    case MemoryOp::atomg:
    case MemoryOp::atomg_cas:
    case MemoryOp::red:
      return all.subspan(1, 1);
    case MemoryOp::ldl:
    case MemoryOp::stl:
      return all.subspan(2, 1);
    case MemoryOp::ldgsts:
    case MemoryOp::other:
      return all.subspan(0, 2);
    case MemoryOp::ld:
    case MemoryOp::st:
    case MemoryOp::atom:
    case MemoryOp::atom_cas:
      return all;
    case MemoryOp::bulk:
    case MemoryOp::barrier:
      break;
  }
  return {};
}

std::string_view to_string(MemorySpace space) {
  constexpr std::array<std::string_view, 3> kNames = {"shared", "global", "local"};
  return kNames[static_cast<std::size_t>(space)];
}

bool is_local(MemoryOp op) { return op == MemoryOp::ldl || op == MemoryOp::stl; }

bool is_load(MemoryOp op) {
  return op == MemoryOp::ldg || op == MemoryOp::lds || op == MemoryOp::ldl || op == MemoryOp::ld ||
         op == MemoryOp::ldsm;
}

bool returns_a_value(MemoryOp op) {
  switch (op) {
    case MemoryOp::atoms:
    case MemoryOp::atoms_popc:
    case MemoryOp::atoms_cas:
    case MemoryOp::atomg:
    case MemoryOp::atomg_cas:
    case MemoryOp::atom:
    case MemoryOp::atom_cas:
      return true;
    default:
      return false;
  }
}

bool is_generic(MemoryOp op) {
  return op == MemoryOp::ld || op == MemoryOp::st || op == MemoryOp::atom ||
         op == MemoryOp::atom_cas;
}

}  // namespace warpgauge::metrics
