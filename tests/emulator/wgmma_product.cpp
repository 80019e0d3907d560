// Lays out, runs and checks products of wgmma.
#include "tests/emulator/wgmma_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "tests/emulator/alu_check.h"
#include "tests/emulator/small_float.h"

namespace warpgauge::emulator::machine {
namespace {

constexpr int kRows = 64, kThreads = 128;
constexpr std::uint32_t kSharedBytes = 96 * 1024, kBegin[] = {4096, 32768};  // of A, of B

/// Small whole numbers, so that sums are exact in any order and in f16.
template <const SmallFormat* kFormat>
std::uint64_t make_small(std::mt19937_64& random) {
  static const auto numbers = [] {
    std::array<std::uint64_t, 7> result{};
    for (int n = 0; n < 7; ++n) result[n] = rounded(*kFormat, n - 3, Mode::rn);
    return result;
  }();
  return numbers[random() % numbers.size()];
}
template <const SmallFormat* kFormat>
double value_of_small(std::uint64_t bits) {
  return value_of(*kFormat, bits);
}
std::uint64_t make_byte(std::mt19937_64& random) { return random() & 0xff; }

using Elements = std::vector<std::vector<std::uint64_t>>;  // [along m or n][along k]

Elements random_elements(std::mt19937_64& random, const TileElement& element, int mn, int k) {
  Elements result(static_cast<std::size_t>(mn), std::vector<std::uint64_t>(k));
  for (auto& row : result) {
    for (std::uint64_t& bits : row) bits = element.make(random);
  }
  return result;
}

using TileValues = std::vector<std::vector<double>>;
TileValues values_of(const Elements& elements, const TileElement& element) {
  TileValues result;
  for (const auto& row : elements) {
    std::vector<double>& values = result.emplace_back();
    for (const std::uint64_t bits : row) values.push_back(element.value(bits));
  }
  return result;
}

/// ((extent, ...)):((stride, ...)) of one dimension, in bits, as CuTe writes it; the last extent
/// has no limit.
struct Mode1 {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts;
  std::uint32_t operator()(std::uint32_t at) const {
    std::uint32_t offset = 0;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      const auto [extent, stride] = parts[n];
      const bool is_last = n + 1 == parts.size();
      offset += (is_last ? at : at % extent) * stride;
      at /= extent;
    }
    return offset;
  }
};

/// A tile in shared memory with its descriptor.
struct Tile {
  Mode1 mn, k;
  std::uint32_t begin;
  std::uint32_t swizzle_mask;
  std::uint64_t descriptor;

  Tile(const TilePlace& place, int bits, int extent, std::uint32_t at) {
    const std::uint32_t size = bits, t = 128 / size, w = std::max(place.swizzle_bytes / 16, 1);
    const std::uint32_t atoms = static_cast<std::uint32_t>(extent + 7) / 8;
    std::uint32_t leading = 16, stride = 0;  // bytes
    if (!place.is_mn_major) {
      stride = 8 * 16 * w + place.padding;
      leading = atoms * stride + place.padding;
      mn = {{{8, 128 * w}, {1, 8 * stride}}};
      k = {{{t, size}, {w, 128}, {1, 8 * leading}}};
    } else if (w == 1) {
      stride = 8 * 16 + place.padding;
      leading = atoms * stride + place.padding;
      mn = {{{t, size}, {1, 8 * stride}}};
      k = {{{8, 128}, {1, 8 * leading}}};
    } else {
      stride = 8 * 16 * w + place.padding;
      leading = 4 * stride + place.padding;
      mn = {{{t, size}, {w, 128}, {1, 8 * leading}}};
      k = {{{8, 128 * w}, {1, 8 * stride}}};
    }
    swizzle_mask = w - 1;
    begin = at + 128 * static_cast<std::uint32_t>(place.base_offset);
    descriptor = tile_descriptor(begin, leading, stride, place.swizzle_bytes, place.base_offset);
  }

