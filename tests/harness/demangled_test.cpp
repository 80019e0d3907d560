#include "harness/files/demangled.h"

#include <gtest/gtest.h>

namespace warpgauge {
namespace {

TEST(Demangled, AsPeopleWriteThem) {
  EXPECT_EQ(files::demangled("_Z10by_columnsILi32EEvPiPKi"),
            "void by_columns<32>(int*, int const*)");
  EXPECT_EQ(files::demangled("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(files::demangled(""), "");
  EXPECT_EQ(files::demangled("f"), "f") << "which is the type float, too";
}

TEST(Demangled, PlainNames) {
  EXPECT_EQ(files::plain_name("void by_columns<32>(int*, int const*)"), "by_columns");
  EXPECT_EQ(files::plain_name(
                "void at::native::(anonymous namespace)::cat<float, a::b<(int)3> >(float*)"),
            "cat");
  EXPECT_EQ(files::plain_name("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(files::plain_name(""), "");
}

}  // namespace
}  // namespace warpgauge
