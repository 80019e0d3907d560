// The records of .nv.info: a byte for the layout, a byte for the attribute, two for the size of
// what follows (layout 4) or for the value itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace warpgauge::metrics::nv_info {

inline constexpr std::uint8_t kByteValue =
    2;  ///< a layout: the third byte of the record is the value
inline constexpr std::uint8_t kSizedValue = 4;

using Bytes = std::span<const std::byte>;

template <typename Value>
std::optional<Value> at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(Value) > bytes.size() - offset) return {};
  Value out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

struct Record {
  std::uint8_t layout = 0, attribute = 0;
  Bytes value;  ///< two bytes where the layout has no size
};

/// Calls `visit(record)` for each record, up to one that is cut off.
template <typename Visit>
void for_each_record(Bytes records, Visit visit) {
  std::uint64_t offset = 0;
  while (const auto layout = at<std::uint8_t>(records, offset)) {
    const auto attribute = at<std::uint8_t>(records, offset + 1);
    const auto bytes = at<std::uint16_t>(records, offset + 2);
    if (!attribute || !bytes) return;
    const bool is_sized = *layout == kSizedValue;
    const std::uint64_t begin = offset + (is_sized ? 4 : 2), size = is_sized ? *bytes : 2;
    if (size > records.size() - begin) return;
    visit(Record{*layout, *attribute, records.subspan(begin, size)});
    offset = begin + size;
  }
}

}  // namespace warpgauge::metrics::nv_info
