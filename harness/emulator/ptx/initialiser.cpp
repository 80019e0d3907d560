// The initial value of a variable: numbers, addresses, and lists of them.
#include "harness/emulator/ptx/initialiser.h"

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "harness/emulator/ptx/constants.h"

namespace warpgauge::emulator::ptx {
namespace {

/// `name`, `name+8`, `generic(name)`, `generic(name)+8`.
struct Address {
  std::string name;
  std::int64_t addend = 0;
  bool generic = false;
  bool operator==(const Address&) const = default;
};

/// One byte of an address, as packed structures have them: 0xFF00(generic(name)+8).
struct AddressByte {
  std::size_t offset = 0;  // in the variable
  int index = 0;           // of the byte in the address, from the lowest
  Address address;
  Token at;
};

constexpr int kAddressBytes = 8;

bool is_float(Type type) { return type == Type::f32 || type == Type::f64; }
bool is_bits(Type type) { return type == Type::b32 || type == Type::b64; }

/// The bits that `value` has in an element of this type; nothing where it does not fit.
std::optional<std::uint64_t> converted(Constant value, Type type) {
  const bool wide = bytes_of(type) == 8;
  if (!value.is_real()) return is_float(type) ? std::nullopt : std::optional(value.bits);
  if (!is_float(type) && !is_bits(type)) return std::nullopt;
  if (value.type == Type::f32) return wide ? std::nullopt : std::optional(value.bits);
  if (wide) return value.bits;
  return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
}

class Initialiser {
 public:
  Initialiser(TokenStream& stream, const Extents& extents, Variable& variable,
              std::uint64_t most_bytes)
      : stream_(stream),
        extents_(extents),
        variable_(variable),
        size_(bytes_of(variable.type)),
        most_bytes_(most_bytes) {}

  void parse() {
    if (!extents_.empty() && extents_[0] == kUnsized) {
      parse_growing();
    } else {
      grow(variable_.bytes);
      fill(0, 0, variable_.bytes);
    }
    join_address_bytes();
  }

 private:
  /// The outermost extent is not known: the variable grows with the list.
  void parse_growing() {
    std::uint64_t stride = static_cast<std::uint64_t>(size_);
    for (std::size_t i = 1; i < extents_.size(); ++i) stride *= extents_[i];
    if (stride == 0) {
      stream_.fail(stream_.peek(), "an array of empty arrays cannot have values",
                   "Give all extents.");
    }
    stream_.expect("{", "for the elements of an array of no declared size");
    do {
      const std::uint64_t at = variable_.bytes;
      grow(at + stride);
      fill(1, at, stride);
    } while (stream_.accept(","));
    stream_.expect("}", "at the end of the list");
  }

  /// Neither operand of a sum that gets here exceeds 1 TiB.
  void grow(std::uint64_t bytes) {
    if (bytes > most_bytes_) {
      stream_.fail(stream_.peek(), "the initialisers of this module are too long",
                   "At most 64 MiB are supported, and 4 bytes for each byte of the text: fill the "
                   "variable with cudaMemcpyToSymbol.");
    }
    variable_.bytes = bytes;
    variable_.initial.resize(bytes);
  }

  /// One element of dimension `depth - 1`: `bytes` of them, from `offset`.
  void fill(std::size_t depth, std::uint64_t offset, std::uint64_t bytes) {
    if (depth == extents_.size()) return put_scalar(offset);
    const Nested nested(stream_);
    stream_.expect("{", "for the elements of an array or vector");
    if (stream_.accept("}")) return;
    const std::uint64_t stride = extents_[depth] == 0 ? 0 : bytes / extents_[depth];
    for (std::uint64_t i = 0; i == 0 || stream_.accept(","); ++i) {
      if (i == extents_[depth]) {
        stream_.fail(stream_.peek(), "more values than the array has elements",
                     "It has " + std::to_string(i) + ": declare more, or list fewer.");
      }
      fill(depth + 1, offset + i * stride, stride);
    }
    stream_.expect("}", "at the end of the list");
  }

  void put_scalar(std::uint64_t offset) {
    const Token start = stream_.peek();
    if (stream_.at(Token::Kind::name) && !at_constant(stream_)) {
      return put_address(offset, parse_address(), start);
    }
    const Constant value = parse_constant(stream_);
    if (stream_.at("(")) return put_byte_of(value, offset, start);
    put(value, offset, start);
  }

