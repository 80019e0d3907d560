// Accesses to draw: what the tests of pictures share.
#pragma once

#include <cstdint>
#include <string>

#include "harness/explain/access_picture.h"
#include "metrics/counting/cure.h"
#include "metrics/counting/line_access.h"

namespace warpgauge {

constexpr std::uint32_t kAllLanes = 0xffffffff;

/// Lane l accesses address(l); costs are those of the counting rules.
template <typename Address>
metrics::LineAccess access_at(metrics::WarpAccess::Space space, metrics::AccessKind kind, int width,
                              std::uint32_t mask, Address address) {
  metrics::LineAccess line{.kernel = "_Z1k", .file = "kernels/f/family.cu", .line = 7};
  line.access = {.space = space, .kind = kind, .width = width, .mask = mask};
  std::uint32_t offsets[32];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    line.access.addresses[lane] = address(lane);
    offsets[lane] = static_cast<std::uint32_t>(address(lane));
  }
  if (line.access.is_shared()) {
    const auto cost = metrics::shared_cost(kind, width, offsets, mask);
    line.access.taken = cost.wavefronts;
    line.access.ideal = cost.ideal;
  } else {
    const auto cost = metrics::global_cost(width, line.access.addresses.data(), mask);
    line.access.taken = cost.sectors;
    line.access.ideal = cost.ideal;
  }
  return line;
}

inline metrics::LineAccess shared_stride(metrics::AccessKind kind, int width, std::uint32_t stride,
                                         std::uint32_t mask = kAllLanes) {
  return access_at(metrics::WarpAccess::Space::shared, kind, width, mask,
                   [=](std::uint32_t lane) { return stride * lane; });
}

inline metrics::LineAccess global_stride(int width, std::uint32_t stride,
                                         std::uint32_t mask = kAllLanes) {
  return access_at(metrics::WarpAccess::Space::global_load, metrics::AccessKind::shared_load, width,
                   mask, [=](std::uint32_t lane) { return 0x7f0000000100 + stride * lane; });
}

/// Lanes 0 to 7 read 16-byte chunk 2 of rows 0 to 7 of a tile.
inline metrics::LineAccess column_of(const metrics::CopiedTile& tile) {
  metrics::LineAccess line =
      access_at(metrics::WarpAccess::Space::shared, metrics::AccessKind::shared_load, 16, 0xff,
                [&](std::uint32_t lane) {
                  const std::uint32_t row = lane % 8;
                  return metrics::swizzled(tile.swizzle, tile.address + row * tile.pitch() + 32);
                });
  line.access.tile = tile;
  line.cure = metrics::cure_of(line.access, line.access.width);
  return line;
}

inline explain::AccessPicture drawn(const metrics::LineAccess& line) {
  return explain::picture_of(line, "f.variant.f32@32", "sm_90",
                             "x = tile[i][j] << 2 && \"y\" > 'z';");
}

}  // namespace warpgauge
