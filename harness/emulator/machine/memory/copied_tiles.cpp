// Remembers the tiles that tensor copies wrote and finds the one that a load reads.
#include "harness/emulator/machine/memory/copied_tiles.h"

#include <bit>
#include <cstring>
#include <vector>

namespace warpgauge::emulator::machine::memory {
namespace {

using metrics::AccessKind;

/// Bytes that each lane reads at its address; 0: it is no load that a swizzle could help.
std::uint32_t bytes_read(const metrics::WarpAccess& load) {
  constexpr std::uint32_t kMatrixRow = 16;
  if (!load.is_shared()) return 0;
  if (load.kind == AccessKind::ldmatrix) return kMatrixRow;
  return load.kind == AccessKind::shared_load ? static_cast<std::uint32_t>(load.width) : 0;
}

metrics::CopiedTile tile_of(const TensorMap& map, std::uint32_t address) {
  const std::uint32_t elements = map.mode == TensorMap::Mode::im2col ? map.channels : map.box[0];
  const std::uint32_t row_bytes = elements * map.unit_bytes();
  return {address, box_bytes(map) / row_bytes, row_bytes, map.swizzle};
}

}  // namespace

void CopiedTiles::add(const TensorMap& map, const BoxPlace& place, std::uint32_t address) {
  // Slices of channels are no rows.
  if (map.interleave != TensorMap::Interleave::none) {
    copies_.erase(address);
  } else {
    copies_.insert_or_assign(address, Copy{map, place});
  }
}

std::optional<metrics::CopiedTile> CopiedTiles::find(const metrics::WarpAccess& load,
                                                     const std::byte* shared) const {
  const std::uint32_t width = bytes_read(load);
  if (width == 0 || copies_.empty()) return std::nullopt;
  const auto first = static_cast<std::size_t>(std::countr_zero(load.mask));
  auto copy = copies_.upper_bound(static_cast<std::uint32_t>(load.addresses[first]));
  if (copy == copies_.begin()) return std::nullopt;
  const auto& [address, made] = *--copy;
  const metrics::CopiedTile tile = tile_of(made.map, address);
  std::vector<std::byte> again(address + tile.bytes());
  load_box(made.map, made.place, again.data(), address);
  for (std::uint32_t rest = load.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t at = load.addresses[static_cast<std::size_t>(std::countr_zero(rest))];
    if (!tile.has(at) || !tile.has(at + width - 1)) return std::nullopt;
    if (std::memcmp(again.data() + at, shared + at, width) != 0) return std::nullopt;
  }
  return tile;
}

}  // namespace warpgauge::emulator::machine::memory
