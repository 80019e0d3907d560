// The PTX parser: variables, their values, registers and types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/emulator/ptx_text.h"

namespace warpgauge::emulator::ptx::ptx_declarations_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<int> bytes(const Variable& variable) {
  std::vector<int> values;
  for (const std::byte byte : variable.initial) values.push_back(std::to_integer<int>(byte));
  return values;
}

template <typename T>
std::vector<T> values(const Variable& variable) {
  std::vector<T> all(variable.initial.size() / sizeof(T));
  std::memcpy(all.data(), variable.initial.data(), all.size() * sizeof(T));
  return all;
}

Variable variable(const std::string& declaration) {
  const Module module = parse_items(declaration);
  EXPECT_THAT(module.variables, SizeIs(1)) << declaration;
  return module.variables.at(0);
}

std::vector<std::string> names(const std::vector<Register>& registers) {
  std::vector<std::string> all;
  for (const Register& reg : registers) all.push_back(reg.name);
  return all;
}

TEST(PtxRegisters, RangesAndLists) {
  const Function function = parse_body(".reg .b32 %r<3>, a;\n.reg .pred q;.reg .b16 x<0>;");
  EXPECT_THAT(names(function.registers), ElementsAre("%r0", "%r1", "%r2", "a", "q"));
  EXPECT_EQ(function.registers[2].type, Type::b32);
  EXPECT_EQ(function.registers[4].type, Type::pred);
}

TEST(PtxRegisters, VectorsAreTheirElements) {
  const Function function = parse_body(
      ".reg .v2 .f32 v<2>; .reg .v4 .b32 q;\n"
      "{ .reg .v2 .f32 q; ld.global.v2.f32 q, [a]; add.f32 v1.y, q.x, %tid.x; }\n"
      "mov.b32 q.w, 1;");
  EXPECT_THAT(names(function.registers), ElementsAre("v0.x", "v0.y", "v1.x", "v1.y", "q.x", "q.y",
                                                     "q.z", "q.w", "q#2.x", "q#2.y"));
  EXPECT_EQ(function.registers[9].type, Type::f32);
  const Operand& loaded = function.body.at(0).operands.at(0);
  EXPECT_EQ(loaded.kind, Operand::Kind::vector);
  ASSERT_THAT(loaded.elements, SizeIs(2));
  EXPECT_EQ(loaded.elements[1].name, "q#2.y");
  const std::vector<Operand>& sum = function.body.at(1).operands;
  EXPECT_EQ(sum.at(0).name, "v1.y");
  EXPECT_EQ(sum.at(1).name, "q#2.x");
  EXPECT_EQ(sum.at(2).name, "%tid.x");
  EXPECT_EQ(function.body.at(2).operands.at(0).name, "q.w");
}

TEST(PtxVariable, PlainOnes) {
  const Variable x = variable(".visible .global .align 8 .b8 x[24];");
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.space, Space::global);
  EXPECT_EQ(x.type, Type::b8);
  EXPECT_EQ(x.bytes, 24u);
  EXPECT_EQ(x.alignment, 8u);
  EXPECT_TRUE(x.is_visible);
  EXPECT_FALSE(x.is_extern);
  EXPECT_THAT(x.initial, IsEmpty());
  EXPECT_EQ(x.text_line, 4);

  const Variable dynamic = variable(".extern .shared .align 16 .b8 dynamic[];");
  EXPECT_EQ(dynamic.space, Space::shared);
  EXPECT_EQ(dynamic.bytes, 0u);
  EXPECT_EQ(dynamic.alignment, 16u);
  EXPECT_TRUE(dynamic.is_extern);

  const Variable vector = variable(".const .v4 .f32 v[2][3];");
  EXPECT_EQ(vector.space, Space::constant);
  EXPECT_EQ(vector.bytes, 96u);
  EXPECT_EQ(vector.alignment, 16u);

  EXPECT_EQ(variable(".global .attribute(.managed) .align 4 .u32 m;").bytes, 4u);
  EXPECT_EQ(variable(".weak .global .attribute(.unified(1, 2)) .u16 m;").alignment, 2u);
  EXPECT_TRUE(variable(".common .global .b32 c;").is_visible);
}

TEST(PtxVariable, SeveralInOneDeclaration) {
  const Module module = parse_items(".global .align 8 .b32 a, b[2] = {1, 2}, c;");
  ASSERT_THAT(module.variables, SizeIs(3));
  EXPECT_EQ(module.variables[1].bytes, 8u);
  EXPECT_THAT(values<int>(module.variables[1]), ElementsAre(1, 2));
  EXPECT_THAT(module.variables[2].initial, IsEmpty());
}

