// Orders in files: read as they were written, and refused where they are damaged.
#include "metrics/counting/order_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace warpgauge::metrics::order_file_test {
namespace {

class Orders : public testing::Test {
 protected:
  Orders() { std::filesystem::create_directories(folder_); }
  ~Orders() override { std::filesystem::remove_all(folder_); }

  /// What reading a file with this text says.
  std::string refusal(const std::string& text) const {
    const std::filesystem::path path = folder_ / "other.json";
    std::ofstream(path, std::ios::binary) << text;
    try {
      read_order(path);
    } catch (const OrderFileError& error) {
      return error.what();
    }
    return "";
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("orders." + std::to_string(getpid()));
};

OrderFile an_order() {
  return {.test_case = "a.b.f32@16",
          .arch = "sm_90",
          .kernel = "_Z1kv",
          .code = "0123456789abcdef",
          .launch = 3,
          .grid = {2, 3, 1},
          .block = {48, 1, 1},
          .breaks = "kernel k: order: \xff",
          .late_stores = true,
          .switches = {{{0, 1}, 12, {5, 0}, "f.cu:12", ""}, {{5, 1}, 7, {0, 1}, "", "f.cu:1"}}};
}

TEST_F(Orders, AreReadAsTheyWereWritten) {
  OrderFile order = an_order();
  const std::filesystem::path path = write_order(folder_, order);
  EXPECT_EQ(path.parent_path(), folder_);
  EXPECT_THAT(path.filename().string(), testing::MatchesRegex("order-[0-9a-f]{16}.json"));
  order.breaks = "kernel k: order: \xef\xbf\xbd";
  EXPECT_EQ(read_order(path), order);
  EXPECT_EQ(write_order(folder_, an_order()), path) << "the same order has the same name";
  order.test_case = "";
  EXPECT_EQ(read_order(write_order(folder_, order)), order);
}

TEST_F(Orders, ThatAreDamagedAreRefused) {
  std::ifstream in(write_order(folder_, an_order()));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ASSERT_EQ(refusal(text), "");
  const std::string path = (folder_ / "other.json").string();
  for (std::size_t bytes = 0; bytes + 2 < text.size(); ++bytes) {
    EXPECT_THAT(refusal(text.substr(0, bytes)),
                testing::StartsWith(path + ": is no order that --schedules wrote: "));
  }
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    return refusal(other.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(replaced("order/1", "order/2"),
              testing::EndsWith("its schema is not warpgauge.order/1"));
  EXPECT_THAT(replaced("\"launch\"", "\"lunch\""), testing::HasSubstr("launch"));
  EXPECT_THAT(replaced("48", "32"), testing::EndsWith("its launch has no warp 1 of block 0"));
  EXPECT_THAT(refusal("{\"schema\": 7}"), testing::HasSubstr("--schedules"));
}

TEST_F(Orders, CannotBeWrittenOrReadEverywhere) {
  EXPECT_THROW(write_order(folder_ / "missing", an_order()), OrderFileError);
  EXPECT_THROW(read_order(folder_ / "missing"), OrderFileError);
  EXPECT_THROW(read_order(folder_), OrderFileError);
}

}  // namespace
}  // namespace warpgauge::metrics::order_file_test
