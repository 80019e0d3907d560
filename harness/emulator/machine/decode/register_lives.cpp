// Liveness of registers.
#include "harness/emulator/machine/decode/register_lives.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string_view>

namespace warpgauge::emulator::machine::decode {
namespace {

// Instructions whose first operand is a result and nothing else. Of others it is taken for read:
// that is never wrong, only wasteful.
constexpr std::string_view kWithResult[] = {
    "abs",   "add",      "addc",  "and",      "atom", "bfe",   "bfi",   "bfind", "brev",  "clz",
    "cnot",  "copysign", "cos",   "cvt",      "cvta", "div",   "dp2a",  "dp4a",  "ex2",   "fma",
    "fns",   "isspacep", "ld",    "ldmatrix", "ldu",  "lg2",   "lop3",  "mad",   "mad24", "madc",
    "match", "max",      "min",   "mma",      "mov",  "mul",   "mul24", "neg",   "not",   "or",
    "popc",  "prmt",     "rcp",   "redux",    "rem",  "rsqrt", "sad",   "selp",  "set",   "setp",
    "shf",   "shfl",     "shl",   "shr",      "sin",  "slct",  "sqrt",  "sub",   "subc",  "suld",
    "suq",   "tanh",     "testp", "tex",      "tld4", "txq",   "vote",  "xor"};

static_assert(std::is_sorted(std::begin(kWithResult), std::end(kWithResult)));

/// A set of registers.
class Set {
 public:
  explicit Set(std::size_t size) : words_((size + 63) / 64) {}
  void insert(std::size_t n) { words_[n / 64] |= std::uint64_t{1} << n % 64; }
  bool contains(std::size_t n) const { return (words_[n / 64] >> n % 64 & 1) != 0; }
  /// this = this | (more & ~except); true if it grew.
  bool unite(const Set& more, const Set& except) {
    bool grew = false;
    for (std::size_t n = 0; n < words_.size(); ++n) {
      const std::uint64_t old = words_[n];
      words_[n] |= more.words_[n] & ~except.words_[n];
      grew |= words_[n] != old;
    }
    return grew;
  }
  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::size_t n = 0; n < words_.size(); ++n) {
      for (std::uint64_t left = words_[n]; left != 0; left &= left - 1) {
        visit(64 * n + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct Block {
  Set read;     ///< before they are written
  Set written;  ///< before they are read
  Set live_in, live_out;
  explicit Block(std::size_t registers)
      : read(registers), written(registers), live_in(registers), live_out(registers) {}
};

class Lives {
 public:
  Lives(const ptx::Function& function, const BlockGraph& graph,
        const std::vector<std::uint32_t>& places)
      : function_(function),
        graph_(graph),
        places_(places),
        lives_(function.registers.size()),
        mentioned_(function.registers.size()) {
    for (std::size_t n = 0; n < function.registers.size(); ++n) {
      numbers_[function.registers[n].name] = n;
      lives_[n].variable = &function.registers[n];
    }
    blocks_.assign(graph.begin.size(), Block(function.registers.size()));
  }

  std::vector<RegisterLife> find() {
    for (std::size_t n = 0; n < blocks_.size(); ++n) look_through(n);
    propagate();
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      blocks_[n].live_in.each([&](std::size_t r) { extend(r, first_place(n)); });
      blocks_[n].live_out.each([&](std::size_t r) { extend(r, last_place(n)); });
    }
    std::vector<RegisterLife> result;
    mentioned_.each([&](std::size_t r) { result.push_back(lives_[r]); });
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return result;
  }

 private:
  std::uint32_t first_place(std::size_t block) const { return places_[graph_.begin[block]]; }
  std::uint32_t last_place(std::size_t block) const {
    const bool is_end = block + 1 == graph_.begin.size();
    return is_end ? first_place(block) : places_[graph_.begin[block + 1] - 1];
  }

  void extend(std::size_t r, std::uint32_t place) {
    RegisterLife& life = lives_[r];
    if (!mentioned_.contains(r)) life.first = life.last = place;
    mentioned_.insert(r);
    life.first = std::min(life.first, place);
    life.last = std::max(life.last, place);
  }

  template <typename Visit>
  void each_register(const ptx::Operand& operand, const Visit& visit) const {
    decode::each_register(operand, numbers_, visit);
  }

  void look_through(std::size_t number) {
    if (number + 1 == graph_.begin.size()) return;  // the end of the body
    Block& block = blocks_[number];
    for (std::size_t n = graph_.begin[number]; n < graph_.begin[number + 1]; ++n) {
      const ptx::Instruction& instruction = function_.body[n];
      const auto read = [&](std::size_t r) {
        extend(r, places_[n]);
        if (!block.written.contains(r)) block.read.insert(r);
      };
      const auto write = [&](std::size_t r) {
        extend(r, places_[n]);
        if (!instruction.guard && !block.read.contains(r)) block.written.insert(r);
      };
      if (instruction.guard) each_register(*instruction.guard, read);
      const std::size_t results = has_result(instruction) ? 1 : 0;
      for (std::size_t o = results; o < instruction.operands.size(); ++o) {
        each_register(instruction.operands[o], read);
      }
      if (results != 0 && !instruction.operands.empty()) {
        // Lanes whose guard does not hold keep what was there before.
        if (instruction.guard) each_register(instruction.operands[0], read);
        each_register(instruction.operands[0], write);
      }
    }
  }

  void propagate() {
    const Set nothing(function_.registers.size());
    for (Block& block : blocks_) block.live_in.unite(block.read, nothing);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t n = blocks_.size(); n-- > 0;) {
        Block& block = blocks_[n];
        for (const int next : graph_.successors[n]) {
          block.live_out.unite(blocks_[static_cast<std::size_t>(next)].live_in, nothing);
        }
        changed |= block.live_in.unite(block.live_out, block.written);
      }
    }
  }

  const ptx::Function& function_;
  const BlockGraph& graph_;
  const std::vector<std::uint32_t>& places_;
  RegisterNumbers numbers_;
  std::vector<RegisterLife> lives_;
  Set mentioned_;
  std::vector<Block> blocks_;
};

}  // namespace

bool has_result(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.opcode == "call") {
    return operands.size() > 1 && operands[0].kind == ptx::Operand::Kind::list &&
           operands[1].kind == ptx::Operand::Kind::name;
  }
  return std::binary_search(std::begin(kWithResult), std::end(kWithResult), instruction.opcode);
}

std::vector<RegisterLife> register_lives(const ptx::Function& function, const BlockGraph& graph,
                                         const std::vector<std::uint32_t>& places) {
  return Lives(function, graph, places).find();
}

}  // namespace warpgauge::emulator::machine::decode