  /// Swizzle<B, 4, 3> of the place in the tile.
  std::uint32_t bit(std::uint32_t row, std::uint32_t depth) const {
    const std::uint32_t plain = mn(row) + k(depth), bytes = plain / 8;
    return 8 * (begin + (bytes ^ ((bytes >> 7 & swizzle_mask) << 4))) + plain % 8;
  }
  void fill(Words& shared, const Elements& elements, int bits) const {
    for (std::uint32_t row = 0; row < elements.size(); ++row) {
      for (std::uint32_t depth = 0; depth < elements[row].size(); ++depth) {
        const std::uint32_t at = bit(row, depth);
        const std::uint32_t ones = bits == 32 ? ~0u : (1u << bits) - 1;
        std::uint32_t& word = shared.at(at / 32);
        word &= ~(ones << at % 32);
        word |= static_cast<std::uint32_t>(elements[row][depth]) << at % 32;
      }
    }
  }
};

/// A sparse matrix: the elements that it has, and where along k they belong.
struct Sparse {
  std::vector<std::vector<int>> at;
  std::vector<std::vector<std::uint32_t>> metadata;  ///< 4 bits of a group
};
Sparse random_places(std::mt19937_64& random, const TileProduct& product) {
  Sparse result;
  const bool one_of_two = product.a->bits == 32;
  for (int row = 0; row < kRows; ++row) {
    std::vector<int> at;
    std::vector<std::uint32_t> metadata;
    for (int group = 0; group < product.k() / (one_of_two ? 2 : 4); ++group) {
      if (one_of_two) {
        const int place = static_cast<int>(random() % 2);
        at.push_back(2 * group + place);
        metadata.push_back(place == 0 ? 0b0100 : 0b1110);
      } else {
        int first = static_cast<int>(random() % 4), second = static_cast<int>(random() % 3);
        second += second >= first ? 1 : 0;
        if (first > second) std::swap(first, second);
        at.insert(at.end(), {4 * group + first, 4 * group + second});
        metadata.push_back(static_cast<std::uint32_t>(first | second << 2));
      }
    }
    result.at.push_back(at);
    result.metadata.push_back(metadata);
  }
  return result;
}

/// The metadata of a thread, by CUTLASS's ELayout_64x16, ELayout_64x32 and ELayout_64x64.
std::uint32_t metadata_of(const Sparse& sparse, const TileProduct& product, int thread) {
  const int t = thread % 4, row = thread / 32 * 16 + thread % 32 / 4;
  const auto nibbles = [&](int r, int first, int count) {
    std::uint32_t bits = 0;
    for (int n = 0; n < count; ++n) bits |= sparse.metadata[r][first + n] << 4 * n;
    return bits;
  };
  if (product.a->bits == 8) return nibbles(row + t % 2 * 8, t / 2 * 8, 8);
  if (t / 2 != product.selector) return 0x12345678;  // is not looked at
  return nibbles(row, t % 2 * 4, 4) | nibbles(row + 8, t % 2 * 4, 4) << 16;
}

/// Registers of A (PTX ISA, "Register fragments" of wgmma): 32 bits of row g or g + 8.
std::uint32_t fragment(const Elements& a, int bits, int thread, int number) {
  const int row = thread / 32 * 16 + thread % 32 / 4 + number % 2 * 8;
  const int count = 32 / bits, first = thread % 4 * count + number / 2 * 4 * count;
  std::uint32_t word = 0;
  for (int n = 0; n < count; ++n) {
    word |= static_cast<std::uint32_t>(a[row][first + n]) << n * bits;
  }
  return word;
}

struct Sum {
  int row, column;
};
Sum place_of_sum(int thread, int i) {
  return {thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2};
}

std::uint32_t bits_of_sum(const TileProduct& product, double value) {
  if (product.is_integer()) return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  if (product.sum == std::string("f16")) return rounded(kF16, value, Mode::rn);
  return static_cast<std::uint32_t>(to_bits(static_cast<float>(value)));
}
double value_of_sum(const TileProduct& product, std::uint32_t bits) {
  if (product.is_integer()) return static_cast<std::int32_t>(bits);
  return value_of(product.sum == std::string("f16") ? kF16 : kF32, bits);
}

std::string product_kernel(const TileProduct& product, std::uint64_t a_descriptor,
                           std::uint64_t b_descriptor) {
  const int registers = product.n / (product.sum == std::string("f16") ? 4 : 2);
  std::ostringstream text;
  text << ".reg .b32 %d<128>, %a<4>, %meta;\n.reg .b64 %da, %db;\n.reg .pred %adds;\n"
       << "setp.ne.s32 %p9, %r1, %r0;\n@%p9 exit;\n"  // only the first block has work
       << "setp." << (product.adds ? "eq" : "ne") << ".s32 %adds, %r0, %r0;\n"
       << "mov.u32 %r3, tiles;\nmov.u32 %r4, %r0;\n"
       << "fill:\nmul.wide.u32 %rd3, %r4, 4;\nadd.u64 %rd3, %rd2, %rd3;\n"
       << "ld.global.b32 %r5, [%rd3];\nshl.b32 %r6, %r4, 2;\nadd.u32 %r6, %r6, %r3;\n"
       << "st.shared.b32 [%r6], %r5;\nadd.u32 %r4, %r4, 128;\n"
       << "setp.lt.u32 %p1, %r4, " << kSharedBytes / 4 << ";\n@%p1 bra fill;\n"
       << "mad.wide.u32 %rd4, %r0, 4, %rd2;\n";
  std::uint32_t at = kSharedBytes;
  const auto load = [&](const std::string& name) {
    text << "ld.global.b32 " << name << ", [%rd4+" << at << "];\n";
    at += 4 * kThreads;
  };
  for (int i = 0; i < 4; ++i) load("%a" + std::to_string(i));
  load("%meta");
  for (int i = 0; i < registers; ++i) load("%d" + std::to_string(i));
  text << "bar.sync 0;\n"
       << "wgmma.fence.sync.aligned;\n"
       << product.instruction(a_descriptor, b_descriptor)
       << "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
       << "mad.wide.u32 %rd5, %r0, 4, %rd0;\n";
  for (int i = 0; i < registers; ++i) {
    text << "st.global.b32 [%rd5+" << 4 * kThreads * i << "], %d" << i << ";\n";
  }
  return kernel_text(text.str(), ".extern .shared .align 1024 .b8 tiles[];\n");
}

}  // namespace

