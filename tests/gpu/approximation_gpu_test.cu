// The device's approximate functions against the recorded sums that the emulator's have as well
// (tests/emulator/approximation_test.cpp): all arguments of each function of one value, all pairs
// of exponents of quotients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/gpu/approximation_sums.cuh"

namespace warpgauge::approximation {
namespace {

std::vector<std::uint64_t> recorded(const std::string& form) {
  std::ifstream in(WARPGAUGE_TEST_DATA "/approximation/" + form + ".sums", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::vector<std::uint64_t> sums(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  return sums;
}

TEST(Approximation, TheDeviceHasTheRecordedSums) {
  cudaDeviceProp device{};
  const cudaError_t error = cudaGetDeviceProperties(&device, 0);
  if (error != cudaSuccess) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  std::map<std::string, std::size_t> differ;
  std::size_t forms = 0;
  all_sums([&](const std::string& form, const std::vector<std::uint64_t>& sums) {
    std::vector<std::uint64_t> expected = recorded(form);
    ASSERT_FALSE(expected.empty()) << form;
    expected.resize(sums.size(), expected.front());  // halves: alone and in both places
    for (std::size_t i = 0; i < sums.size(); ++i) differ[form] += sums[i] != expected[i] ? 1 : 0;
    ++forms;
  });
  EXPECT_EQ(forms, 26u);
  if (device.major != 9 || device.minor != 0) {
    std::string equal;
    for (const auto& [form, ranges] : differ) equal += ranges == 0 ? " " + form : "";
    GTEST_SKIP() << "the sums are of sm_90; equal on " << device.name << ":" << equal;
  }
  for (const auto& [form, ranges] : differ) {
    EXPECT_EQ(ranges, 0u) << "ranges of arguments of " << form << " on " << device.name;
  }
}

}  // namespace
}  // namespace warpgauge::approximation
