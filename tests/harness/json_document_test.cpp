// A JSON document that is written member by member reads as one that is written whole.
#include "harness/files/json_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace warpgauge::files::json_document_test {
namespace {

using nlohmann::ordered_json;

/// Lists are added element by element.
std::string written(const ordered_json& object, int indent) {
  std::ostringstream out;
  JsonDocument document(out, indent);
  for (const auto& [key, value] : object.items()) {
    if (!value.is_array()) {
      document.add(key, value);
      continue;
    }
    document.add_list(key, [&](const JsonDocument::Element& add) {
      for (const ordered_json& element : value) add(element);
    });
  }
  document.end();
  return out.str();
}

TEST(JsonDocument, ReadsAsOneThatIsWrittenWhole) {
  const ordered_json object = {{"text", "a\n\"b\""},
                               {"number", 3},
                               {"object", {{"a", {{"b", 1}}}, {"none", ordered_json::array()}}},
                               {"list", {{{"c", {1, 2}}}, {{"d", "größer"}}, 7}},
                               {"empty", ordered_json::array()}};
  for (const int indent : {1, 2}) {
    EXPECT_EQ(written(object, indent), object.dump(indent) + '\n') << indent;
  }
  EXPECT_EQ(written(ordered_json::object(), 1), "{}\n");
}

TEST(JsonDocument, HasNothingThatATerminalObeys) {
  const std::string hostile = "\x1b[31m\x7f\u009b2J\u202e\u2028\U000e0041\n::error::";
  const std::string text = written({{"name", hostile}}, 1);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << int{c};
  EXPECT_EQ(ordered_json::parse(text).at("name"), hostile);
}

TEST(JsonDocument, ReplacesWhatIsNoUtf8) {
  const std::string text = written({{"name", "a\xff"}}, 1);
  EXPECT_EQ(ordered_json::parse(text).at("name"), "a\uFFFD");
}

}  // namespace
}  // namespace warpgauge::files::json_document_test
