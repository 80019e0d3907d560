// A constant text that its copies share, because many values repeat the same texts.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace warpgauge::metrics {

class SharedString {
 public:
  SharedString() = default;
  SharedString(std::string text) {
    if (!text.empty()) text_ = std::make_shared<const std::string>(std::move(text));
  }

  const std::string& str() const {
    static const std::string kEmpty;
    return text_ ? *text_ : kEmpty;
  }
  operator const std::string&() const { return str(); }
  operator std::string_view() const { return str(); }
  bool empty() const { return !text_; }

  friend bool operator==(const SharedString& a, const SharedString& b) {
    return a.text_ == b.text_ || a.str() == b.str();
  }
  friend std::strong_ordering operator<=>(const SharedString& a, const SharedString& b) {
    return a.text_ == b.text_ ? std::strong_ordering::equal : a.str() <=> b.str();
  }

 private:
  std::shared_ptr<const std::string> text_;  ///< null for an empty text
};

}  // namespace warpgauge::metrics
