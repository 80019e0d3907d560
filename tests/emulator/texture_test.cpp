// Texture sampling against the formulas of the CUDA Programming Guide, "Texture Fetching".
#include "harness/emulator/machine/memory/texture.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace warpgauge::emulator::machine::memory::texture_test {
namespace {

using Address = Texture::Address;

/// A texture of one dimension over values that outlive it.
template <typename Value>
Texture line_of(std::span<const Value> values, Texels::Kind kind) {
  Texture out;
  out.texels.data = reinterpret_cast<const std::byte*>(values.data());
  out.texels.width = values.size();
  out.texels.bits = sizeof(Value) * 8;
  out.texels.kind = kind;
  return out;
}

float sampled(const Texture& texture, float x, float y = 0.5f) {
  TexturePoint point;
  point.at = {x, y, 0.5f};
  return std::bit_cast<float>(sample(texture, point)[0]);
}

class TextureLineTest : public testing::Test {
 protected:
  const std::vector<float> values_ = {10, 20, 40, 80};
  Texture texture_ = line_of(std::span<const float>(values_), Texels::Kind::real);
};

TEST_F(TextureLineTest, PointsTakeTheTexelTheyLieIn) {
  EXPECT_EQ(sampled(texture_, 0.0f), 10);
  EXPECT_EQ(sampled(texture_, 0.99f), 10);
  EXPECT_EQ(sampled(texture_, 1.0f), 20);
  EXPECT_EQ(sampled(texture_, 3.99f), 80);
}

TEST_F(TextureLineTest, LinearFilteringMixesNeighbours) {
  texture_.linear_filter = true;
  EXPECT_EQ(sampled(texture_, 0.5f), 10) << "texels lie in the middle";
  EXPECT_EQ(sampled(texture_, 1.0f), 15);
  EXPECT_EQ(sampled(texture_, 2.75f), 0.75f * 40 + 0.25f * 80);
}

TEST_F(TextureLineTest, WeightsHaveEightBits) {
  texture_.linear_filter = true;
  // 1/256 apart there are two values, in between none.
  const float step = 1.0f / 256;
  EXPECT_EQ(sampled(texture_, 0.5f + step), 10 + 10 * step);
  EXPECT_EQ(sampled(texture_, 0.5f + 0.4f * step), 10);
  EXPECT_EQ(sampled(texture_, 0.5f + 0.6f * step), 10 + 10 * step);
}

TEST_F(TextureLineTest, BesideTheTextureTheModeDecides) {
  texture_.normalised_coordinates = true;
  const auto at = [&](Address mode, float texel) {
    texture_.address[0] = mode;
    return sampled(texture_, (texel + 0.5f) / 4);
  };
  EXPECT_EQ(at(Address::clamp, -2), 10);
  EXPECT_EQ(at(Address::clamp, 9), 80);
  EXPECT_EQ(at(Address::wrap, -1), 80);
  EXPECT_EQ(at(Address::wrap, 5), 20);
  EXPECT_EQ(at(Address::mirror, -1), 10);
  EXPECT_EQ(at(Address::mirror, -2), 20);
  EXPECT_EQ(at(Address::mirror, 4), 80);
  EXPECT_EQ(at(Address::mirror, 7), 10);
  EXPECT_EQ(at(Address::mirror, 8), 10);
  texture_.border = {-1, 0, 0, 0};
  EXPECT_EQ(at(Address::border, -1), -1);
  EXPECT_EQ(at(Address::border, 4), -1);
  EXPECT_EQ(at(Address::border, 3), 80);
}

TEST_F(TextureLineTest, LinearFilteringUsesTheModeForEachTexel) {
  texture_.linear_filter = true;
  texture_.normalised_coordinates = true;
  texture_.address[0] = Address::wrap;
  EXPECT_EQ(sampled(texture_, 0.0f), (80 + 10) / 2.0f);
  texture_.address[0] = Address::clamp;
  EXPECT_EQ(sampled(texture_, 0.0f), 10);
  texture_.address[0] = Address::border;
  EXPECT_EQ(sampled(texture_, 0.0f), 5);
}

TEST_F(TextureLineTest, CoordinatesThatAreNotNumbersAreClamped) {
  for (const bool linear : {false, true}) {
    texture_.linear_filter = linear;
    EXPECT_EQ(sampled(texture_, std::numeric_limits<float>::infinity()), 80);
    EXPECT_EQ(sampled(texture_, -1e30f), 10);
    EXPECT_EQ(sampled(texture_, std::nanf("")), 10);
  }
}

TEST(TextureFormatTest, IntegersAreNormalised) {
  const std::vector<std::uint8_t> bytes = {0, 51, 255};
  Texture texture = line_of(std::span<const std::uint8_t>(bytes), Texels::Kind::unsigned_integer);
  texture.normalised_values = true;
  EXPECT_EQ(sampled(texture, 1.5f), 0.2f);
  EXPECT_EQ(sampled(texture, 2.5f), 1);

  const std::vector<std::int16_t> shorts = {-32768, -32767, 32767};
  texture = line_of(std::span<const std::int16_t>(shorts), Texels::Kind::signed_integer);
  texture.normalised_values = true;
  EXPECT_EQ(sampled(texture, 0.5f), -1);
  EXPECT_EQ(sampled(texture, 1.5f), -1);
  EXPECT_EQ(sampled(texture, 2.5f), 1);
}

TEST(TextureFormatTest, IntegersKeepTheirSign) {
  const std::vector<std::int8_t> bytes = {-5, 7};
  Texture texture = line_of(std::span<const std::int8_t>(bytes), Texels::Kind::signed_integer);
  EXPECT_EQ(static_cast<std::int32_t>(fetch(texture, {0}, 0)[0]), -5);
  texture.texels.kind = Texels::Kind::unsigned_integer;
  EXPECT_EQ(fetch(texture, {0}, 0)[0], 251u);
}

TEST(TextureFormatTest, HalvesAreFloats) {
  // 1.5, -2, the smallest subnormal, infinity
  const std::vector<std::uint16_t> halves = {0x3e00, 0xc000, 0x0001, 0x7c00};
  const Texture texture = line_of(std::span<const std::uint16_t>(halves), Texels::Kind::real);
  EXPECT_EQ(sampled(texture, 0.5f), 1.5f);
  EXPECT_EQ(sampled(texture, 1.5f), -2.0f);
  EXPECT_EQ(sampled(texture, 2.5f), std::ldexp(1.0f, -24));
  EXPECT_EQ(sampled(texture, 3.5f), std::numeric_limits<float>::infinity());
}

TEST(TextureFormatTest, ChannelsComeInOrder) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  Texture texture = line_of(std::span<const float>(values), Texels::Kind::real);
  texture.texels.channels = 4;
  texture.texels.width = 2;
  const Texel texel = fetch(texture, {1}, 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<float>(texel[i]), 5.0f + i);
}

