// An optional value for members that few objects have.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace warpgauge::metrics {

/// Like std::optional, but only as wide as a pointer: for large members that most objects lack.
template <typename T>
class BoxedOptional {
 public:
  BoxedOptional() = default;
  BoxedOptional(std::nullopt_t) {}
  BoxedOptional(T value) : value_(std::make_unique<T>(std::move(value))) {}
  BoxedOptional(std::optional<T> value) {
    if (value) value_ = std::make_unique<T>(*std::move(value));
  }
  BoxedOptional(const BoxedOptional& other)
      : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  BoxedOptional(BoxedOptional&&) noexcept = default;
  BoxedOptional& operator=(BoxedOptional other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }
  ~BoxedOptional() = default;

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  void reset() { value_ = nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace warpgauge::metrics
