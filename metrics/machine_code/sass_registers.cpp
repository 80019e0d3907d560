// Decodes operands by a table of instructions. Bits 16 to 23 are the written register (D), bits 24
// to 31 (A), 32 to 39 (B, in form 1) and 64 to 71 (C) the read ones. In other forms B or C is a
// number, a constant or, in forms 6 and 7, the uniform register of bits 32 to 37. Bits 81 to 83 and
// 84 to 86 are the written predicates, bits 68 to 70, 77 to 79 and 87 to 89 the read ones.
#include "metrics/machine_code/sass_registers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "metrics/machine_code/sass.h"

namespace warpgauge::metrics {
namespace {

/// The meaning of the operand fields of an instruction.
enum Fields : std::uint32_t {
  kA = 1 << 0,
  kB = 1 << 1,
  kC = 1 << 2,
  kCOfForm1 = 1 << 3,         // C in form 1 alone
  kPairs = 1 << 4,            // A, B and C are each the first of two registers
  kQ = 1 << 5,                // reads the predicate at bit 87
  kCarry = 1 << 6,            // reads the predicate at bit 77
  kChain = 1 << 7,            // reads the predicate at bit 68
  kAllPredicates = 1 << 8,    // reads all
  kVoted = 1 << 9,            // reads the result of a barrier
  kD = 1 << 10,               // writes one register
  kDD = 1 << 11,              // writes two
  kWide = 1 << 12,            // writes as many as bits 73 to 75 say
  kMayWrite = 1 << 13,        // may write the next register
  kP = 1 << 14,               // writes the predicate at bit 81
  kPP = 1 << 15,              // writes the predicate at bit 84
  kSomePredicates = 1 << 16,  // writes some
  kVotes = 1 << 17,           // gives a barrier a result, if bits 77 and 78 say so
  kFromUniform = 1 << 18,     // reads uniform registers
  kToUniform = 1 << 19,       // writes uniform registers
  kWideC = 1 << 20,           // C is the first of two registers
  kMayBe64 = 1 << 21,         // from sm_100 on works on pairs in some forms
  kUniformP = 1 << 22,        // writes the uniform predicate of bit 81
};

struct Row {
  unsigned opcode;
  std::uint32_t fields;
  int from_sm = 0;  // before it is another instruction
};

constexpr auto kRows = std::to_array<Row>({
    {0x002, kB | kD | kMayBe64},                           // MOV
    {0x003, kA | kAllPredicates | kD},                     // P2R
    {0x004, kA | kSomePredicates},                         // R2P
    {0x005, kD | kMayWrite},                               // CS2R
    {0x006, kQ | kD | kP},                                 // VOTE
    {0x007, kA | kB | kQ | kD | kMayBe64},                 // SEL
    {0x008, kA | kB | kQ | kD},                            // FSEL
    {0x009, kA | kB | kQ | kD},                            // FMNMX
    {0x00b, kA | kB | kQ | kP | kPP},                      // FSETP
    {0x00c, kA | kB | kQ | kChain | kP | kPP},             // ISETP
    {0x010, kA | kB | kC | kQ | kCarry | kD | kP | kPP},   // IADD3
    {0x011, kA | kB | kC | kQ | kD | kP},                  // LEA
    {0x012, kA | kB | kC | kQ | kD | kP},                  // LOP3
    {0x013, kB | kD},                                      // IABS
    {0x016, kA | kB | kC | kD},                            // PRMT
    {0x017, kA | kB | kQ | kD},                            // IMNMX
    {0x019, kA | kB | kC | kD},                            // SHF
    {0x01c, kQ | kCarry | kChain | kP | kPP},              // PLOP3
    {0x020, kA | kB | kD},                                 // FMUL
    {0x021, kA | kB | kD},                                 // FADD
    {0x023, kA | kB | kC | kD},                            // FFMA
    {0x024, kA | kB | kC | kQ | kD | kP},                  // IMAD
    {0x025, kA | kB | kWideC | kQ | kDD | kP},             // IMAD.WIDE
    {0x027, kA | kB | kC | kQ | kD | kP},                  // IMAD.HI
    {0x028, kA | kB | kPairs | kDD},                       // DMUL
    {0x029, kA | kCOfForm1 | kPairs | kDD},                // DADD
    {0x02a, kA | kB | kPairs | kQ | kP | kPP},             // DSETP
    {0x02b, kA | kB | kC | kPairs | kDD},                  // DFMA
    {0x02d, 0},                                            // PREEXIT
    {0x02e, 0},                                            // ACQBULK
    {0x02f, kQ | kToUniform | kD | kP},                    // ELECT
    {0x030, kA | kB | kD},                                 // HADD2
    {0x031, kA | kB | kC | kD},                            // HFMA2
    {0x034, kA | kB | kQ | kP | kPP},                      // HSETP2
    {0x035, kA | kB | kC | kD},                            // HFMA2.MMA
    {0x035, kA | kB | kQ | kDD | kPairs, 100},             // IADD.64
    {0x036, kA | kB | kD, 90},                             // VIADD
    {0x03e, kA | kB | kC | kD},                            // F2FP
    {0x045, kB | kD},                                      // I2FP
    {0x046, kA | kB | kC | kQ | kD},                       // VIADDMNMX
    {0x048, kA | kB | kQ | kD | kP},                       // VIMNMX
    {0x097, kA | kB | kC | kPairs | kDD | kP | kPP, 100},  // UIADD3.64
    {0x0b9, kToUniform | kD | kWide},                      // ULDC
    {0x0bb, kA | kFromUniform | kToUniform | kD | kWide},  // ULDC, indexed
    {0x0bd, kB | kD | kP},                                 // UFLO
    {0x0bf, kB | kD},                                      // UPOPC
    {0x0ca, kA | kToUniform | kD},                         // R2UR
    {0x100, kB | kD | kP},                                 // FLO
    {0x101, kB | kD},                                      // BREV
    {0x102, kA | kB | kP},                                 // FCHK
    {0x105, kB | kD},                                      // F2I
    {0x106, kB | kD},                                      // I2F
    {0x107, kB | kD},                                      // FRND
    {0x108, kB | kD},                                      // MUFU
    {0x109, kB | kD},                                      // POPC
    {0x110, kB | kPairs | kD | kMayWrite},                 // F2F, one of the two is a double
    {0x111, kB | kPairs | kD | kMayWrite},                 // F2I
    {0x112, kB | kPairs | kD | kMayWrite},                 // I2F
    {0x113, kB | kPairs | kD | kMayWrite},                 // FRND
    {0x118, 0},                                            // NOP
    {0x119, kD},                                           // S2R
    {0x11a, 0},                                            // DEPBAR
    {0x11b, 0},                                            // ENDCOLLECTIVE
    {0x11c, kVoted | kD | kP},                             // B2R
    {0x11d, kVotes},                                       // BAR
    {0x141, 0},                                            // BSYNC
    {0x142, 0},                                            // BREAK
    {0x143, 0},                                            // CALL
    {0x144, 0},                                            // CALL
    {0x145, 0},                                            // BSSY
    {0x146, 0},                                            // YIELD
    {0x147, kQ},                                           // BRA
    {0x148, 0},                                            // WARPSYNC
    {0x149, kA | kPairs | kQ},                             // BRX
    {0x14d, kQ},                                           // EXIT
    {0x14e, kDD},                                          // LEPC
    {0x150, 0},                                            // RET
    {0x155, kD},                                           // BMOV
    {0x156, 0},                                            // BMOV
    {0x15c, 0},                                            // BPT
    {0x15d, kB | kQ},                                      // NANOSLEEP
    {0x182, kA | kD | kWide},                              // LDC
    {0x189, kA | kB | kC | kD | kP},                       // SHFL
    {0x18f, 0},                                            // CCTL
    {0x192, 0},                                            // MEMBAR
    {0x1ab, 0},                                            // ERRBAR
    {0x1ac, kA | kFromUniform | kToUniform | kD | kWide},  // LDCU
    {0x1af, 0},                                            // LDGDEPBAR
    {0x1b7, 0},                                            // UTMACMDFLUSH
    {0x1b8, kA | kPairs | kFromUniform},                   // UTMAPF
    {0x1b9, kA | kPairs | kFromUniform},                   // UTMACCTL
    {0x1bc, kA | kC | kPairs | kFromUniform},              // UBLKPF
    {0x1c3, kToUniform | kD},                              // S2UR
    {0x1c4, kA | kToUniform | kD},                         // REDUX
    {0x1c5, 0},                                            // WARPGROUP
    {0x1c6, 0},                                            // FENCE
    {0x1c7, 0},                                            // UCGABAR
    {0x1c8, kUniformP},                                    // USETMAXREG
});
static_assert(std::ranges::is_sorted(kRows, {}, &Row::opcode));

constexpr unsigned kNoOperand = 255, kNoPredicate = 7;

/// Most instructions on uniform registers have the opcode of the instruction on other registers
/// with this bit.
constexpr unsigned kUniformBit = 0x80;
bool is_uniform(unsigned opcode) { return opcode >= kUniformBit && opcode < 0xc0; }

/// The predicates that an instruction reads: each thread's, the warp's, or possibly either.
enum class Predicates : std::uint8_t { thread, warp, either };

constexpr unsigned kVoteUniform = 0x086, kLogicOfPredicates = 0x01c;

/// The predicates that an instruction has as operands. Code for sm_100 and later was not examined
/// for this.
Predicates predicates_of(unsigned opcode, int sm) {
  if (sm >= 100) return Predicates::either;
  return is_uniform(opcode) && opcode != kVoteUniform ? Predicates::warp : Predicates::thread;
}

/// The predicates that guard an instruction. Bulk copies, the initialisation of barriers and
/// setmaxnreg have a warp's guard.
Predicates guards_of(unsigned opcode, int sm) {
  constexpr unsigned kExchange64 = 0x1b2, kFirstBulk = 0x1b4, kLastBulk = 0x1bc,
                     kSpecialRegister = 0x1c3, kMoreRegisters = 0x1c8;
  if (sm >= 100 || opcode == kSpecialRegister) return Predicates::either;
  const bool is_of_warp = opcode == kExchange64 || opcode == kMoreRegisters ||
                          (opcode >= kFirstBulk && opcode <= kLastBulk);
  return is_of_warp ? Predicates::warp : predicates_of(opcode, sm);
}

constexpr Condition kIsSet = 1 << 6, kIsUniform = 1 << 5, kIsEither = 1 << 4, kNegated = 1 << 3;

/// The condition of a guard as SassWord has it. Where the predicate may be in either file,
/// conditions of uniform instructions differ from those of others.
Condition condition_of(unsigned guard, Predicates of, bool uniform) {
  const bool is_of_warp = of == Predicates::warp || (of == Predicates::either && uniform);
  return kIsSet | (is_of_warp ? kIsUniform : 0) | (of == Predicates::either ? kIsEither : 0) |
         guard;
}

const Row* find_row(unsigned opcode, int sm) {
  const Row* found = nullptr;
  for (auto row = std::ranges::lower_bound(kRows, opcode, {}, &Row::opcode);
       row != kRows.end() && row->opcode == opcode; ++row) {
    if (sm >= row->from_sm) found = &*row;
  }
  if (found != nullptr || !is_uniform(opcode)) return found;
  return find_row(opcode & ~kUniformBit, sm);
}

/// The fields of an instruction as registers.
class Reader {
 public:
  Reader(const SassWord& word, int sm) : word_(word), no_uniform_(sm < 100 ? 63 : kNoOperand) {}