TEST(PtxVariable, Values) {
  EXPECT_THAT(bytes(variable(".global .u8 x = 300;")), ElementsAre(44));
  EXPECT_THAT(values<std::uint64_t>(variable(".global .u64 x = -1;")), ElementsAre(~0ull));
  EXPECT_THAT(values<short>(variable(".global .s16 x[3] = {-1, 0x10};")), ElementsAre(-1, 16, 0));
  EXPECT_THAT(values<float>(variable(".global .f32 x[3] = {1.5, 0f40000000, 0d3FE0000000000000};")),
              ElementsAre(1.5f, 2.0f, 0.5f));
  EXPECT_THAT(values<float>(variable(".global .b32 x = 1.5;")), ElementsAre(1.5f));
  EXPECT_THAT(values<double>(variable(".global .f64 x[2] = {-0.1, 0d3FF0000000000000};")),
              ElementsAre(-0.1, 1.0));
  EXPECT_THAT(bytes(variable(".global .u8 x[2] = {0xFF00(0x1234), 0xFF(0x1234)};")),
              ElementsAre(0x12, 0x34));
}

TEST(PtxVariable, NestedLists) {
  EXPECT_THAT(values<int>(variable(".global .s32 n[2][3] = {{1, 2}, {3}};")),
              ElementsAre(1, 2, 0, 3, 0, 0));
  EXPECT_THAT(values<int>(variable(".global .v2 .s32 n[2] = {{1, 2}};")), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(values<int>(variable(".global .s32 n[2] = {};")), ElementsAre(0, 0));
}

TEST(PtxVariable, AnArrayWithoutSizeTakesThatOfItsList) {
  const Variable numbers = variable(".global .u16 n[] = {1, 2, 3};");
  EXPECT_EQ(numbers.bytes, 6u);
  EXPECT_THAT(values<std::uint16_t>(numbers), ElementsAre(1, 2, 3));
  EXPECT_THAT(values<int>(variable(".global .s32 n[][2] = {{1}, {2, 3}};")),
              ElementsAre(1, 0, 2, 3));
}

TEST(PtxVariable, AddressesAreRelocations) {
  const Variable x = variable(".global .u64 x[4] = {5, generic(y)+8, f, z-4};");
  EXPECT_THAT(values<std::uint64_t>(x), ElementsAre(5, 0, 0, 0));
  ASSERT_THAT(x.relocations, SizeIs(3));
  EXPECT_EQ(x.relocations[0].offset, 8u);
  EXPECT_EQ(x.relocations[0].size, 8);
  EXPECT_EQ(x.relocations[0].name, "y");
  EXPECT_EQ(x.relocations[0].addend, 8);
  EXPECT_TRUE(x.relocations[0].generic);
  EXPECT_EQ(x.relocations[1].offset, 16u);
  EXPECT_EQ(x.relocations[1].name, "f");
  EXPECT_FALSE(x.relocations[1].generic);
  EXPECT_EQ(x.relocations[2].addend, -4);
  EXPECT_EQ(variable(".const .u32 x = y;").relocations.at(0).size, 4);
}

TEST(PtxVariable, AnAddressInEightMaskedBytesIsOneRelocation) {
  const Variable x = variable(
      ".global .align 1 .u8 p[11] = {1, 0XFF(generic(v)+8), 0xFF00(generic(v)+8), "
      "0xFF0000(generic(v)+8), 0xFF000000(generic(v)+8), 0xFF00000000(generic(v)+8), "
      "0xFF0000000000(generic(v)+8), 0xFF000000000000(generic(v)+8), "
      "0xFF00000000000000(generic(v)+8), 3, 0};");
  EXPECT_THAT(bytes(x), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0));
  ASSERT_THAT(x.relocations, SizeIs(1));
  EXPECT_EQ(x.relocations[0].offset, 1u);
  EXPECT_EQ(x.relocations[0].size, 8);
  EXPECT_EQ(x.relocations[0].name, "v");
  EXPECT_EQ(x.relocations[0].addend, 8);
  EXPECT_TRUE(x.relocations[0].generic);
}

TEST(PtxVariable, TheDefinitionWinsOverExternDeclarations) {
  const Module module = parse_items(
      ".extern .global .b32 x[4];\n.visible .global .b32 x[4] = {7};\n.extern .global .b32 x[4];");
  ASSERT_THAT(module.variables, SizeIs(1));
  EXPECT_FALSE(module.variables[0].is_extern);
  EXPECT_THAT(values<int>(module.variables[0]), ElementsAre(7, 0, 0, 0));
}

TEST(PtxType, NamesAndSizes) {
  EXPECT_EQ(bytes_of(Type::b128), 16);
  EXPECT_EQ(bytes_of(Type::bf16x2), 4);
  EXPECT_EQ(bytes_of(Type::f64), 8);
  EXPECT_EQ(bytes_of(Type::pred), 0);
  EXPECT_EQ(bytes_of(Type::none), 0);
  EXPECT_EQ(bytes_of(Type::texref), 0);
  EXPECT_EQ(type_from("e4m3x2"), Type::e4m3x2);
  EXPECT_EQ(type_from("f32"), Type::f32);
  EXPECT_EQ(type_from("f33"), std::nullopt);
  EXPECT_EQ(type_from(""), std::nullopt);
  for (int i = 1; i <= static_cast<int>(Type::surfref); ++i) {
    const Type type = static_cast<Type>(i);
    EXPECT_EQ(type_from(to_string(type)), type);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::ptx::ptx_declarations_test
