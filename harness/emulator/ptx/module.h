// A PTX module as it was parsed: text turned into structure, nothing interpreted yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/emulator/ptx/source_line.h"
#include "harness/emulator/ptx/type.h"

namespace warpgauge::emulator::ptx {

/// One operand of an instruction.
struct Operand {
  enum class Kind : std::uint8_t {
    name,     ///< register, special register ("%tid.x"), variable, label or function; + offset
    integer,  ///< `bits`
    real,     ///< `bits` of an f32 (0f...) or f64 (0d..., 1.5), see `type`
    vector,   ///< {a, b, ...}: `elements`
    address,  ///< [name + offset], [integer + offset], [tex, {x, y}], [bar], ...: elements[0] is
              ///< the base, further ones what follows after commas; `offset` belongs to the base
    list,     ///< (a, b, ...): arguments and results of a call
    pair,     ///< p|q: two destinations in `elements`
    sink,     ///< _
  };
  Kind kind = Kind::name;
  bool negated = false;  ///< !%p, or -%r of vmad
  std::string name;      ///< for Kind::name, with component: "%tid.x"
  std::string selector;  ///< bytes or half-words of a video instruction: "b0" of "%r1.b0"
  std::uint64_t bits = 0;
  Type type = Type::none;   ///< a real is f32 or f64; an integer s64, or u64 where it is written so
  std::int64_t offset = 0;  ///< name+4, [name+4], [name-4]
  std::vector<Operand> elements;
};

/// `@%p opcode.modifier.modifier operand, operand;`
struct Instruction {
  std::string opcode;                  ///< "ld", "mad", "cp": up to the first point
  std::vector<std::string> modifiers;  ///< "global", "nc", "v4", "f32": all after it, in order
  std::optional<Operand> guard;        ///< a predicate, perhaps negated
  std::vector<Operand> operands;       ///< in order, destination first where there is one
  int text_line = 0;                   ///< line in the PTX text, from 1
  int source_line = -1;                ///< index into Module::source_lines; -1: unknown
  /// The bytes of a load that are used, by `.pragma "used_bytes_mask"`: the others may not exist.
  std::uint32_t used_bytes = UINT32_MAX;

  std::string full_name() const;  ///< "ld.global.nc.v4.f32"
  bool has(std::string_view modifier) const;
};

/// A variable outside of registers (.global, .const, .shared, .local, .param).
struct Variable {
  /// An address that the loader puts into the initial bytes:
  /// bytes[offset..] = address of `name` (generic address if `generic`) + addend, `size` bytes.
  struct Relocation {
    std::size_t offset = 0;
    int size = 8;
    std::string name;
    std::int64_t addend = 0;
    bool generic = false;
  };
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;     ///< an element's
  std::uint64_t bytes = 0;  ///< all elements; 0 for `.extern .shared .align 16 .b8 s[]`
  std::uint32_t alignment = 1;
  bool is_extern = false;  ///< declared here, defined elsewhere (dynamic shared memory among them)
  bool is_visible = false;
  bool is_hidden = false;          ///< a parameter that the driver fills in, not the launch
  std::vector<std::byte> initial;  ///< empty (zeros), or `bytes` long
  std::vector<Relocation> relocations;
  int text_line = 0;
};

struct Register {
  std::string name;  ///< "%r7"
  Type type;
};

/// `name:`, in front of body[position].
struct Label {
  std::string name;
  std::size_t position;
};

/// `.branchtargets` (labels of brx.idx) or `.calltargets` (functions of an indirect call).
struct TargetList {
  std::string name;
  std::vector<std::string> targets;
};

/// `.callprototype`: parameters and results of an indirect call.
struct Prototype {
  std::string name;
  std::vector<Variable> results, parameters;
};

/// .entry (a kernel) or .func. Blocks { } inside of a body are flattened: where a name has been
/// declared before, in another block or outside of the function, the later ones are called
/// "name#2", "name#3", ..., in operands too, so that names are unique in a function.
struct Function {
  std::string name;  ///< mangled
  bool is_kernel = false;
  bool has_body = false;
  bool is_visible = false;  ///< to other modules that it is linked with
  std::vector<Variable> parameters, results;
  std::vector<Register> registers;  ///< `.reg .b32 %r<5>` is %r0 .. %r4
  std::vector<Variable> variables;  ///< .shared, .local and .param declared inside
  std::vector<Instruction> body;
  std::vector<Label> labels;
  std::vector<TargetList> target_lists;
  std::vector<Prototype> prototypes;
  std::vector<std::uint32_t> max_threads;       ///< .maxntid, up to three
  std::vector<std::uint32_t> required_threads;  ///< .reqntid
  std::vector<std::uint32_t> cluster;           ///< .reqnctapercluster, blocks, up to three
  int text_line = 0;
};

struct Module {
  std::string file;  ///< how errors name it
  int version_major = 0, version_minor = 0;
  std::string target;               ///< "sm_90", "sm_90a"
  std::vector<Variable> variables;  ///< the module's own: .global, .const, .shared
  std::vector<Function> functions;
  /// Instruction::source_line is an index of these.
  std::vector<SourceLine> source_lines;

  const Function* find(std::string_view function) const;
};

/// Parses a module; `file` names it in errors. Throws PtxError.
Module parse(std::string_view text, std::string_view file);

}  // namespace warpgauge::emulator::ptx
