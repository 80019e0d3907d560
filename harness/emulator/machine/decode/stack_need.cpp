// How much local memory a kernel needs for its deepest chain of calls.
#include <algorithm>
#include <vector>

#include "harness/emulator/machine/control/frames.h"
#include "harness/emulator/machine/decode/control.h"

namespace warpgauge::emulator::machine::decode {
namespace {

/// Local memory that functions need with all they call, from the start of their frames.
class StackNeeds {
 public:
  explicit StackNeeds(const KernelCode& kernel)
      : kernel_(kernel), states_(kernel.functions.size()), needs_(kernel.functions.size()) {}

  /// nullopt if the function may call itself, also through others.
  std::optional<std::uint64_t> of(const Code& code) {
    State& state = states_[code.number];
    if (state == State::known) return needs_[code.number];
    if (state == State::in_work) return std::nullopt;
    state = State::in_work;
    std::uint64_t need = code.local_bytes;
    for (const Code* const called : called_by(code)) {
      const std::optional<std::uint64_t> its_need = of(*called);
      if (!its_need) return std::nullopt;
      need = std::max(need, control::next_frame(0, code) + *its_need);
    }
    state = State::known;
    needs_[code.number] = need;
    return need;
  }

 private:
  enum class State : std::uint8_t { unknown, in_work, known };

  std::vector<const Code*> called_by(const Code& code) const {
    std::vector<const Code*> called;
    for (const CallSite* const site : code.calls) {
      if (site->code != nullptr) called.push_back(site->code);
      if (!site->indirect) continue;
      for (const AddressedFunction& target : kernel_.addressed) called.push_back(target.code);
    }
    return called;
  }

  const KernelCode& kernel_;
  std::vector<State> states_;
  std::vector<std::uint64_t> needs_;
};

}  // namespace

std::optional<std::uint64_t> stack_need(const KernelCode& kernel) {
  return StackNeeds(kernel).of(*kernel.functions.front());
}

}  // namespace warpgauge::emulator::machine::decode
