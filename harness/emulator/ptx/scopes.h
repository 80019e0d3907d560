// Names that the blocks { } of one function declare, and what they are called once the blocks are
// flattened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpgauge::emulator::ptx {

/// Scopes are numbered as they open; 0 is the body. The first declaration of a name keeps it, each
/// later one gets "name#2", "name#3", ...: "#" cannot occur in a name of PTX.
class Scopes {
 public:
  int current() const { return current_; }
  int depth() const { return depth_; }
  void open();
  void close();  ///< not of scope 0

  /// Declares `name` in the current scope for all instructions from number `from` on (a label: 0,
  /// it can be used before its definition). Returns its unique name, or nothing where this scope
  /// has declared it already. `taken`: the name belongs to something outside of the function.
  std::optional<std::string> declare(std::string_view name, std::size_t from, bool taken);

  /// Whether any name differs from what was written.
  bool renamed() const { return renamed_; }

  /// The unique name of what `name` means to instruction `position` in `scope`; nothing where it
  /// is the name itself.
  const std::string* find(const std::string& name, int scope, std::size_t position) const;

 private:
  struct Rename {
    std::size_t from;
    std::string unique;
  };
  struct Name {
    std::uint32_t id = 0;
    std::uint32_t declared = 0;  // how often, the outside of the function included
    int first_scope = -1;        // of the declaration that kept the name
    std::size_t first_from = 0;
  };
  static std::uint64_t key(std::uint32_t id, int scope);

  std::vector<int> parents_ = {-1};
  int current_ = 0;
  int depth_ = 0;
  bool renamed_ = false;
  std::unordered_map<std::string, Name> names_;
  std::unordered_map<std::uint64_t, Rename> renames_;
};

}  // namespace warpgauge::emulator::ptx
