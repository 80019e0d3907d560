// Decoding of the video instructions.
#include "harness/emulator/machine/control/video.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "harness/emulator/machine/core/instruction.h"
#include "harness/emulator/machine/decode/families.h"
#include "harness/emulator/machine/decode/modifiers.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using control::Video;
using VideoOp = Video::Op;
using Then = Video::Then;

struct VideoOpcode {
  VideoOp op;
  int elements;
};

std::optional<VideoOpcode> opcode_of(std::string_view name) {
  constexpr std::pair<std::string_view, VideoOp> kScalar[] = {
      {"vadd", VideoOp::add}, {"vsub", VideoOp::sub}, {"vabsdiff", VideoOp::absdiff},
      {"vmin", VideoOp::min}, {"vmax", VideoOp::max}, {"vshl", VideoOp::shl},
      {"vshr", VideoOp::shr}, {"vmad", VideoOp::mad}, {"vset", VideoOp::eq}};
  const int elements = name.ends_with('2') ? 2 : name.ends_with('4') ? 4 : 1;
  if (elements > 1) name.remove_suffix(1);
  if (elements > 1 && name == "vavrg") return VideoOpcode{VideoOp::average, elements};
  for (const auto& [scalar, op] : kScalar) {
    const bool only_scalar = op == VideoOp::shl || op == VideoOp::shr || op == VideoOp::mad;
    if (name == scalar && (elements == 1 || !only_scalar)) return VideoOpcode{op, elements};
  }
  return std::nullopt;
}

bool take_sign(Modifiers& modifiers) {
  const auto type = modifiers.take_type();
  if (type != ptx::Type::u32 && type != ptx::Type::s32) throw Unsupported("neither u32 nor s32");
  return type == ptx::Type::s32;
}

/// "b2", "h1" or nothing: of a single element.
Video::Part part_of(const std::string& selector) {
  if (selector.empty()) return {};
  const int bits = selector[0] == 'b' ? 8 : 16, number = selector[1] - '0';
  if (selector.size() != 2 || (number + 1) * bits > 32) throw Unsupported("selector ." + selector);
  return {number * bits, bits};
}

/// "b7654": the digit of the highest element comes first.
std::array<int, 4> elements_of(std::string selector, int elements, const char* otherwise) {
  if (selector.empty()) selector = otherwise;
  std::array<int, 4> out{};
  const bool fits = selector[0] == (elements == 4 ? 'b' : 'h') &&
                    static_cast<int>(selector.size()) == elements + 1 &&
                    std::all_of(selector.begin() + 1, selector.end(),
                                [&](char c) { return c - '0' < 2 * elements; });
  if (!fits) throw Unsupported("selector ." + selector);
  for (int i = 0; i < elements; ++i) out[i] = selector[elements - i] - '0';
  return out;
}

/// "b310": the elements that are written, the highest first.
unsigned mask_of(const std::string& selector, int elements) {
  if (selector.empty()) return (1U << elements) - 1;
  unsigned mask = 0;
  int below = elements;
  bool fits = selector[0] == (elements == 4 ? 'b' : 'h') && selector.size() > 1;
  for (const char c : selector.substr(1)) {
    const int number = c - '0';
    fits = fits && number < below;
    below = number;
    mask |= 1U << (number & 3);
  }
  if (!fits) throw Unsupported("mask ." + selector);
  return mask;
}

