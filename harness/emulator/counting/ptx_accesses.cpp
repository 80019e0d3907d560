// Classifies the memory instructions of the PTX, in all functions that a kernel may reach.
#include "harness/emulator/counting/ptx_accesses.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_map>

#include "harness/emulator/counting/alignment.h"
#include "harness/emulator/machine/decode/fragment_parts.h"

namespace warpgauge::emulator::counting {
namespace {

using Kind = PtxAccess::Kind;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

/// The state space among the modifiers ("shared::cta" is "shared"); generic if none is named,
/// nullopt for those that are not counted.
std::optional<Space> space_of(const Instruction& instruction) {
  for (const std::string& modifier : instruction.modifiers) {
    const std::string_view name = std::string_view(modifier).substr(0, modifier.find("::"));
    if (name == "global") return Space::global;
    if (name == "shared") return Space::shared;
    if (name == "local") return Space::local;
    if (name == "param" || name == "const") return std::nullopt;
  }
  return Space::generic;
}

/// Bytes of all elements: those of the type, times those of .v2, .v4, .v8.
int width_of(const Instruction& instruction) {
  int bytes = 0, elements = 1;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto type = ptx::type_from(modifier)) bytes = ptx::bytes_of(*type);
    if (modifier == "v2") elements = 2;
    if (modifier == "v4") elements = 4;
    if (modifier == "v8") elements = 8;
  }
  return bytes * elements;
}

bool is_ordered(const Instruction& instruction) {
  constexpr std::array kOrders = {"volatile", "relaxed", "acquire", "release", "mmio"};
  return std::ranges::any_of(kOrders, [&](const char* order) { return instruction.has(order); });
}

/// Finds the accesses of wmma.load and wmma.store that are counted.
void find_parts(const Instruction& instruction, PtxAccess& access) {
  namespace decode = machine::decode;
  access.parts = access.width = 0;
  try {
    const decode::FragmentMove move = decode::take_fragment_move(instruction);
    const auto parts = decode::parts_of(move, decode::fragment_of(move));
    access.parts = parts.count;
    access.by_rows = parts.is_by_rows();
    access.width = access.by_rows ? 4 * parts.registers : parts.width;
  } catch (const decode::Unsupported&) {  // it is not emulated
  }
}

/// Calls visit(name) for all registers that an operand names.
template <typename Visit>
void visit_registers(const Operand& operand, const Visit& visit) {
  if (operand.name.starts_with('%')) visit(operand.name);
  for (const Operand& element : operand.elements) visit_registers(element, visit);
}

/// Whether instructions of the function read all that one of them loads.
bool reads_all(const ptx::Function& function, const Instruction& load) {
  std::set<std::string_view> unread;
  visit_registers(load.operands[0], [&](std::string_view name) { unread.insert(name); });
  for (const Instruction& instruction : function.body) {
    for (std::size_t n = 1; n < instruction.operands.size(); ++n) {
      visit_registers(instruction.operands[n], [&](std::string_view name) { unread.erase(name); });
    }
  }
  return unread.empty();
}

/// A copy that TMA makes, or a store or atomic that arrives at a barrier likewise.
bool is_bulk(const Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  if (!instruction.has("async")) return false;
  if (opcode == "st" || opcode == "red") return true;
  const bool copies = !instruction.has("prefetch") && !instruction.has("commit_group") &&
                      !instruction.has("wait_group");
  return opcode == "cp" && instruction.has("bulk") && copies;
}

/// N of a shape, "m64nNkK".
int columns_of(const Instruction& instruction) {
  int columns = 0;
  for (const std::string& modifier : instruction.modifiers) {
    const std::size_t n = modifier.find('n');
    if (!modifier.starts_with("m64n")) continue;
    std::from_chars(modifier.data() + n + 1, modifier.data() + modifier.size(), columns);
  }
  return columns;
}

/// The access of an instruction, with kind, space and width; nullopt if it is none.
std::optional<PtxAccess> classify(const Instruction& instruction) {
  PtxAccess access;
  const std::string& opcode = instruction.opcode;
  if (is_bulk(instruction)) {
    access.kind = Kind::bulk;
    return access;
  }
  if (opcode == "wgmma" && instruction.has("mma_async")) {
    access.kind = Kind::wgmma;
    access.space = Space::shared;
    access.width = columns_of(instruction);
    return access;
  }
  const auto space = space_of(instruction);
  if (!space) return std::nullopt;
  access.space = *space;
  access.width = width_of(instruction);
  if (opcode == "ld" || opcode == "ldu") {
    access.kind = Kind::load;
  } else if (opcode == "st") {
    access.kind = Kind::store;
  } else if (opcode == "atom" || opcode == "red") {
    access.kind = Kind::atomic;
    access.is_cas = instruction.has("cas");
  } else if (opcode == "cp" && instruction.has("async") && instruction.operands.size() >= 3 &&
             (instruction.has("ca") || instruction.has("cg"))) {
    access.kind = Kind::async_copy;
    access.width = static_cast<int>(instruction.operands[2].bits);
  } else if (opcode == "ldmatrix" || opcode == "stmatrix") {
    access.kind = opcode == "ldmatrix" ? Kind::load_matrix : Kind::store_matrix;
    access.space = Space::shared;
    access.width = instruction.has("x4") ? 16 : instruction.has("x2") ? 8 : 4;
  } else if (opcode == "wmma" && !instruction.has("mma")) {
    access.kind = instruction.has("load") ? Kind::load_fragment : Kind::store_fragment;
    find_parts(instruction, access);
  } else {
    return std::nullopt;
  }
  const bool moves = access.kind == Kind::load || access.kind == Kind::store;
  access.is_ordered = is_ordered(instruction);
  access.is_plain = moves && access.width == width_of(instruction) && !is_ordered(instruction) &&
                    std::ranges::none_of(instruction.operands, [](const Operand& operand) {
                      return operand.kind == Operand::Kind::vector;
                    });
  return access;
}

