// Follows pointers through registers, in no order of the code: a register has the roots of all that
// is ever written to it.
#include "harness/emulator/machine/decode/pointer_roots.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "harness/emulator/machine/core/parameter_layout.h"

namespace warpgauge::emulator::machine::decode {
namespace {

using Kind = ptx::Operand::Kind;

constexpr std::size_t kMostRoots = 64 - kFirstRoot;

/// What an instruction does with the address in one of its operands.
struct Use {
  std::size_t operand;
  bool writes;
};

bool has_space(const ptx::Instruction& instruction, std::string_view space) {
  return std::ranges::any_of(instruction.modifiers,
                             [&](const auto& modifier) { return modifier.starts_with(space); });
}

bool is_global(const ptx::Instruction& instruction) {
  constexpr std::string_view kOthers[] = {"shared", "local", "param", "const"};
  return std::ranges::none_of(kOthers, [&](auto space) { return has_space(instruction, space); });
}

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> opcodes) {
  return std::ranges::find(opcodes, opcode) != opcodes.end();
}

/// Whether its values can hold an address.
bool is_wide(const ptx::Instruction& instruction) {
  if (instruction.modifiers.empty()) return false;
  const std::string_view type = instruction.modifiers.back();
  return type.ends_with("64") || type.ends_with("128");
}

/// Textures and surfaces: what they access is not followed.
bool is_of_arrays(std::string_view opcode) {
  return is_one_of(opcode, {"tex", "tld4", "txq", "suld", "sust", "sured", "suq"});
}

/// The access to global memory that the instruction may make by an address among its operands.
std::optional<Use> use_of(const ptx::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "cp" && !instruction.has("tensor") && instruction.operands.size() > 1) {
    // cp.async and cp.async.bulk name the space to write first.
    const auto first = std::ranges::find_if(instruction.modifiers, [](const auto& modifier) {
      return modifier == "global" || modifier.starts_with("shared");
    });
    if (first == instruction.modifiers.end()) return std::nullopt;  // a wait
    if (*first == "global") return Use{0, true};
    return has_space(instruction, "global") ? std::optional(Use{1, false}) : std::nullopt;
  }
  const auto address = std::ranges::find(instruction.operands, Kind::address, &ptx::Operand::kind);
  if (address == instruction.operands.end() || is_of_arrays(opcode)) return std::nullopt;
  if (opcode != "cp" && !is_global(instruction)) return std::nullopt;
  if (is_one_of(opcode, {"prefetch", "prefetchu", "ldmatrix", "mbarrier"})) return std::nullopt;
  const bool loads =
      opcode == "ld" || opcode == "ldu" || (opcode == "wmma" && instruction.has("load"));
  return Use{static_cast<std::size_t>(address - instruction.operands.begin()), !loads};
}

class Follower {
 public:
  Follower(const ptx::Function& kernel, const Program& program)
      : kernel_(kernel), program_(program), layout_(parameters_of(kernel)) {}

  Pointers follow() {
    for (bool grew = true; grew;) {
      grew = false;
      for (const ptx::Instruction& instruction : kernel_.body) grew |= pass(instruction);
    }
    for (std::size_t n = 0; n < kernel_.body.size(); ++n) {
      const ptx::Instruction& instruction = kernel_.body[n];
      const std::optional<Use> use = use_of(instruction);
      if (!use) continue;
      PointerRoots roots = roots_of(instruction.operands[use->operand]);
      if (roots == 0 || is_opaque(instruction)) roots = kUnknownRoot;
      if (use->writes) {
        add_store(roots);
      } else {
        // No thread may write what a read-only load reads, but for mistakes that can be seen.
        const bool is_settled = instruction.has("nc") && (roots & kUnknownRoot) != 0;
        result_.loads[static_cast<std::uint32_t>(n)] = is_settled ? kNotGlobalRoot : roots;
      }
    }
    return std::move(result_);
  }
  void add_store(PointerRoots roots) {
    if (std::ranges::find(result_.stores, roots) == result_.stores.end()) {
      result_.stores.push_back(roots);
    }
  }

 private:
  /// Whether more is accessed than by the address among the operands.
  static bool is_opaque(const ptx::Instruction& instruction) {
    return is_one_of(instruction.opcode, {"cp", "tensormap", "multimem"}) &&
           (instruction.opcode != "cp" || instruction.has("tensor"));
  }