void take_modifiers(Modifiers& modifiers, Video& video) {
  const bool compares = video.op == VideoOp::eq;
  if (!compares) video.is_signed = take_sign(modifiers);
  video.a_is_signed = take_sign(modifiers);
  video.b_is_signed = take_sign(modifiers);
  if (compares) {
    const auto op = modifiers.take_one<VideoOp>({{"eq", VideoOp::eq},
                                                 {"ne", VideoOp::ne},
                                                 {"lt", VideoOp::lt},
                                                 {"le", VideoOp::le},
                                                 {"gt", VideoOp::gt},
                                                 {"ge", VideoOp::ge}});
    if (!op) throw Unsupported("no comparison");
    video.op = *op;
  } else {
    video.saturates = modifiers.take("sat");
  }
  if (video.op == VideoOp::shl || video.op == VideoOp::shr) {
    const auto wraps = modifiers.take_one<bool>({{"wrap", true}, {"clamp", false}});
    if (!wraps) throw Unsupported("neither wrap nor clamp");
    video.wraps = *wraps;
  }
  if (video.op == VideoOp::mad) {
    video.plus_one = modifiers.take("po");
    video.scale = modifiers.take_one<int>({{"shr7", 7}, {"shr15", 15}}).value_or(0);
  } else if (video.elements > 1) {
    video.then = modifiers.take("add") ? Then::add : Then::merge;
    if (video.then == Then::add && video.saturates) throw Unsupported("saturation and a sum");
  } else {
    video.then =
        modifiers.take_one<Then>({{"add", Then::add}, {"min", Then::min}, {"max", Then::max}})
            .value_or(Then::nothing);
  }
  modifiers.finish();
}

void take_selectors(const ptx::Instruction& instruction, Video& video) {
  const auto& to = instruction.operands[0].selector;
  const auto& a = instruction.operands[1].selector;
  const auto& b = instruction.operands[2].selector;
  if (video.elements > 1) {
    const bool bytes = video.elements == 4;
    video.a_elements = elements_of(a, video.elements, bytes ? "b3210" : "h10");
    video.b_elements = elements_of(b, video.elements, bytes ? "b7654" : "h32");
    video.mask = mask_of(to, video.elements);
    return;
  }
  video.a = part_of(a);
  video.b = part_of(b);
  if (to.empty()) return;
  if (video.op == VideoOp::mad || video.then != Then::nothing) throw Unsupported("selector ." + to);
  video.to = part_of(to);
  video.then = Then::merge;
}

/// Negations, which only mad has.
void take_signs(const ptx::Instruction& instruction, Video& video) {
  const auto negated = [&](std::size_t n) {
    return n < instruction.operands.size() && instruction.operands[n].negated;
  };
  const bool some = negated(1) || negated(2) || negated(3);
  if (some && (video.op != VideoOp::mad || video.plus_one)) throw Unsupported("a negated operand");
  video.product_negated = negated(1) != negated(2);
  video.c_negated = negated(3);
}

}  // namespace

bool decode_video(const ptx::Instruction& instruction, Decoder& decoder, const isa::Isa&,
                  Instruction* result) {
  const auto opcode = opcode_of(instruction.opcode);
  if (!opcode) return false;
  auto video = std::make_shared<Video>();
  video->op = opcode->op;
  video->elements = opcode->elements;
  Modifiers modifiers(instruction);
  take_modifiers(modifiers, *video);
  const std::size_t count = instruction.operands.size();
  if (count < 3 || count > 4) throw Unsupported("another number of operands");
  take_selectors(instruction, *video);
  take_signs(instruction, *video);
  const bool has_c = video->op == VideoOp::mad || video->then != Then::nothing;
  if (count != (has_c ? 4 : 3)) throw Unsupported("another number of operands");

  const auto plain = [&](std::size_t n) {
    ptx::Operand operand = instruction.operands[n];
    operand.selector.clear();
    operand.negated = false;
    return operand;
  };
  result->destination = decoder.destination(plain(0), ptx::Type::u32);
  for (std::size_t n = 0; n < 3; ++n) {
    // Without a third operand it is read, and has no effect.
    result->sources[n] = decoder.source(plain(n + 1 < count ? n + 1 : 1), ptx::Type::u32);
  }
  result->execute = control::execute_video;
  result->detail = decoder.keep(std::move(video));
  return true;
}

}  // namespace warpgauge::emulator::machine::decode
