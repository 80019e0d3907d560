// The video instructions, lane by lane: programs use few of them.
#include "harness/emulator/machine/control/video.h"

#include <algorithm>
#include <bit>

#include "harness/emulator/machine/core/warp.h"

namespace warpgauge::emulator::machine::control {
namespace {

using Op = Video::Op;
using Part = Video::Part;

std::int64_t extended(std::uint64_t value, int bits, bool is_signed) {
  const std::uint64_t low = value & ((std::uint64_t{1} << bits) - 1);
  const bool negative = is_signed && (low >> (bits - 1)) != 0;
  return static_cast<std::int64_t>(negative ? low - (std::uint64_t{1} << bits) : low);
}

std::int64_t part_of(std::uint64_t value, const Part& part, bool is_signed) {
  return extended(value >> part.shift, part.bits, is_signed);
}

template <typename Integer>
Integer saturated(Integer value, int bits, bool is_signed) {
  const Integer above = Integer{1} << (is_signed ? bits - 1 : bits);
  return std::clamp<Integer>(value, is_signed ? -above : Integer{0}, above - 1);
}

std::int64_t shifted(const Video& video, std::int64_t a, std::int64_t b) {
  const std::int64_t by = video.wraps ? b & 31 : std::min<std::int64_t>(b, 32);
  return video.op == Op::shl ? static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by)
                             : a >> by;
}

std::int64_t result_of(const Video& video, std::int64_t a, std::int64_t b) {
  switch (video.op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::absdiff:
      return std::max(a, b) - std::min(a, b);
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::average:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      return a < b;
    case Op::le:
      return a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    case Op::shl:
    case Op::shr:
      return shifted(video, a, b);
    case Op::mad:
      break;
  }
  return 0;
}

std::uint32_t merged(std::uint32_t value, const Part& to, std::uint32_t rest) {
  const std::uint32_t mask = ((std::uint32_t{1} << to.bits) - 1) << to.shift;
  return (value << to.shift & mask) | (rest & ~mask);
}

std::uint32_t scalar(const Video& video, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::int64_t value = result_of(video, part_of(a, video.a, video.a_is_signed),
                                 part_of(b, video.b, video.b_is_signed));
  if (video.saturates) value = saturated(value, video.to.bits, video.is_signed);
  const std::int64_t other = extended(c, 32, video.is_signed);
  switch (video.then) {
    case Video::Then::nothing:
      break;
    case Video::Then::add:
      value += other;
      break;
    case Video::Then::min:
      value = std::min(value, other);
      break;
    case Video::Then::max:
      value = std::max(value, other);
      break;
    case Video::Then::merge:
      return merged(static_cast<std::uint32_t>(value), video.to, c);
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t elementwise(const Video& video, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  const int bits = 32 / video.elements;
  std::uint32_t out = c;
  for (int i = 0; i < video.elements; ++i) {
    if ((video.mask >> i & 1) == 0) continue;
    std::int64_t value =
        result_of(video, part_of(both, {video.a_elements[i] * bits, bits}, video.a_is_signed),
                  part_of(both, {video.b_elements[i] * bits, bits}, video.b_is_signed));
    if (video.saturates) value = saturated(value, bits, video.is_signed);
    const auto word = static_cast<std::uint32_t>(value);
    out = video.then == Video::Then::add ? out + word : merged(word, {i * bits, bits}, out);
  }
  return out;
}

std::uint32_t product(const Video& video, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  __extension__ using Wide = __int128;  // a product of two words, and more
  const bool is_signed =
      video.a_is_signed || video.b_is_signed || video.product_negated || video.c_negated;
  Wide sum = static_cast<Wide>(part_of(a, video.a, video.a_is_signed)) *
             part_of(b, video.b, video.b_is_signed);
  if (video.product_negated) sum = -sum;
  const Wide addend = extended(c, 32, is_signed);
  sum += video.c_negated ? -addend : addend;
  if (video.plus_one) sum += 1;
  sum >>= video.scale;
  if (video.saturates) sum = saturated(sum, 32, is_signed);
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

std::uint32_t Video::operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  if (op == Op::mad) return product(*this, a, b, c);
  return elements == 1 ? scalar(*this, a, b, c) : elementwise(*this, a, b, c);
}

void execute_video(Warp& warp, const Instruction& instruction) {
  const auto& video = *static_cast<const Video*>(instruction.detail);
  const auto* const a = source<std::uint32_t>(warp, instruction, 0);
  const auto* const b = source<std::uint32_t>(warp, instruction, 1);
  const auto* const c = source<std::uint32_t>(warp, instruction, 2);
  auto* const d = destination<std::uint32_t>(warp, instruction);
  for (Mask left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    d[lane] = video(a[lane], b[lane], c[lane]);
  }
}

}  // namespace warpgauge::emulator::machine::control
