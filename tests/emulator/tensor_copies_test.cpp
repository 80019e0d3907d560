// Tensor maps and tensor copies against what an H200 makes of them (data/tensor_copies/h200.txt).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "harness/emulator/machine/memory/tensor_box.h"
#include "harness/emulator/machine/memory/tensor_map.h"

namespace warpgauge::emulator::machine::memory::tensor_copies_test {
namespace {

constexpr std::uint32_t kWords = 1 << 20;  // of the tensor's memory
constexpr std::uint32_t kSharedWords = 1 << 15;

constexpr std::uint32_t kAlignedWords = 16;
struct alignas(64) Aligned {
  std::uint32_t words[kAlignedWords];
};

struct Case {
  BoxDirection direction = BoxDirection::load;
  TensorMap map;
  BoxPlace place;
  std::uint32_t address = 0;
  std::string outcome;  ///< "refused", "illegal", or the hash of `bytes` bytes
  std::uint32_t bytes = 0;
};

template <typename Enum>
Enum number_of(std::istream& in) {
  int number = 0;
  in >> number;
  return static_cast<Enum>(number);
}

Case case_of(const std::string& line) {
  std::istringstream in(line);
  Case out;
  TensorMap& map = out.map;
  std::string direction, mode;
  in >> direction >> mode;
  out.direction = direction == "load" ? BoxDirection::load : BoxDirection::store;
  map.mode = mode == "tiled" ? TensorMap::Mode::tiled : TensorMap::Mode::im2col;
  map.type = number_of<TensorMap::Type>(in);
  in >> map.rank;
  map.interleave = number_of<TensorMap::Interleave>(in);
  map.swizzle = number_of<Swizzle>(in);
  map.fill = number_of<TensorMap::Fill>(in);
  for (int i = 0; i < map.rank; ++i) in >> map.size[i];
  for (int i = 1; i < map.rank; ++i) in >> map.stride[i - 1];
  for (int i = 0; i < map.rank; ++i) in >> map.step[i];
  if (map.mode == TensorMap::Mode::im2col) {
    for (int i = 0; i < map.spatial_dimensions(); ++i) in >> map.lower[i];
    for (int i = 0; i < map.spatial_dimensions(); ++i) in >> map.upper[i];
    in >> map.channels >> map.pixels;
  } else {
    for (int i = 0; i < map.rank; ++i) in >> map.box[i];
  }
  for (int i = 0; i < map.rank; ++i) in >> out.place.coordinates[i];
  if (map.mode == TensorMap::Mode::im2col) {
    for (int i = 0; i < map.spatial_dimensions(); ++i) in >> out.place.offsets[i];
  }
  in >> out.address >> out.outcome;
  if (std::isdigit(out.outcome[0])) {
    out.bytes = static_cast<std::uint32_t>(std::stoul(out.outcome));
    in >> out.outcome;
  }
  EXPECT_TRUE(in) << line;
  return out;
}

std::string hash_of(const void* memory, std::uint32_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const std::uint8_t*>(memory)[i]) * 0x100000001b3;
  }
  std::ostringstream text;
  text.width(16);
  text.fill('0');
  text << std::hex << hash;
  return text.str();
}

std::string outcome_of(Case& now, std::span<std::uint32_t> tensor) {
  now.map.address = reinterpret_cast<std::uint64_t>(tensor.data());
  if (broken_rule(now.map, 90)) return "refused";
  if (broken_place(now.map, now.place, now.direction)) return "illegal";
  std::vector<std::uint32_t> shared(kSharedWords, 0xeeeeeeee);
  auto* const bytes = reinterpret_cast<std::byte*>(shared.data());
  if (now.direction == BoxDirection::load) {
    load_box(now.map, now.place, bytes, now.address);
    return hash_of(shared.data(), now.bytes);
  }
  for (std::uint32_t i = 0; i < kSharedWords; ++i) shared[i] = i * 2246822519u + 374761393u;
  store_box(now.map, now.place, bytes, now.address);
  return hash_of(tensor.data(), now.bytes);
}

TEST(TensorCopiesTest, AreThoseOfAnH200) {
  std::ifstream file(std::string(WARPGAUGE_TEST_DATA) + "/tensor_copies/h200.txt");
  ASSERT_TRUE(file);
  std::vector<Aligned> load_memory(kWords / kAlignedWords), store_memory = load_memory;
  const std::span loaded(load_memory.front().words, kWords);
  const std::span stored(store_memory.front().words, kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) loaded[i] = (i + (1u << 19)) * 2654435761u;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    Case now = case_of(line);
    const bool loads = now.direction == BoxDirection::load;
    if (!loads) std::ranges::fill(stored, 0xeeeeeeee);
    EXPECT_EQ(outcome_of(now, loads ? loaded : stored), now.outcome) << line;
    ++cases;
  }
  EXPECT_GT(cases, 700);
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory::tensor_copies_test
