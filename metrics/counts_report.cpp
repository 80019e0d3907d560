#include "metrics/counts_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "metrics/line_counts.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::json;

json to_json(const LineCounts& line) {
  json object = {{"kernel", line.kernel}, {"file", line.file}, {"line", line.line}};
  for (const auto& [name, member] : kCountMembers) object[name] = line.counts.*member;
  for (const auto& [group, trust] : line.trust) {
    object["trust"][group] = {{"confidence", to_string(trust.confidence)},
                              {"reason", trust.reason}};
  }
  return object;
}

LineCounts from_json(const json& object) {
  LineCounts line{.kernel = object.at("kernel"),
                  .file = object.at("file"),
                  .line = object.at("line"),
                  .counts = {},
                  .trust = {}};
  for (const auto& [name, member] : kCountMembers) line.counts.*member = object.at(name);
  const json trusts = object.value("trust", json::object());
  for (const auto& [group, trust] : trusts.items()) {
    const auto confidence = confidence_from(trust.at("confidence").get<std::string>());
    if (!confidence) throw std::invalid_argument("unknown confidence");
    line.trust[group] = {*confidence, trust.at("reason")};
  }
  return line;
}

void add(LineCounts& sum, const LineCounts& line) {
  sum.counts += line.counts;
  for (const auto& [group, trust] : line.trust) {
    Trust& known = sum.trust[group];
    if (trust.confidence >= known.confidence) known = trust;
  }
}

}  // namespace

std::string report_text(std::span<const LineCounts> lines) {
  std::string text;
  for (const LineCounts& line : lines) text += to_json(line).dump() + '\n';
  return text;
}

void append_report(const std::filesystem::path& path, std::span<const LineCounts> lines) {
  const std::string text = report_text(lines);
  // One write of all, so that processes that end together do not mix their lines.
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const bool whole =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int cause = errno;
  if (fd >= 0) close(fd);
  if (!whole) {
    throw ReportError(
        fmt::format("{}: counts cannot be written: {}", path.string(), std::strerror(cause)));
  }
}

std::vector<LineCounts> read_report(const std::filesystem::path& path) {
  std::map<std::tuple<std::string, std::string, int>, LineCounts> sums;
  std::ifstream stream(path);
  int number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    try {
      const LineCounts line = from_json(json::parse(text));
      const auto [place, is_new] = sums.try_emplace({line.kernel, line.file, line.line}, line);
      if (!is_new) add(place->second, line);
    } catch (const std::exception& error) {
      throw ReportError(fmt::format("{}:{}: no line of counts: {}; run the program again",
                                    path.string(), number, error.what()));
    }
  }
  std::vector<LineCounts> lines;
  for (auto& [key, line] : sums) lines.push_back(std::move(line));
  return lines;
}

}  // namespace warpgauge::metrics
