// Reads the stack frames of functions from their first instructions, which move the stack pointer.
#include "metrics/machine_code/stack_frames.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <vector>

#include "metrics/machine_code/sass_code.h"

namespace warpgauge::metrics {
namespace {

/// A change of the stack pointer by an instruction: R1 = R1 + number, or R1 & number.
struct StackMove {
  enum class Kind { add, mask } kind;
  std::int64_t number;
};

std::optional<StackMove> stack_move(const SassWord& word) {
  constexpr unsigned kIadd3 = 0x010, kViadd = 0x036, kLop3 = 0x012;
  constexpr unsigned kImmediate = 4;
  constexpr std::uint64_t kStackPointer = 1;
  const bool is_of_pointer =
      (word.low >> 16 & 0xff) == kStackPointer && (word.low >> 24 & 0xff) == kStackPointer;
  if (!is_of_pointer || word.form() != kImmediate) return std::nullopt;
  const auto number = static_cast<std::int32_t>(word.low >> 32);
  if (word.opcode() == kIadd3 || word.opcode() == kViadd) {
    return StackMove{StackMove::Kind::add, number};
  }
  if (word.opcode() == kLop3) return StackMove{StackMove::Kind::mask, number};
  return std::nullopt;
}

/// The frame of a function, whose stack pointer is a multiple of `aligned` when it begins: what it
/// reserves, and what it may lose to align it further, as ptxas counts.
std::uint64_t frame_bytes(std::span<const SassWord> function, std::int64_t aligned) {
  std::uint64_t frame = 0;
  for (const SassWord& word : function) {
    const auto move = stack_move(word);
    if (!move) continue;
    if (move->number >= 0) break;  // its end
    if (move->kind == StackMove::Kind::add && frame == 0) {
      frame = static_cast<std::uint64_t>(-move->number);
    } else if (move->kind == StackMove::Kind::mask) {
      frame += static_cast<std::uint64_t>(std::max<std::int64_t>(-move->number - aligned, 0));
      break;
    }
  }
  return frame;
}

}  // namespace

std::optional<std::uint64_t> stack_with_recursion(const Cubin& cubin, std::string_view kernel,
                                                  std::optional<std::uint64_t> noted) {
  constexpr std::int64_t kAlignedForKernels = 16, kAlignedForFunctions = 8;
  if (!noted) return noted;
  std::vector<std::uint64_t> begins;  // of functions in the kernel's code, behind itself
  for (const auto& [number, function] : cubin.functions()) {
    if (function.kernel == kernel && !function.is_entry && function.offset > 0) {
      begins.push_back(function.offset);
    }
  }
  if (begins.empty()) return noted;
  std::ranges::sort(begins);
  const std::vector<SassWord> code = machine_code(cubin, kernel);
  const auto place = [&](std::uint64_t offset) {
    return std::ranges::lower_bound(code, offset, {}, &SassWord::pc);
  };
  const std::uint64_t own = frame_bytes({code.begin(), place(begins.front())}, kAlignedForKernels);
  std::uint64_t sum = own, largest = 0;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const auto end = i + 1 < begins.size() ? place(begins[i + 1]) : code.end();
    const std::uint64_t frame = frame_bytes({place(begins[i]), end}, kAlignedForFunctions);
    sum += frame;
    largest = std::max(largest, frame);
  }
  // Each function is on some chain of calls, so that a sum without one of them is of a recursion.
  return *noted >= own + largest ? noted : sum;
}

}  // namespace warpgauge::metrics
