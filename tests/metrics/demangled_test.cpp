// Names of kernels and types, also ones that are made to exhaust the demangler.
#include "metrics/base/demangled.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace warpgauge::demangled_test {
namespace {

TEST(Demangled, AsPeopleWriteThem) {
  EXPECT_EQ(metrics::demangled("_Z10by_columnsILi32EEvPiPKi"),
            "void by_columns<32>(int*, int const*)");
  EXPECT_EQ(metrics::demangled("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(metrics::demangled(""), "");
  EXPECT_EQ(metrics::demangled("f"), "f") << "which is the type float, too";
}

/// "_Z1f" and a part, `count` times, between what is around all of them.
std::string repeated(const std::string& before, const std::string& part, std::size_t count,
                     const std::string& behind) {
  std::string name = "_Z1f" + before;
  for (std::size_t i = 0; i < count; ++i) name += part;
  return name + behind;
}

/// The parts of a name that are pairs of the part before: 2^count types.
std::string doubled(std::size_t count) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fSt4pairIiiE";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string last = "S" + std::string(1, kDigits[i]) + "_";
    name += "S_I" + last + last + "E";
  }
  return name;
}

TEST(Demangled, LongNamesToo) {
  const std::string name = repeated("I", "NSt3__14pairE", 160, "EvT_");
  EXPECT_GT(name.size(), 1024u) << "from where on the C++ library gives up";
  EXPECT_TRUE(metrics::demangled(name).starts_with("void f<std::__1::pair, std::__1::pair, "));
  EXPECT_TRUE(metrics::demangled(name).ends_with("std::__1::pair>(std::__1::pair)"));
  EXPECT_EQ(metrics::shown_name(name).size(), 2003u);
  EXPECT_EQ(metrics::plain_name(metrics::demangled(name)), "f");
}

TEST(Demangled, NotLongerThan16384Characters) {
  const std::string longest = "_Z16376" + std::string(16'376, 'a') + "v";
  EXPECT_EQ(metrics::demangled(longest), std::string(16'376, 'a') + "()");
  const std::string longer = "_Z16377" + std::string(16'377, 'a') + "v";
  EXPECT_EQ(metrics::demangled(longer), longer);
  const std::string megabytes = repeated("", "P", 4'000'000, "i");
  EXPECT_EQ(metrics::demangled(megabytes), megabytes);
}

TEST(Demangled, NamesThatWouldOverflowTheStackOrTakeForever) {
  EXPECT_TRUE(metrics::demangled(doubled(5)).starts_with("f(std::pair<int, int>, std::pair<"));
  for (const std::string& name :
       {doubled(34), repeated("", "P", 16'000, "i"), repeated("", "F", 8'000, ""),
        repeated("I", "1AIiE", 1'600, "Ev") + repeated("", "RT_", 2'700, "").substr(4),
        repeated("IiEv", "1AIRT_E", 2'300, ""), repeated("", "1AI", 4'000, "i")}) {
    EXPECT_EQ(metrics::demangled(name), name);
  }
}

TEST(Demangled, WithoutTheTypesThatAFunctionReturnsAndTakes) {
  EXPECT_EQ(metrics::without_types("void by_columns<32>(int*, int const*)"), "by_columns<32>");
  EXPECT_EQ(metrics::without_types("a<b (*)(c)>::d(int)"), "a<b (*)(c)>::d");
  EXPECT_EQ(metrics::without_types("int (anonymous namespace)::f<1>(int)"),
            "(anonymous namespace)::f<1>");
  EXPECT_EQ(metrics::without_types("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
}

TEST(Demangled, PlainNames) {
  EXPECT_EQ(metrics::plain_name("void by_columns<32>(int*, int const*)"), "by_columns");
  EXPECT_EQ(metrics::plain_name(
                "void at::native::(anonymous namespace)::cat<float, a::b<(int)3> >(float*)"),
            "cat");
  EXPECT_EQ(metrics::plain_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(metrics::plain_name(""), "");
}

}  // namespace
}  // namespace warpgauge::demangled_test
