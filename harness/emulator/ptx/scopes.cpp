// Names that the blocks { } of one function declare.
#include "harness/emulator/ptx/scopes.h"

#include <utility>

namespace warpgauge::emulator::ptx {

void Scopes::open() {
  parents_.push_back(current_);
  current_ = static_cast<int>(parents_.size()) - 1;
  ++depth_;
}

void Scopes::close() {
  current_ = parents_[current_];
  --depth_;
}

std::optional<std::string> Scopes::declare(std::string_view name, std::size_t from, bool taken) {
  const auto [entry, added] = names_.try_emplace(std::string(name));
  Name& known = entry->second;
  if (added) {
    known.id = static_cast<std::uint32_t>(names_.size());
    known.declared = taken ? 1 : 0;
  }
  if (known.declared++ == 0) {
    known.first_scope = current_;
    known.first_from = from;
    return entry->first;
  }
  if (known.first_scope == current_) return std::nullopt;
  std::string unique = entry->first + "#" + std::to_string(known.declared);
  const auto [place, first] = renames_.try_emplace(key(known.id, current_), Rename{from, unique});
  if (!first) return std::nullopt;
  renamed_ = true;
  return unique;
}

const std::string* Scopes::find(const std::string& name, int scope, std::size_t position) const {
  const auto entry = names_.find(name);
  if (entry == names_.end() || entry->second.declared < 2) return nullptr;
  const Name& known = entry->second;
  for (; scope >= 0; scope = parents_[scope]) {
    if (scope == known.first_scope && known.first_from <= position) return nullptr;
    const auto rename = renames_.find(key(known.id, scope));
    if (rename != renames_.end() && rename->second.from <= position) return &rename->second.unique;
  }
  return nullptr;
}

std::uint64_t Scopes::key(std::uint32_t id, int scope) {
  return std::uint64_t{id} << 32 | static_cast<std::uint32_t>(scope);
}

}  // namespace warpgauge::emulator::ptx
