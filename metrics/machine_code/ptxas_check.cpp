#include "metrics/machine_code/ptxas_check.h"

#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

#include "metrics/machine_code/cubin.h"

namespace warpgauge::metrics {
namespace {

/// A number that both have.
struct Compared {
  std::string_view name;
  std::optional<std::uint64_t> said;    ///< by the text
  std::optional<std::uint64_t> actual;  ///< in the machine code
  bool grows = false;                   ///< the linker may add to it
};

}  // namespace

std::string contradiction(const PtxasKernel& text, const Cubin& cubin,
                          const KernelResources& resources, bool is_linked) {
  const auto constants = [&]() -> std::optional<std::uint64_t> {
    if (text.constant_bytes.empty()) return std::nullopt;  // as from sm_90 on
    return std::accumulate(text.constant_bytes.begin(), text.constant_bytes.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& bank) { return sum + bank.second; });
  };
  const auto stack = [&]() -> std::optional<std::uint64_t> {
    const bool is_said = !is_linked && text.cumulative_stack_bytes != 0;  // 0: not printed
    return is_said ? std::optional(text.cumulative_stack_bytes) : std::nullopt;
  };
  const auto frame = [&]() -> std::optional<std::uint64_t> {
    // ptxas gives a cubin the frames of called functions with the kernel's; the linker does not.
    const bool is_own = is_linked || text.called.empty();
    return is_own ? std::optional(text.frame_bytes) : std::nullopt;
  };
  const Compared all[] = {
      {"registers", text.registers, resources.registers, true},
      {"barriers", text.barriers, resources.barriers, true},
      {"bytes of stack frame", frame(), resources.frame_bytes},
      {"bytes of cumulative stack", stack(), resources.stack_bytes},
      {"bytes of shared memory", text.shared_static_bytes, cubin.shared_static_bytes(text.name),
       true},
      {"bytes of constant banks", constants(), cubin.constant_bytes(text.name)},
  };
  std::string differences;
  for (const auto& [name, said, actual, grows] : all) {
    if (!said || !actual || *said == *actual) continue;
    if (is_linked && grows && *said < *actual) continue;
    differences += fmt::format("{}{} {}, but {} in the machine code",
                               differences.empty() ? "" : "; ", *said, name, *actual);
  }
  return differences;
}

}  // namespace warpgauge::metrics
