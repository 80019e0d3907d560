// The file of an order of warps and blocks in which a launch breaks.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace warpgauge::metrics {

/// A warp: its block, linear in the grid, and its number there.
using WarpPlace = std::array<std::uint64_t, 2>;

struct OrderFile {
  std::string test_case;     ///< of the launch; empty: of a program
  std::string arch;          ///< "sm_90"
  std::string kernel;        ///< mangled
  std::string code;          ///< the hash of its code
  std::uint64_t launch = 0;  ///< of the kernel, in its case or process; the first is 1
  std::array<std::uint32_t, 3> grid{}, block{};
  std::string breaks;  ///< how, for people
  bool late_stores = false;
  struct Switch {
    WarpPlace from{};
    std::uint64_t after = 0;  ///< instructions that `from` has executed
    WarpPlace to{};
    std::string from_line, to_line;  ///< "f.cu:12", for people; may be empty
    bool operator==(const Switch&) const = default;
  };
  std::vector<Switch> switches;

  bool operator==(const OrderFile&) const = default;
};

/// Files of orders have names that begin so, and a hash of their contents.
inline constexpr std::string_view kOrderFiles = "order-";

class OrderFileError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Writes a file into the folder, and returns its path. Throws OrderFileError.
std::filesystem::path write_order(const std::filesystem::path& folder, const OrderFile& order);
/// Throws OrderFileError with the path and what is wrong.
OrderFile read_order(const std::filesystem::path& path);

}  // namespace warpgauge::metrics