  unsigned d() const { return word_.low >> 16 & 0xff; }
  unsigned a() const { return word_.low >> 24 & 0xff; }
  unsigned b() const { return word_.low >> 32 & 0xff; }
  unsigned c() const { return word_.high & 0xff; }
  unsigned predicate(int bit) const { return word_.high >> bit & 7; }
  bool has_b() const { return word_.form() == 1; }
  bool has_uniform_b() const { return word_.form() == 6 || word_.form() == 7; }

  void add(std::vector<Register>& to, unsigned field, unsigned count = 1) const {
    for (unsigned i = 0; i < count && field + i < kNoOperand; ++i) {
      to.push_back(static_cast<Register>(field + i));
    }
  }
  void add_uniform(std::vector<Register>& to, unsigned field, unsigned count = 1) const {
    for (unsigned i = 0; i < count && field + i < no_uniform_; ++i) {
      to.push_back(static_cast<Register>(kUniform + field + i));
    }
  }
  void add_predicate(std::vector<Register>& to, unsigned field, Register file) const {
    if (field != kNoPredicate) to.push_back(static_cast<Register>(file + field));
  }
  void add_predicate(std::vector<Register>& to, unsigned field, Predicates of) const {
    if (of != Predicates::warp) add_predicate(to, field, kPredicate);
    if (of != Predicates::thread) add_predicate(to, field, kUniformPredicate);
  }

