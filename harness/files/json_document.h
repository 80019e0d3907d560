// A JSON document that is written as it is made: its long lists are never whole in memory.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

namespace warpgauge::files {

/// An object with its members on lines of their own. Bytes that are no UTF-8 are replaced.
class JsonDocument {
 public:
  JsonDocument(std::ostream& out, int indent);

  void add(const std::string& key, const nlohmann::ordered_json& value);
  /// A list: `visit` calls what it is given with each element.
  using Element = std::function<void(const nlohmann::ordered_json&)>;
  void add_list(const std::string& key, const std::function<void(const Element&)>& visit);
  /// Closes the object and its line.
  void end();

 private:
  void begin(const std::string& key);
  std::string text(const nlohmann::ordered_json& value, int depth) const;

  std::ostream& out_;
  const int indent_;
  bool is_empty_ = true;
};

}  // namespace warpgauge::files
