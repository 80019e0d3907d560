// Writes and reads faults and lines of source as JSON.
#include "metrics/counting/fault_json.h"

#include <nlohmann/json.hpp>

namespace warpgauge::metrics {

using nlohmann::json;

json to_json(const std::string& kernel, const SourceLine& line) {
  json object = {{"kernel", kernel}, {"file", line.file}, {"line", line.line}};
  for (const CallSite& site : line.inlined) {
    object["inlined"].push_back({{"file", site.file}, {"line", site.line}});
  }
  return object;
}

SourceLine line_from(const json& object) {
  SourceLine line{object.at("file"), object.at("line")};
  for (const json& site : object.value("inlined", json::array())) {
    line.inlined.push_back({site.at("file"), site.at("line")});
  }
  return line;
}

json to_json(const DeviceFault& fault) {
  json object = to_json(fault.kernel, fault.source);
  object["fault"] = fault.text;
  if (!fault.rule.empty()) object["rule"] = fault.rule;
  if (!fault.other.empty()) object["other"] = fault.other;
  if (!fault.cure.empty()) object["cure"] = fault.cure;
  return object;
}

DeviceFault fault_from(const json& object) {
  return {object.at("fault"),       object.at("kernel"),       line_from(object),
          object.value("rule", ""), object.value("other", ""), object.value("cure", "")};
}

std::string text_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace warpgauge::metrics
