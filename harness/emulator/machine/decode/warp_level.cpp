// Decoding of warp-level instructions.
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "harness/emulator/machine/control/warp_ops.h"
#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/ptx/module.h"

namespace warpgauge::emulator::machine::decode {
namespace {

namespace warp_op_flag = control::warp_op_flag;
using WarpOp = control::WarpOpKey::Op;

struct WarpForm {
  std::string_view modifiers;
  WarpOp op;
  std::uint16_t flags = 0;
};

constexpr WarpForm kShuffles[] = {{"up.b32", WarpOp::shuffle_up},
                                  {"down.b32", WarpOp::shuffle_down},
                                  {"bfly.b32", WarpOp::shuffle_butterfly},
                                  {"idx.b32", WarpOp::shuffle_index}};
constexpr WarpForm kVotes[] = {{"all.pred", WarpOp::vote_all},
                               {"any.pred", WarpOp::vote_any},
                               {"uni.pred", WarpOp::vote_uniform},
                               {"ballot.b32", WarpOp::vote_ballot}};
constexpr WarpForm kMatches[] = {{"any.b32", WarpOp::match_any32},
                                 {"any.b64", WarpOp::match_any64},
                                 {"all.b32", WarpOp::match_all32},
                                 {"all.b64", WarpOp::match_all64}};
constexpr WarpForm kReductions[] = {
    {"add.u32", WarpOp::reduce_add},
    {"add.s32", WarpOp::reduce_add},
    {"min.s32", WarpOp::reduce_min_signed},
    {"max.s32", WarpOp::reduce_max_signed},
    {"min.u32", WarpOp::reduce_min_unsigned},
    {"max.u32", WarpOp::reduce_max_unsigned},
    {"and.b32", WarpOp::reduce_and},
    {"or.b32", WarpOp::reduce_or},
    {"xor.b32", WarpOp::reduce_xor},
    {"min.f32", WarpOp::reduce_min_float},
    {"max.f32", WarpOp::reduce_max_float},
    {"min.abs.f32", WarpOp::reduce_min_float, control::warp_op_flag::kAbsolute},
    {"max.abs.f32", WarpOp::reduce_max_float, control::warp_op_flag::kAbsolute},
    {"min.NaN.f32", WarpOp::reduce_min_float, control::warp_op_flag::kNan},
    {"max.NaN.f32", WarpOp::reduce_max_float, control::warp_op_flag::kNan},
    {"min.abs.NaN.f32", WarpOp::reduce_min_float,
     control::warp_op_flag::kAbsolute | control::warp_op_flag::kNan},
    {"max.abs.NaN.f32", WarpOp::reduce_max_float,
     control::warp_op_flag::kAbsolute | control::warp_op_flag::kNan},
};

// An instruction while it is decoded.
struct Work {
  const ptx::Instruction& instruction;
  Decoder& decoder;
  Instruction* result;
  bool sync;         ///< there is .sync
  std::string form;  ///< all other modifiers, joined by points

  std::size_t operand_count() const { return instruction.operands.size(); }
  const ptx::Operand& operand(std::size_t n) const {
    if (n >= operand_count()) throw Unsupported("operands are missing");
    return instruction.operands[n];
  }
  void source(int n, std::size_t operand_number, ptx::Type type) const {
    result->sources[n] = decoder.source(operand(operand_number), type);
  }
  /// d, or d|p: without p, the predicate is never read.
  void destinations(ptx::Type type) const {
    ptx::Operand sink;
    sink.kind = ptx::Operand::Kind::sink;
    const ptx::Operand& to = operand(0);
    const bool pair = to.kind == ptx::Operand::Kind::pair;
    result->destination = decoder.destination(pair ? to.elements.at(0) : to, type);
    result->second_destination =
        decoder.destination(pair ? to.elements.at(1) : sink, ptx::Type::pred);
  }
  void members(std::size_t operand_number) const {
    const ptx::Operand& masks = operand(operand_number);
    source(3, operand_number, ptx::Type::b32);
    result->flags |= control::warp_op_flag::kSync;
    const bool constant = masks.kind == ptx::Operand::Kind::integer;
    if (constant && static_cast<Mask>(masks.bits) == kAllLanes) {
      result->flags |= control::warp_op_flag::kAllMembers;
    }
  }
  template <std::size_t kCount>
  const WarpForm& find(const WarpForm (&forms)[kCount]) const {
    for (const WarpForm& known : forms) {
      if (known.modifiers == form) return known;
    }
    throw Unsupported("this form");
  }
};

WarpOp decode_shuffle(const Work& work) {
  const WarpOp op = work.find(kShuffles).op;
  work.destinations(ptx::Type::b32);
  for (int n = 0; n < 3; ++n) work.source(n, n + 1, ptx::Type::b32);
  if (work.sync) work.members(4);
  return op;
}

WarpOp decode_vote(const Work& work) {
  const WarpOp op = work.find(kVotes).op;
  const bool ballot = op == WarpOp::vote_ballot;
  work.result->destination =
      work.decoder.destination(work.operand(0), ballot ? ptx::Type::b32 : ptx::Type::pred);
  work.source(0, 1, ptx::Type::pred);
  if (work.operand(1).negated) work.result->flags |= control::warp_op_flag::kNegatedPredicate;
  if (work.sync) work.members(2);
  return op;
}

WarpOp decode_match(const Work& work) {
  const WarpOp op = work.find(kMatches).op;
  const bool wide = op == WarpOp::match_any64 || op == WarpOp::match_all64;
  work.destinations(ptx::Type::b32);
  work.source(0, 1, wide ? ptx::Type::b64 : ptx::Type::b32);
  work.members(2);
  return op;
}

WarpOp decode_reduction(const Work& work) {
  const WarpForm& form = work.find(kReductions);
  work.result->flags |= form.flags;
  work.result->destination = work.decoder.destination(work.operand(0), ptx::Type::b32);
  work.source(0, 1, ptx::Type::b32);
  work.members(2);
  return form.op;
}

WarpOp decode_election(const Work& work) {
  if (!work.form.empty()) throw Unsupported("this form");
  work.destinations(ptx::Type::b32);
  work.members(1);
  return WarpOp::elect;
}

WarpOp decode_active_mask(const Work& work) {
  if (work.form != "b32") throw Unsupported("this form");
  work.result->destination = work.decoder.destination(work.operand(0), ptx::Type::b32);
  return WarpOp::active_mask;
}

struct WarpOpcode {
  std::string_view name;
  WarpOp (*decode)(const Work&);
  bool needs_sync;
};
constexpr WarpOpcode kOpcodes[] = {
    {"shfl", decode_shuffle, false},  {"vote", decode_vote, false},
    {"match", decode_match, true},    {"redux", decode_reduction, true},
    {"elect", decode_election, true}, {"activemask", decode_active_mask, false}};

}  // namespace

bool decode_warp_op(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa& isa,
                    Instruction* result) {
  for (const WarpOpcode& opcode : kOpcodes) {
    if (instruction.opcode != opcode.name) continue;
    Work work{instruction, decoder, result, false, {}};
    for (const std::string& modifier : instruction.modifiers) {
      if (modifier == "sync") {
        work.sync = true;
      } else {
        work.form += (work.form.empty() ? "" : ".") + modifier;
      }
    }
    if (opcode.needs_sync && !work.sync) throw Unsupported("without .sync");
    result->execute = isa.warp_op({opcode.decode(work)});
    return true;
  }
  return false;
}

}  // namespace warpgauge::emulator::machine::decode