class TexturePlaneTest : public testing::Test {
 protected:
  void SetUp() override {
    texture_ = line_of(std::span<const float>(values_), Texels::Kind::real);
    texture_.texels.dimensions = 2;
    texture_.texels.width = 3;
    texture_.texels.height = 2;
    texture_.texels.pitch = 4 * sizeof(float);
    texture_.texels.slice = 8 * sizeof(float);
  }
  // Two layers of two rows of three, each row with one unused value behind it.
  const std::vector<float> values_ = {1, 2, 3, -9, 5, 6, 8, -9, 11, 12, 13, -9, 15, 16, 18, -9};
  Texture texture_;
};

TEST_F(TexturePlaneTest, RowsArePitched) {
  EXPECT_EQ(sampled(texture_, 2.5f, 1.5f), 8);
  EXPECT_EQ(sampled(texture_, 3.5f, 1.5f), 8) << "clamped, not the unused value";
}

TEST_F(TexturePlaneTest, LinearFilteringMixesFour) {
  texture_.linear_filter = true;
  EXPECT_EQ(sampled(texture_, 2.0f, 1.0f), (2 + 3 + 6 + 8) / 4.0f);
  EXPECT_EQ(sampled(texture_, 1.0f, 0.75f), 0.75f * 1.5f + 0.25f * 5.5f);
}

TEST_F(TexturePlaneTest, GatherTakesTheFourOfTheFilter) {
  TexturePoint point;
  point.at = {2.0f, 1.0f, 0};
  const Texel four = gather(texture_, point, 0);
  const float expected[] = {6, 8, 3, 2};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(std::bit_cast<float>(four[i]), expected[i]);
}