const TileElement kTileF16{"f16", 16, make_small<&kF16>, value_of_small<&kF16>};
const TileElement kTileBF16{"bf16", 16, make_small<&kBF16>, value_of_small<&kBF16>};
const TileElement kTileTF32{
    "tf32", 32, [](std::mt19937_64& r) { return make_small<&kTF32>(r) << 13 | (r() & 0x1fff); },
    [](std::uint64_t a) { return value_of(kTF32, a >> 13); }};
const TileElement kTileE4M3{"e4m3", 8, make_small<&kE4M3>, value_of_small<&kE4M3>};
const TileElement kTileE5M2{"e5m2", 8, make_small<&kE5M2>, value_of_small<&kE5M2>};
const TileElement kTileS8{"s8", 8, make_byte,
                          [](std::uint64_t a) { return 1.0 * static_cast<std::int8_t>(a); }};
const TileElement kTileU8{"u8", 8, make_byte,
                          [](std::uint64_t a) { return 1.0 * static_cast<std::uint8_t>(a); }};
const TileElement kTileB1{"b1", 1, [](std::mt19937_64& r) { return r() & 1; },
                          [](std::uint64_t a) { return 1.0 * static_cast<double>(a); }};

std::uint64_t tile_descriptor(std::uint32_t begin, std::uint32_t leading, std::uint32_t stride,
                              int swizzle_bytes, int base_offset) {
  const std::uint64_t mode = swizzle_bytes == 0 ? 0 : 256 / swizzle_bytes / 2;
  const std::uint64_t modes[] = {0, 1, 2, 0, 3};  // 128, 64 and 32 bytes
  return begin >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
         static_cast<std::uint64_t>(base_offset) << 49 | modes[mode] << 62;
}

std::string TileProduct::form() const {
  std::ostringstream text;
  text << "m64n" << n << "k" << k() << '.' << sum << '.' << a->name << '.' << b->name;
  return text.str();
}

std::string TileProduct::instruction(std::uint64_t a_descriptor, std::uint64_t b_descriptor) const {
  std::ostringstream text;
  text << "mov.u64 %da, " << a_descriptor << ";\nmov.u64 %db, " << b_descriptor << ";\n"
       << "wgmma.mma_async" << (sparse ? ".sp" : "") << ".sync.aligned." << form()
       << (a->bits == 1 ? ".and.popc" : "") << (saturates ? ".satfinite" : "") << " {";
  const int registers = n / (sum == std::string("f16") ? 4 : 2);
  for (int i = 0; i < registers; ++i) text << (i == 0 ? "" : ", ") << "%d" << i;
  text << "}, " << (a_is_in_registers ? "{%a0, %a1, %a2, %a3}" : "%da") << ", %db, ";
  if (sparse) text << "%meta, " << selector << ", ";
  text << "%adds";
  if (!is_integer()) text << (negates_a ? ", -1" : ", 1") << (negates_b ? ", -1" : ", 1");
  if (a->bits == 16) {
    if (!a_is_in_registers) text << ", " << a_place.is_mn_major;
    text << ", " << b_place.is_mn_major;
  }
  text << ";\n";
  return text.str();
}

