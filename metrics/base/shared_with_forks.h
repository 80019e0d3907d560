// Memory that a process shares with its forks.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace warpgauge::metrics {

/// Zeroed memory, given back when the last reference goes. Throws std::system_error.
std::shared_ptr<void> bytes_shared_with_forks(std::size_t bytes);

/// A value that this process and those it forks from now on share, zero at first.
template <typename T>
std::shared_ptr<T> shared_with_forks() {
  static_assert(std::is_trivially_destructible_v<T>);
  return std::static_pointer_cast<T>(bytes_shared_with_forks(sizeof(T)));
}

/// `count` values that this process and its forks share, zero at first. `count` is at least 1.
template <typename T>
std::shared_ptr<T[]> array_shared_with_forks(std::size_t count) {
  static_assert(std::is_trivially_destructible_v<T>);
  return std::static_pointer_cast<T[]>(bytes_shared_with_forks(count * sizeof(T)));
}

}  // namespace warpgauge::metrics
