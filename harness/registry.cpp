#include "harness/registry.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <stdexcept>

namespace warpgauge {
namespace {

/// Letters, digits and '_': what every consumer of an id (filters, files, XML) takes as it is.
void check_name(std::string_view what, std::string_view name, const Case& where) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, is_word)) return;
  throw std::invalid_argument(
      fmt::format("{}:{}: {} '{}' may only have letters, digits and '_'; rename it", where.file,
                  where.line, what, name));
}

}  // namespace

Announcement::Announcement(const char* family, void (*register_it)(const Family&))
    : family_(family), register_it_(register_it), next_(first_) {
  first_ = this;
}

void Announcement::register_all() {
  while (first_ != nullptr) {
    const Announcement& next = *first_;
    first_ = next.next_;  // off the list first: registering asks for the registry again
    next.register_it_(Family(next.family_));
  }
}

Registry& Registry::instance() {
  static Registry registry;
  Announcement::register_all();
  return registry;
}

void Registry::add(Case new_case) {
  const auto& id = new_case.id;
  check_name("family", id.family, new_case);
  check_name("variant", id.variant, new_case);
  check_name("type", id.type, new_case);
  check_name("size", id.size, new_case);
  for (const Case& other : cases_) {
    if (other.id == id) {
      throw std::invalid_argument(fmt::format("{}:{}: {} is registered already, at {}:{}",
                                              new_case.file, new_case.line, id.str(), other.file,
                                              other.line));
    }
  }
  // Families stay together whatever the order in which their files were linked.
  const auto after_family = std::ranges::upper_bound(
      cases_, id.family, {}, [](const Case& other) { return other.id.family; });
  cases_.insert(after_family, std::move(new_case));
}

std::vector<const Case*> Registry::select(std::string_view pattern) const {
  const std::string glob(pattern.empty() ? "*" : pattern);
  std::vector<const Case*> selected;
  for (const Case& one : cases_) {
    if (fnmatch(glob.c_str(), one.id.str().c_str(), 0) == 0) selected.push_back(&one);
  }
  return selected;
}

}  // namespace warpgauge