void expect_tile_product(const TileProduct& product, bool large) {
  std::mt19937_64 random(static_cast<unsigned>(product.n + product.k()));
  const int k = product.k(), depth_of_a = product.sparse ? k / 2 : k;
  Elements a = random_elements(random, *product.a, kRows, depth_of_a);
  const Elements b = random_elements(random, *product.b, product.n, k);
  const TileValues a_values = values_of(a, *product.a), b_values = values_of(b, *product.b);
  const Sparse sparse = product.sparse ? random_places(random, product) : Sparse{};
  const Tile a_tile(product.a_place, product.a->bits, kRows, kBegin[0]);
  const Tile b_tile(product.b_place, product.b->bits, product.n, kBegin[1]);

  Words input(kSharedBytes / 4, 0xffffffff);  // NaN where no element is
  if (!product.a_is_in_registers) a_tile.fill(input, a, product.a->bits);
  b_tile.fill(input, b, product.b->bits);
  for (int i = 0; i < 4; ++i) {
    for (int thread = 0; thread < kThreads; ++thread) {
      input.push_back(fragment(a, product.a->bits, thread, i));
    }
  }
  for (int thread = 0; thread < kThreads; ++thread) {
    input.push_back(product.sparse ? metadata_of(sparse, product, thread) : 0);
  }
  const bool has_halves = product.sum == std::string("f16");
  const int registers = product.n / (has_halves ? 4 : 2), per_register = has_halves ? 2 : 1;
  std::vector<double> expected(static_cast<std::size_t>(registers * per_register * kThreads));
  for (int i = 0; i < registers; ++i) {
    for (int thread = 0; thread < kThreads; ++thread) {
      std::uint32_t word = 0;
      for (int half = 0; half < per_register; ++half) {
        double before = static_cast<double>(random() % 17) - 8;
        if (large) before = random() % 2 == 0 ? 0x7fffff00 : -0x7fffff00;
        word |= bits_of_sum(product, before) << 16 * half;
        const Sum place = place_of_sum(thread, i * per_register + half);
        double sum = 0;
        for (int n = 0; n < depth_of_a; ++n) {
          const int at = product.sparse ? sparse.at[place.row][n] : n;
          sum += a_values[place.row][n] * b_values[place.column][at];
        }
        if (product.negates_a != product.negates_b) sum = -sum;
        if (product.adds) sum += before;
        if (product.saturates) sum = std::clamp(sum, -0x1p31, 0x1p31 - 1);
        if (product.is_integer()) sum = static_cast<std::int32_t>(static_cast<std::int64_t>(sum));
        expected[(i * per_register + half) * kThreads + thread] = sum;
      }
      input.push_back(word);
    }
  }

  const std::string text = product_kernel(product, a_tile.descriptor, b_tile.descriptor);
  Shape shape;
  shape.grid = {static_cast<std::uint32_t>(registers), 1, 1};
  shape.block = {kThreads, 1, 1};
  shape.dynamic_shared_bytes = kSharedBytes;
  for (const isa::Isa* const isa : arithmetic_instruction_sets()) {
    SCOPED_TRACE(product.form() + " on " + isa->name);
    setenv("WARPGAUGE_ISA", isa->name, 1);
    const KernelRun run = run_kernel(text, shape, input);
    unsetenv("WARPGAUGE_ISA");
    for (int i = 0; i < registers * per_register; ++i) {
      for (int thread = 0; thread < kThreads; ++thread) {
        const std::uint32_t word = run.output[i / per_register * kThreads + thread];
        const std::uint32_t bits = has_halves ? word >> i % 2 * 16 & 0xffff : word;
        ASSERT_EQ(value_of_sum(product, bits), expected[i * kThreads + thread])
            << "thread " << thread << ", sum " << i;
      }
    }
  }
}

}  // namespace warpgauge::emulator::machine