 private:
  const SassWord& word_;
  unsigned no_uniform_;
};

void add_all_predicates(std::vector<Register>& to) {
  for (Register i = 0; i < kNoPredicate; ++i) to.push_back(static_cast<Register>(kPredicate + i));
}

/// The number of registers that hold `width` bytes.
unsigned registers_in(int width) { return width <= 4 ? 1 : static_cast<unsigned>(width) / 4; }

/// The number of registers by bits 73 to 75.
unsigned registers_by_width(const SassWord& word) {
  constexpr std::array<unsigned, 8> kNumber = {1, 1, 1, 1, 1, 2, 4, 1};
  return kNumber[word.high >> 9 & 7];
}

/// True for MOV.64 and SEL.64. Before sm_100, MOV and SEL had no forms 2 and 3.
bool is_64(const SassWord& word, int sm) {
  return sm >= 100 && (word.form() == 2 || word.form() == 3 || (word.high >> 16 & 1) != 0);
}

/// The conditions that never hold behind a PLOP3 whose operands are all constants, by which ptxas
/// sets predicates. PLOP3 has a table for each result, with a bit for each combination of its
/// operands.
std::vector<Condition> never_behind(const SassWord& word, const Reader& fields) {
  unsigned combination = 0;
  for (const auto& [predicate, negation] : {std::pair{23, 26}, {13, 16}, {4, 7}}) {
    if (fields.predicate(predicate) != kNoPredicate) return {};
    const bool is_true = (word.high >> negation & 1) == 0;
    combination = combination << 1 | (is_true ? 1 : 0);
  }
  const bool uniform = is_uniform(word.opcode());
  const std::uint64_t first = (word.high >> 8 & 0x1f) << 3 | (word.high & 7);
  const std::uint64_t second = word.low >> 16 & 0xff;
  std::vector<Condition> never;
  for (const auto& [table, bit] : {std::pair{first, 17}, {second, 20}}) {
    const unsigned result = fields.predicate(bit);
    const bool holds = (table >> combination & 1) != 0;
    if (result == kNoPredicate) continue;
    never.push_back(condition_of(result | (holds ? kNegated : 0),
                                 uniform ? Predicates::warp : Predicates::thread, uniform));
  }
  return never;
}

RegisterUse known(const SassWord& word, const Row& row, const Reader& fields, int sm) {
  RegisterUse use;
  const auto has = [&](std::uint32_t field) { return (row.fields & field) != 0; };
  const bool uniform = has(kFromUniform) || (is_uniform(word.opcode()) && !has(kToUniform));
  const bool is_wide = has(kMayBe64) && is_64(word, sm);
  const unsigned count = has(kPairs) || is_wide ? 2 : 1;
  const auto read = [&](unsigned field, unsigned number) {
    uniform ? fields.add_uniform(use.reads, field, number) : fields.add(use.reads, field, number);
  };
  const bool is_shuffle = word.opcode() == 0x189;  // B in forms 1 and 2, C in forms 1 and 3
  if (has(kA)) read(fields.a(), count);
  if (has(kB) && (fields.has_b() || (is_shuffle && word.form() == 2))) read(fields.b(), count);
  if (has(kC) && (!is_shuffle || word.form() == 1 || word.form() == 3)) read(fields.c(), count);
  if (has(kCOfForm1) && fields.has_b()) read(fields.c(), count);
  // In forms 2, 3 and 7 the addend is no register: field C holds B.
  const bool adds_c = word.form() != 2 && word.form() != 3 && word.form() != 7;
  if (has(kWideC)) read(fields.c(), adds_c ? 2 : 1);
  if (row.fields != 0 && fields.has_uniform_b() && !is_shuffle)
    fields.add_uniform(use.reads, fields.b(), count);
  constexpr unsigned kReduces = 2;
  const bool votes = has(kVotes) && (word.high >> 13 & 3) == kReduces;
  const Predicates predicates = predicates_of(word.opcode(), sm);
  if (has(kQ) || votes) fields.add_predicate(use.reads, fields.predicate(23), predicates);
  if (has(kCarry)) fields.add_predicate(use.reads, fields.predicate(13), predicates);
  // PLOP3 has a bit that makes its last predicate the warp's.
  const bool chains_warp = word.opcode() == kLogicOfPredicates && (word.high >> 3 & 1) != 0;
  const Predicates chained =
      chains_warp && predicates == Predicates::thread ? Predicates::warp : predicates;
  if (has(kChain)) fields.add_predicate(use.reads, fields.predicate(4), chained);
  constexpr unsigned kBranch = 0x147, kUniformForm = 2;  // BRA.U
  if (word.opcode() == kBranch && word.form() == kUniformForm) {
    fields.add_predicate(use.reads, fields.a() & kNoPredicate, kUniformPredicate);
  }
  if (has(kAllPredicates)) add_all_predicates(use.reads);
  if (has(kVoted)) use.reads.push_back(kBarrierResult);

  const auto write = [&](std::vector<Register>& to, unsigned field, unsigned number) {
    uniform || has(kToUniform) ? fields.add_uniform(to, field, number)
                               : fields.add(to, field, number);
  };
  if (has(kD) && !has(kWide)) write(use.writes, fields.d(), is_wide ? 2 : 1);
  if (has(kDD)) write(use.writes, fields.d(), 2);
  if (has(kMayWrite)) write(use.may_write, fields.d() + 1, 1);
  if (has(kWide)) {
    write(use.writes, fields.d(), registers_by_width(word));
  }
  const Register file = is_uniform(word.opcode()) ? kUniformPredicate : kPredicate;
  if (has(kP)) fields.add_predicate(use.writes, fields.predicate(17), file);
  if (has(kUniformP)) fields.add_predicate(use.writes, fields.predicate(17), kUniformPredicate);
  if (has(kPP)) fields.add_predicate(use.writes, fields.predicate(20), file);
  if (has(kSomePredicates)) add_all_predicates(use.may_write);
  if (votes) use.may_write.push_back(kBarrierResult);
  const bool is_logic = (word.opcode() & ~kUniformBit) == kLogicOfPredicates;
  if (is_logic && word.guard() == SassWord::kAlways) use.never = never_behind(word, fields);
  return use;
}

/// The registers that the fields of an unknown instruction can mean.
RegisterUse unknown(const Reader& fields) {
  RegisterUse use;
  for (const unsigned field : {fields.a(), fields.b(), fields.c()}) {
    fields.add(use.reads, field);
    fields.add_uniform(use.reads, field);
  }
  fields.add_predicate(use.reads, fields.predicate(23), Predicates::either);
  fields.add(use.may_write, fields.d(), 4);
  fields.add_uniform(use.may_write, fields.d(), 4);
  for (const int bit : {17, 20}) {
    fields.add_predicate(use.may_write, fields.predicate(bit), Predicates::either);
  }
  return use;
}

/// The registers of a product of tiles. A is a descriptor in uniform registers, followed by the
/// descriptor of B, or (form 6) a tile in registers.
RegisterUse of_product(const SassWord& word, unsigned columns, const Reader& fields) {
  constexpr unsigned kOfA = 4, kDescriptor = 2;
  const bool is_16_bits = multiplies_floats(word) && (word.high >> 11 & 1) == 0;
  const unsigned results = columns / (is_16_bits ? 4 : 2);
  RegisterUse use;
  if (fields.has_uniform_b()) {
    fields.add(use.reads, fields.a(), kOfA);
    fields.add_uniform(use.address, fields.b(), kDescriptor);
  } else {
    fields.add_uniform(use.address, fields.a(), 2 * kDescriptor);
  }
  const bool is_sparse = (word.low >> 59 & 1) != 0;
  if (is_sparse) fields.add(use.reads, word.low >> 40 & 0xff);  // positions in A
  fields.add(use.reads, fields.c(), results);                   // RZ adds none
  // The predicate that decides whether it accumulates; its number counts down.
  fields.add_predicate(use.reads, kNoPredicate - fields.predicate(23), kUniformPredicate);
  fields.add(use.writes, fields.d(), results);
  return use;
}

/// The registers of a bulk copy: addresses, coordinates and sizes in uniform registers; for STAS
/// and REDAS the address and the value in others.
RegisterUse of_bulk(const SassWord& word, const Reader& fields) {
  constexpr unsigned kStore = 0x1bd, kReduction = 0x1be, kTensorStore = 0x1b5,
                     kTensorReduction = 0x1b6, kNoC = 2;
  constexpr unsigned kPlace = 2, kMostOfShared = 7;  // address, barrier, five coordinates
  RegisterUse use;
  if (word.opcode() == kStore || word.opcode() == kReduction) {
    fields.add(use.address, fields.a(), kPlace);
    fields.add(use.reads, fields.b(), registers_by_width(word));
    return use;
  }
  const bool has_c =
      word.form() != kNoC && word.opcode() != kTensorStore && word.opcode() != kTensorReduction;
  const bool has_policy = (word.high >> 12 & 1) != 0;
  fields.add_uniform(use.address, fields.a(), kPlace);
  fields.add_uniform(use.address, fields.b(), kMostOfShared);
  if (has_c) fields.add_uniform(use.address, fields.c(), kPlace);  // size, mask, offsets
  if (has_policy) fields.add_uniform(use.address, word.low >> 40 & 0xff, kPlace);
  return use;
}

/// The registers of an access to a barrier. A wait (SYNCS.PHASECHK) writes a predicate, an arrival
/// (SYNCS.ARRIVE) the state, and an exchange (SYNCS.EXCH) the former state.
RegisterUse of_barrier(const SassWord& word, const Reader& fields) {
  constexpr unsigned kArriveOrWait = 0x1a7, kExchange = 0x1b1, kExchange64 = 0x1b2, kWait = 2,
                     kUniformMask = 0x3f, kOfState = 2;
  RegisterUse use;
  if (word.opcode() == kArriveOrWait) {
    fields.add(use.address, fields.a());
    fields.add_uniform(use.address, fields.c() & kUniformMask);
    fields.add(use.reads, fields.b());
    if (word.form() == kWait) {
      fields.add_predicate(use.writes, fields.predicate(17), kPredicate);
    } else {
      fields.add(use.writes, fields.d(), kOfState);
    }
  } else if (word.opcode() == kExchange || word.opcode() == kExchange64) {
    fields.add_uniform(use.address, fields.a());
    fields.add_uniform(use.reads, fields.b(), kOfState);
    fields.add_uniform(use.writes, fields.d(), kOfState);
  } else {
    use = unknown(fields);
  }
  return use;
}

/// Products of tiles in registers of a warp: IMMA, HMMA (on sm_75 its form with k = 8 has an opcode
/// of its own), BMMA, DMMA, QMMA, OMMA.
bool is_product_of_warp(unsigned opcode, int sm) {
  constexpr unsigned kFirstHmma = 0x036;  // VIADD from sm_90 on
  constexpr auto kProducts = std::to_array<unsigned>({0x037, 0x03c, 0x03d, 0x03f, 0x07a, 0x07f});
  return (opcode == kFirstHmma && sm < 90) ||
         std::ranges::find(kProducts, opcode) != kProducts.end();
}

RegisterUse of_product_of_warp(const SassWord& word, const Reader& fields) {
  constexpr unsigned kHmma = 0x03c, kMost = 4;
  const bool is_16_bits = word.opcode() == kHmma && (word.high >> 12 & 1) == 0;
  RegisterUse use;
  for (const unsigned field : {fields.a(), fields.b(), fields.c()})
    fields.add(use.reads, field, kMost);
  fields.add(use.may_write, fields.d(), is_16_bits ? 2 : kMost);
  return use;
}

RegisterUse of_access(const SassWord& word, const MemoryInstruction& access, const Reader& fields) {
  constexpr unsigned kUniformMask = 0x3f;  // bits above it belong to other fields
  RegisterUse use;
  switch (access.op) {
    case MemoryOp::wgmma:
      return of_product(word, static_cast<unsigned>(access.width), fields);
    case MemoryOp::bulk:
      return of_bulk(word, fields);
    case MemoryOp::barrier:
      return of_barrier(word, fields);
    case MemoryOp::other:
      use = unknown(fields);
      use.address = use.reads;  // descriptors, coordinates
      return use;
    default:
      break;
  }
  fields.add(use.address, fields.a());
  const bool is_swap = access.op == MemoryOp::atoms_cas || access.op == MemoryOp::atomg_cas ||
                       access.op == MemoryOp::atom_cas;
  if (is_load(access.op)) {
    if (!fields.has_b()) fields.add_uniform(use.address, fields.b() & kUniformMask);
    fields.add(use.writes, fields.d(), registers_in(access.width));
  } else if (access.op == MemoryOp::ldgsts) {
    fields.add(use.address, fields.d());
  } else {
    // Some forms of a generic store have the value in C.
    const bool value_in_c = access.op == MemoryOp::st && fields.has_b();
    fields.add(use.reads, value_in_c ? fields.c() : fields.b(), registers_in(access.width));
    if (is_swap) fields.add(use.reads, fields.c(), registers_in(access.width));
    if (!is_swap && !fields.has_b()) fields.add_uniform(use.address, fields.c() & kUniformMask);
  }
  if (returns_a_value(access.op)) {
    // One form of ATOMS.CAST.SPIN writes, as the only ATOMS, a predicate: whether it swapped.
    constexpr unsigned kSpinForm = 2;
    const bool is_shared = access.op == MemoryOp::atoms || access.op == MemoryOp::atoms_popc ||
                           access.op == MemoryOp::atoms_cas;
    const bool only_says = access.op == MemoryOp::atoms_cas && word.form() == kSpinForm;
    if (!only_says) fields.add(use.writes, fields.d(), registers_in(access.width));
    if (!is_shared || only_says) {
      fields.add_predicate(use.writes, fields.predicate(17), kPredicate);
    }
  }
  return use;
}

}  // namespace

bool is_about(Condition condition, Register predicate) {
  const bool is_of_warp = predicate >= kUniformPredicate;
  const unsigned number = predicate - (is_of_warp ? kUniformPredicate : kPredicate);
  const bool is_of_file =
      (condition & kIsEither) != 0 || ((condition & kIsUniform) != 0) == is_of_warp;
  return is_of_file && (condition & kNoPredicate) == number;
}

RegisterUse registers_of(const SassWord& word, int sm) {
  const Reader fields(word, sm);
  RegisterUse use;
  if (const auto access = memory_instruction(word, sm)) {
    use = of_access(word, *access, fields);
  } else if (const Row* row = find_row(word.opcode(), sm)) {
    use = known(word, *row, fields, sm);
  } else if (is_product_of_warp(word.opcode(), sm)) {
    use = of_product_of_warp(word, fields);
  } else {
    use = unknown(fields);
  }
  if (word.guard() != SassWord::kAlways) {
    const Predicates guards = guards_of(word.opcode(), sm);
    use.condition = condition_of(word.guard(), guards, is_uniform(word.opcode()));
    use.otherwise = guards == Predicates::either ? 0 : use.condition ^ kNegated;
    fields.add_predicate(use.guard, word.guard() & 7, guards);
  }
  return use;
}

}  // namespace warpgauge::metrics
