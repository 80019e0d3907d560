// The parts of names that stay the same in another build, and how alike two names are.
#include "harness/diff/kernel_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace warpgauge::diff::kernel_names_test {
namespace {

using testing::UnorderedElementsAre;

TEST(KernelNames, LoseTheHashesOfABuild) {
  EXPECT_EQ(without_hashes("k_0123abcd_x"), "k_#_x");
  EXPECT_EQ(without_hashes("k_0123456789abcdef"), "k_#");
  EXPECT_EQ(without_hashes("k_0123abc_x"), "k_0123abc_x") << "too short";
  EXPECT_EQ(without_hashes("_Z3addIfEvPT_"), "_Z3addIfEvPT_");
  EXPECT_EQ(without_hashes(""), "");
}

TEST(KernelNames, LoseTheHashesOfAnonymousNamespaces) {
  // As nvcc of CUDA 13 names them: a length, a hash of the file, its name, and a name that it
  // defines.
  EXPECT_EQ(without_hashes("_ZN34_GLOBAL__N__81c2f8b8_4_k_cu__Z1fPf3addEPf"),
            "_ZN#_4_k_cu__Z1fPf3addEPf");
  EXPECT_EQ(without_hashes("_ZN34_GLOBAL__N__81c2f8b8_4_k_cu__Z1fPf3sumEPf"),
            "_ZN#_4_k_cu__Z1fPf3sumEPf")
      << "what follows tells kernels apart";
  EXPECT_EQ(without_hashes("_ZN30_GLOBAL__N__81c2f_4_k_cu__Z1fPf3addEPf"),
            "_ZN#_4_k_cu__Z1fPf3addEPf")
      << "the hash has any length";
  EXPECT_EQ(without_hashes("_ZN12_GLOBAL__N__"), "_ZN#");
}

TEST(KernelNames, FamiliesLoseTheVersionsOfLibraries) {
  EXPECT_EQ(without_version("libcurand_so_10"), without_version("libcurand_so_11_2"));
  EXPECT_NE(without_version("libcurand_so_10"), without_version("libcufft_so_10"));
}

TEST(KernelNames, LoseParametersAndKeepTemplateArguments) {
  EXPECT_EQ(without_parameters("_Z3addPfi"), "add");
  EXPECT_EQ(without_parameters("_Z3addIfEvPT_"), "add<float>");
  EXPECT_EQ(without_parameters("_ZN2my3addIfEEvPT_"), "my::add<float>");
  EXPECT_EQ(without_parameters("_Z3addIPFvvEEvT_"), "add<void (*)()>");
  EXPECT_EQ(without_parameters("_ZN2my12_GLOBAL__N_13addIfEEvPT_"), "my::add<float>");
  EXPECT_EQ(without_parameters("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
}

TEST(KernelNames, InstancesAreOfOneTemplate) {
  EXPECT_EQ(template_of("_ZN2my3addIfEEvPT_"), "my::add");
  EXPECT_EQ(template_of("_ZN2my3addISt4pairIiiEEEvPT_"), "my::add");
  EXPECT_EQ(template_of("_Z3addPfi"), "add");
  EXPECT_EQ(template_of("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
}

TEST(KernelNames, AreAsAlikeAsTheirWords) {
  const Words words = words_of("_Z7add_twoIfEvPT_i");
  EXPECT_THAT(words, UnorderedElementsAre("void", "add_two", "float", "float", "int"));
  EXPECT_THAT(words_of("k"), UnorderedElementsAre("k"));
  EXPECT_EQ(likeness(words, words), 1);
  EXPECT_EQ(likeness(words, {"other"}), 0);
  EXPECT_EQ(likeness({"a", "b"}, {"b", "c"}), 0.5);
  EXPECT_EQ(likeness({"a", "a", "b"}, {"a"}), 0.5) << "each word as often as both have it";
}

}  // namespace
}  // namespace warpgauge::diff::kernel_names_test