TEST_F(TexturePlaneTest, LayersAreChosenAndClamped) {
  texture_.texels.layered = true;
  texture_.texels.depth = 2;
  TexturePoint point;
  point.at = {0.5f, 0.5f, 0};
  const auto of_layer = [&](std::int64_t layer) {
    point.layer = layer;
    return std::bit_cast<float>(sample(texture_, point)[0]);
  };
  EXPECT_EQ(of_layer(0), 1);
  EXPECT_EQ(of_layer(1), 11);
  EXPECT_EQ(of_layer(7), 11);
}

TEST_F(TexturePlaneTest, VolumesMixEight) {
  texture_.texels.dimensions = 3;
  texture_.texels.depth = 2;
  texture_.linear_filter = true;
  TexturePoint point;
  point.at = {1.0f, 1.0f, 1.0f};
  EXPECT_EQ(std::bit_cast<float>(sample(texture_, point)[0]),
            (1 + 2 + 5 + 6 + 11 + 12 + 15 + 16) / 8.0f);
}

/// A cubemap whose texels have the value of weight() where they lie on the cube from -1 to 1.
class SeamlessCubeTest : public testing::Test {
 protected:
  static constexpr int kSize = 4;
  using Vector = std::array<float, 3>;

  static float weight(const Vector& at) { return at[0] + 2 * at[1] + 3 * at[2]; }

  SeamlessCubeTest() {
    // The middle of each face, and the directions to the right and downwards.
    const Vector faces[6][3] = {
        {{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
        {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},   {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
        {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}}};
    const auto centre = [](int place) { return (2.0f * place + 1) / kSize - 1; };
    for (const auto& [middle, right, down] : faces) {
      for (int y = 0; y < kSize; ++y) {
        for (int x = 0; x < kSize; ++x) {
          values_.push_back(weight(middle) + centre(x) * weight(right) + centre(y) * weight(down));
        }
      }
    }
    texture_ = line_of(std::span<const float>(values_), Texels::Kind::real);
    texture_.texels.width = texture_.texels.height = kSize;
    texture_.texels.depth = 6;
    texture_.texels.pitch = kSize * sizeof(float);
    texture_.texels.slice = kSize * texture_.texels.pitch;
    texture_.texels.dimensions = 2;
    texture_.texels.cubemap = true;
    texture_.normalised_coordinates = texture_.linear_filter = texture_.seamless = true;
  }

  float sampled(const Vector& direction) const {
    return std::bit_cast<float>(sample(texture_, {.at = direction, .layer = 0})[0]);
  }

  std::vector<float> values_;
  Texture texture_;
};

TEST_F(SeamlessCubeTest, EdgesMixTheTexelsOfBothFaces) {
  for (int along = 0; along < 3; ++along) {
    for (const float side : {-1.0f, 1.0f}) {
      for (const float other : {-1.0f, 1.0f}) {
        for (const float place : {-0.5f, 0.0f, 0.5f}) {  // where texels meet
          Vector edge{}, mean{};
          edge[along] = mean[along] = place;
          edge[(along + 1) % 3] = side;
          edge[(along + 2) % 3] = other;
          // The texels next to the edge lie at 1 in one direction and at 0.75 in the other.
          mean[(along + 1) % 3] = 0.875f * side;
          mean[(along + 2) % 3] = 0.875f * other;
          EXPECT_NEAR(sampled(edge), weight(mean), 1e-5) << along << ' ' << side << ' ' << other;
        }
      }
    }
  }
}

TEST_F(SeamlessCubeTest, CornersMixThree) {
  for (const float x : {-1.0f, 1.0f}) {
    for (const float y : {-1.0f, 1.0f}) {
      for (const float z : {-1.0f, 1.0f}) {
        EXPECT_NEAR(sampled({x, y, z}), weight({x, y, z}) * 2.5f / 3, 1e-5);
      }
    }
  }
}

TEST_F(SeamlessCubeTest, WithoutItFacesEndAtTheirEdges) {
  texture_.seamless = false;
  EXPECT_NEAR(sampled({1, 0, 1}), weight({0.75f, 0, 1}), 1e-5) << "of the last face";
}

}  // namespace
}  // namespace warpgauge::emulator::machine::memory::texture_test
