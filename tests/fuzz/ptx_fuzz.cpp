// libFuzzer target: no text may make the PTX parser crash, hang or throw anything but its own
// error, and what it accepts keeps the promises of module.h.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "harness/emulator/ptx/error.h"
#include "harness/emulator/ptx/module.h"
#include "tests/fuzz/require.h"

namespace {

using namespace warpgauge::emulator::ptx;

void check_variable(const Variable& variable) {
  require(variable.initial.empty() || variable.initial.size() == variable.bytes,
          "initial bytes are those of the whole variable");
  require((variable.alignment & (variable.alignment - 1)) == 0 && variable.alignment > 0,
          "alignments are powers of two");
  for (const Variable::Relocation& relocation : variable.relocations) {
    require(relocation.offset + relocation.size <= variable.initial.size(),
            "relocations lie in the variable");
  }
}

void check_operand(const Operand& operand) {
  using Kind = Operand::Kind;
  require((operand.kind == Kind::name) == !operand.name.empty(), "names have a name");
  require(operand.kind != Kind::pair || operand.elements.size() == 2, "pairs are two");
  require(operand.kind != Kind::address || !operand.elements.empty(), "addresses have a base");
  require(operand.kind != Kind::address || operand.elements[0].offset == 0,
          "the offset of an address is its own");
  require(operand.kind != Kind::real || operand.type == Type::f32 || operand.type == Type::f64,
          "reals are f32 or f64");
  for (const Operand& element : operand.elements) check_operand(element);
}

void check_names(const Function& function) {
  std::set<std::string_view> names;
  const auto add = [&](std::string_view name) {
    require(names.insert(name).second, "names are unique in a function");
  };
  for (const Register& reg : function.registers) add(reg.name);
  for (const Variable& variable : function.variables) add(variable.name);
  for (const Label& label : function.labels) add(label.name);
  for (const TargetList& list : function.target_lists) add(list.name);
  for (const Prototype& prototype : function.prototypes) add(prototype.name);
}

void check(const Module& module) {
  for (const Variable& variable : module.variables) check_variable(variable);
  for (const Function& function : module.functions) {
    check_names(function);
    for (const Variable& variable : function.variables) check_variable(variable);
    for (const Label& label : function.labels) {
      require(label.position <= function.body.size(), "labels stand in the body or at its end");
    }
    for (const Instruction& instruction : function.body) {
      require(!instruction.opcode.empty(), "instructions have an opcode");
      require(instruction.source_line >= -1 &&
                  instruction.source_line < static_cast<int>(module.source_lines.size()),
              "source lines are in the list");
      for (const Operand& operand : instruction.operands) check_operand(operand);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check(parse(text, "fuzz.ptx"));
  } catch (const PtxError& error) {
    require(std::string_view(error.what()).starts_with("fuzz.ptx:"), "errors name the place");
  }
  return 0;
}
