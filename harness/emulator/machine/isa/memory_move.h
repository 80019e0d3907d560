// ld and st between memory and registers that are wider than what lies in memory. For the files of
// this folder only.
#pragma once

#include "harness/emulator/machine/core/access_details.h"
#include "harness/emulator/machine/isa/memory_transfer.h"

namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA {

/// Selection functions of the two halves of memory_handler.
Execute load_handler(const MemoryKey& key);
Execute store_handler(const MemoryKey& key);

namespace {

template <typename To, typename From>
WARPGAUGE_INLINE void convert_as(const std::byte* from, std::byte* to, Mask lanes) {
  const From* const values = reinterpret_cast<const From*>(from);
  To* const results = reinterpret_cast<To*>(to);
  for_lanes(lanes, [&](int lane) { results[lane] = static_cast<To>(values[lane]); });
}

/// Between vectors of integers of two widths; not in a hurry.
template <typename From>
void convert_from(const std::byte* from, std::byte* to, int to_bytes, Mask lanes) {
  switch (to_bytes) {
    case 1:
      return convert_as<u8, From>(from, to, lanes);
    case 2:
      return convert_as<u16, From>(from, to, lanes);
    case 4:
      return convert_as<u32, From>(from, to, lanes);
    default:
      return convert_as<u64, From>(from, to, lanes);
  }
}

[[gnu::noinline, maybe_unused]] void convert(const std::byte* from, int from_bytes,
                                             bool sign_extends, std::byte* to, int to_bytes,
                                             Mask lanes) {
  switch (from_bytes) {
    case 1:
      return sign_extends ? convert_from<s8>(from, to, to_bytes, lanes)
                          : convert_from<u8>(from, to, to_bytes, lanes);
    case 2:
      return sign_extends ? convert_from<s16>(from, to, to_bytes, lanes)
                          : convert_from<u16>(from, to, to_bytes, lanes);
    case 4:
      return sign_extends ? convert_from<s32>(from, to, to_bytes, lanes)
                          : convert_from<u32>(from, to, to_bytes, lanes);
    default:
      return convert_from<u64>(from, to, to_bytes, lanes);
  }
}

/// Chooses Handler<route, bytes, elements, converts> by the key.
template <template <Route, int, int, bool> typename Handler, Route kRoute, int kBytes,
          int kElements>
WARPGAUGE_INLINE Execute choose_conversion(const MemoryKey& key) {
  if constexpr (kBytes <= 8) {
    if (key.converts) return Handler<kRoute, kBytes, kElements, true>::execute;
  }
  return key.converts ? nullptr : Handler<kRoute, kBytes, kElements, false>::execute;
}

template <template <Route, int, int, bool> typename Handler, Route kRoute>
WARPGAUGE_INLINE Execute choose_elements(const MemoryKey& key) {
  switch (key.elements * 100 + key.element_bytes) {
    case 101:
      return choose_conversion<Handler, kRoute, 1, 1>(key);
    case 102:
      return choose_conversion<Handler, kRoute, 2, 1>(key);
    case 104:
      return choose_conversion<Handler, kRoute, 4, 1>(key);
    case 108:
      return choose_conversion<Handler, kRoute, 8, 1>(key);
    case 116:
      return choose_conversion<Handler, kRoute, 16, 1>(key);
    case 201:
      return choose_conversion<Handler, kRoute, 1, 2>(key);
    case 202:
      return choose_conversion<Handler, kRoute, 2, 2>(key);
    case 204:
      return choose_conversion<Handler, kRoute, 4, 2>(key);
    case 208:
      return choose_conversion<Handler, kRoute, 8, 2>(key);
    case 401:
      return choose_conversion<Handler, kRoute, 1, 4>(key);
    case 402:
      return choose_conversion<Handler, kRoute, 2, 4>(key);
    case 404:
      return choose_conversion<Handler, kRoute, 4, 4>(key);
    default:
      break;
  }
  if constexpr (kRoute == Route::global) {
    if (key.elements == 4 && key.element_bytes == 8) {
      return choose_conversion<Handler, kRoute, 8, 4>(key);
    }
    if (key.elements == 8 && key.element_bytes == 4) {
      return choose_conversion<Handler, kRoute, 4, 8>(key);
    }
  }
  return nullptr;
}

template <template <Route, int, int, bool> typename Handler>
WARPGAUGE_INLINE Execute choose(const MemoryKey& key) {
  switch (key.space) {
    case AccessSpace::shared:
      return choose_elements<Handler, Route::shared>(key);
    case AccessSpace::global:
      return choose_elements<Handler, Route::global>(key);
    case AccessSpace::constant:
      return key.store ? nullptr : choose_elements<Handler, Route::global>(key);
    case AccessSpace::fixed_parameter:
      return key.store ? nullptr : choose_elements<Handler, Route::fixed_parameter>(key);
    default:
      return choose_elements<Handler, Route::other>(key);
  }
}

}  // namespace
}  // namespace warpgauge::emulator::machine::isa::WARPGAUGE_ISA