  /// True if a register has more roots than before.
  bool pass(const ptx::Instruction& instruction) {
    const auto& operands = instruction.operands;
    if (operands.empty()) return false;
    const ptx::Operand& to = operands[0];
    if (instruction.opcode == "call") {
      bool grew = false;
      for (const ptx::Operand& operand : operands) grew |= give(operand, kUnknownRoot);
      return grew;
    }
    if (to.kind == Kind::address) return false;
    if (instruction.opcode == "ld") return load(instruction);
    PointerRoots roots = 0;
    if (is_one_of(instruction.opcode, {"atom", "ldu", "suld", "tex", "tld4"})) {
      roots = is_wide(instruction) ? kUnknownRoot : 0;
    } else {
      const bool packs =
          instruction.opcode == "mov" && operands.size() > 1 && operands[1].kind == Kind::vector;
      if (packs && is_wide(instruction)) roots = kUnknownRoot;
      for (std::size_t n = 1; n < operands.size(); ++n) roots |= roots_of(operands[n]);
    }
    return give(to, roots);
  }

  bool load(const ptx::Instruction& instruction) {
    const ptx::Operand& to = instruction.operands[0];
    if (!is_wide(instruction)) return false;
    const ptx::Operand& from = instruction.operands[1];
    const auto parameter =
        std::ranges::find(kernel_.parameters, from.elements.empty() ? "" : from.elements[0].name,
                          &ptx::Variable::name);
    if (!has_space(instruction, "param") || parameter == kernel_.parameters.end()) {
      return give(to, kUnknownRoot);
    }
    const auto number = static_cast<std::size_t>(parameter - kernel_.parameters.begin());
    std::uint64_t at = layout_.parameters[number].offset + static_cast<std::uint64_t>(from.offset);
    if (to.kind != Kind::vector) return give(to, root({true, at}));
    bool grew = false;
    for (const ptx::Operand& element : to.elements) {
      grew |= give(element, root({true, at}));
      at += 8;
    }
    return grew;
  }

  PointerRoots root(Pointers::Root wanted) {
    const auto known = std::ranges::find_if(result_.roots, [&](const Pointers::Root& root) {
      return root.is_parameter == wanted.is_parameter && root.at == wanted.at;
    });
    const auto number = static_cast<std::size_t>(known - result_.roots.begin());
    if (number == kMostRoots) return kUnknownRoot;
    if (known == result_.roots.end()) result_.roots.push_back(wanted);
    return PointerRoots{1} << (kFirstRoot + number);
  }

  PointerRoots roots_of(const ptx::Operand& operand) {
    PointerRoots roots = 0;
    for (const ptx::Operand& element : operand.elements) roots |= roots_of(element);
    if (operand.kind != Kind::name && operand.kind != Kind::address) return roots;
    if (operand.name.empty()) return roots;
    if (const auto known = registers_.find(operand.name); known != registers_.end()) {
      return roots | known->second;
    }
    if (operand.name.starts_with('%')) return roots;
    return roots | root_of_variable(operand.name);
  }

  PointerRoots root_of_variable(std::string_view name) {
    const auto is_own = [&](const ptx::Variable& variable) { return variable.name == name; };
    if (std::ranges::any_of(kernel_.variables, is_own)) return kNotGlobalRoot;
    if (std::ranges::any_of(kernel_.parameters, is_own)) return kNotGlobalRoot;
    const ptx::Variable* const variable = program_.variable(name);
    if (variable == nullptr) return kUnknownRoot;
    if (variable->space != ptx::Space::global) return kNotGlobalRoot;
    const std::optional<Location> place = program_.place(name);
    return place ? root({false, place->address}) : kUnknownRoot;
  }

  bool give(const ptx::Operand& to, PointerRoots roots) {
    bool grew = false;
    for (const ptx::Operand& element : to.elements) grew |= give(element, roots);
    if (roots == 0 || !to.name.starts_with('%')) return grew;
    PointerRoots& known = registers_[to.name];
    grew |= (known | roots) != known;
    known |= roots;
    return grew;
  }

  const ptx::Function& kernel_;
  const Program& program_;
  const ParameterLayout layout_;
  std::unordered_map<std::string_view, PointerRoots> registers_;
  Pointers result_;
};

}  // namespace

Pointers pointers_of(const ptx::Function& kernel, const KernelScope& scope,
                     const Program& program) {
  Follower follower(kernel, program);
  for (const ptx::Function* const function : scope.functions) {
    if (function == &kernel) continue;
    const auto writes = [](const ptx::Instruction& instruction) {
      const std::optional<Use> use = use_of(instruction);
      return use && use->writes;
    };
    if (std::ranges::any_of(function->body, writes)) follower.add_store(kUnknownRoot);
  }
  return follower.follow();
}

}  // namespace warpgauge::emulator::machine::decode