  Address parse_address() {
    Address address;
    address.name = stream_.expect(Token::Kind::name, "the name of a variable or function").text;
    if (address.name == "generic" && stream_.accept("(")) {
      address.generic = true;
      address.name = stream_.expect(Token::Kind::name, "the name of a variable").text;
      stream_.expect(")", "after the name");
    }
    if (!stream_.at("+") && !stream_.at("-")) return address;
    const Token start = stream_.peek();
    const Constant addend = parse_constant(stream_);
    if (addend.is_real()) {
      stream_.fail(start, "an address plus a number that is not an integer", "Add bytes.");
    }
    address.addend = static_cast<std::int64_t>(addend.bits);
    return address;
  }

  void put(Constant value, std::uint64_t offset, const Token& start) {
    const auto bits = converted(value, variable_.type);
    if (!bits) {
      stream_.fail(start, "this value does not fit ." + std::string(to_string(variable_.type)),
                   "Give integers to integer types, reals (1.5, 0f..., 0d...) to .f32, .f64, .b32 "
                   "and .b64; 0f... is not a value for 8 bytes.");
    }
    std::memcpy(variable_.initial.data() + offset, &*bits, size_);
  }

  void put_address(std::uint64_t offset, Address address, const Token& start) {
    if (is_float(variable_.type) || size_ < 4) {
      stream_.fail(start, "an address does not fit ." + std::string(to_string(variable_.type)),
                   "Addresses go into .u64, .b64, .u32 or .b32.");
    }
    variable_.relocations.push_back(
        {offset, size_, std::move(address.name), address.addend, address.generic});
  }

  /// `mask(address)` or `mask(number)`: the byte that the mask selects.
  void put_byte_of(Constant mask, std::uint64_t offset, const Token& start) {
    const int index = mask.bits == 0 ? 0 : std::countr_zero(mask.bits) / 8;
    if (mask.is_real() || mask.bits != std::uint64_t{0xFF} << (8 * index) || size_ != 1) {
      stream_.fail(start, "a mask that does not select one byte for a one-byte element",
                   "Use 0xFF, 0xFF00, 0xFF0000, ... in an array of .u8 or .b8.");
    }
    stream_.expect("(", "after the mask");
    if (stream_.at(Token::Kind::name) && !at_constant(stream_)) {
      address_bytes_.push_back({offset, index, parse_address(), start});
    } else {
      const Constant value = parse_constant(stream_);
      if (value.is_real()) stream_.fail(start, "a mask of a real number", "Use an integer.");
      put({Type::u64, (value.bits & mask.bits) >> (8 * index)}, offset, start);
    }
    stream_.expect(")", "after what is masked");
  }

  /// Eight bytes of one address in a row are one relocation.
  void join_address_bytes() {
    for (std::size_t i = 0; i < address_bytes_.size(); i += kAddressBytes) {
      const AddressByte& first = address_bytes_[i];
      for (int k = 0; k < kAddressBytes; ++k) {
        const bool next = i + k < address_bytes_.size() && address_bytes_[i + k].index == k &&
                          address_bytes_[i + k].offset == first.offset + k &&
                          address_bytes_[i + k].address == first.address;
        if (next) continue;
        stream_.fail(first.at, "only some bytes of an address are stored",
                     "List all eight, from the lowest: 0xFF(name), 0xFF00(name), ...");
      }
      variable_.relocations.push_back({first.offset, kAddressBytes, first.address.name,
                                       first.address.addend, first.address.generic});
    }
  }

  TokenStream& stream_;
  const Extents& extents_;
  Variable& variable_;
  int size_;  // of an element
  std::uint64_t most_bytes_;
  std::vector<AddressByte> address_bytes_;
};

void require_values(const TokenStream& stream, Type type) {
  const int size = bytes_of(type);
  const bool refused = size == 0 || size > 8 || type == Type::f16 || type == Type::bf16 ||
                       type == Type::f16x2 || type == Type::bf16x2;
  if (!refused) return;
  stream.fail(stream.peek(), "no initial value is possible for ." + std::string(to_string(type)),
              "Declare it .b16 or .b32 and write the bits.");
}

}  // namespace

void parse_initialiser(TokenStream& stream, const Extents& extents, Variable& variable,
                       std::uint64_t most_bytes) {
  require_values(stream, variable.type);
  Initialiser(stream, extents, variable, most_bytes).parse();
}

}  // namespace warpgauge::emulator::ptx