/// After which the order of accesses is another one.
bool ends_block(const Instruction& instruction) {
  constexpr std::array kOpcodes = {"bra",  "brx", "ret",     "exit",   "trap",
                                   "call", "bar", "barrier", "membar", "fence"};
  return std::ranges::find(kOpcodes, instruction.opcode) != kOpcodes.end();
}

/// The registers that an instruction assigns to, where it has any: its first operand.
void add_assigned(const Operand& operand,
                  std::unordered_map<std::string_view, std::size_t>& values) {
  if (operand.kind == Operand::Kind::name) ++values[operand.name];
  for (const Operand& element : operand.elements) add_assigned(element, values);
}

void add_accesses(const ptx::Module& module, const ptx::Function& function, std::size_t& block,
                  std::vector<PtxAccess>& accesses) {
  const auto alignment = known_alignment(module, function);
  std::set<std::size_t> labels;
  for (const ptx::Label& label : function.labels) labels.insert(label.position);
  std::unordered_map<std::string_view, std::size_t> values;
  ++block;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    if (labels.contains(i)) ++block;
    if (auto access = classify(instruction)) {
      const auto address =
          std::ranges::find(instruction.operands, Operand::Kind::address, &Operand::kind);
      if (address != instruction.operands.end() && !address->elements.empty()) {
        access->base = address->elements.front().name;
        access->offset = address->offset;
        access->base_value = values[access->base];
        const auto known = alignment.find(access->base);
        access->base_zeros = known == alignment.end() ? 0 : known->second;
      }
      access->text_line = instruction.text_line;
      access->guarded = instruction.guard.has_value();
      access->block = block;
      if (access->kind == Kind::load_fragment) access->is_used = reads_all(function, instruction);
      accesses.push_back(std::move(*access));
    }
    if (!instruction.operands.empty() && instruction.operands[0].kind != Operand::Kind::address) {
      add_assigned(instruction.operands[0], values);
    }
    if (ends_block(instruction)) ++block;
  }
}

/// Calls visit(name) for all that an operand names but registers, which nearly all names are.
template <typename Visit>
void visit_names(const Operand& operand, const Visit& visit) {
  if (!operand.name.empty() && !operand.name.starts_with('%')) visit(operand.name);
  for (const Operand& element : operand.elements) visit_names(element, visit);
}

template <typename Visit>
void visit_names(const ptx::Function& function, const Visit& visit) {
  for (const Instruction& instruction : function.body) {
    for (const Operand& operand : instruction.operands) visit_names(operand, visit);
  }
}

}  // namespace

std::vector<const ptx::Function*> functions_of(const ptx::Module& module, std::string_view kernel) {
  const ptx::Function* const entry = module.find(kernel);
  if (entry == nullptr) return {};
  std::unordered_multimap<std::string_view, const ptx::Function*> callable;
  for (const ptx::Function& function : module.functions) {
    if (function.has_body && !function.is_kernel) callable.emplace(function.name, &function);
  }
  std::set<const ptx::Function*> found = {entry};  // in one array, thus in the order of the text
  std::vector<const ptx::Function*> open = {entry};
  const auto reach = [&](std::string_view name) {
    const auto [begin, end] = callable.equal_range(name);
    for (auto entry = begin; entry != end; ++entry) {
      if (found.insert(entry->second).second) open.push_back(entry->second);
    }
  };
  for (const ptx::Variable& variable : module.variables) {
    for (const auto& relocation : variable.relocations) reach(relocation.name);
  }
  while (!open.empty() && !callable.empty()) {
    const ptx::Function& function = *open.back();
    open.pop_back();
    visit_names(function, reach);
  }
  return {found.begin(), found.end()};
}

std::vector<PtxAccess> accesses_of(const ptx::Module& module, std::string_view kernel) {
  std::vector<PtxAccess> accesses;
  std::size_t block = 0;
  for (const ptx::Function* const function : functions_of(module, kernel)) {
    add_accesses(module, *function, block, accesses);
  }
  std::ranges::sort(accesses, {}, &PtxAccess::text_line);
  return accesses;
}

bool allocates(const ptx::Module& module, std::string_view kernel) {
  bool found = false;
  for (const ptx::Function* const function : functions_of(module, kernel)) {
    visit_names(*function, [&](std::string_view name) { found = found || name == "malloc"; });
  }
  return found;
}

}  // namespace warpgauge::emulator::counting
