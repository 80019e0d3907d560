// Writes and reads the report as JSON lines, each told from the others by its keys.
#include "metrics/counting/emulator_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "metrics/base/append_file.h"
#include "metrics/base/why_unreadable.h"
#include "metrics/counting/counts_by_line.h"
#include "metrics/counting/fault_json.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, std::optional<std::uint32_t> KernelResources::*>, 6>
    kResourceMembers = {{{"registers", &KernelResources::registers},
                         {"frame_bytes", &KernelResources::frame_bytes},
                         {"stack_bytes", &KernelResources::stack_bytes},
                         {"barriers", &KernelResources::barriers},
                         {"least_registers", &KernelResources::least_registers},
                         {"most_registers", &KernelResources::most_registers}}};

json to_json(const LineCounts& line) {
  json object = to_json(line.kernel, line.source());
  for (const auto& [name, member] : kCountMembers) object[name] = line.counts.*member;
  for (const auto& [group, trust] : line.trust) {
    object["trust"][group] = {{"confidence", to_string(trust.confidence)},
                              {"reason", trust.reason}};
  }
  for (const auto& [metric, cure] : line.cures) object["cures"][metric] = cure;
  return object;
}

json to_json(const ReportedKernel& kernel) {
  json object = {{"kernel", kernel.name}, {"launches", kernel.launches}};
  json& counted = object["counted"] = json::array();
  for (const Launch& launch : kernel.counted) {
    json& shape = counted.emplace_back(json::array(
        {launch.grid, launch.block, launch.dynamic_shared_bytes, launch.count, launch.cluster}));
    if (launch.unequal_sectors) shape.push_back(*launch.unequal_sectors);
  }
  json& codes = object["codes"] = json::array();
  for (const ReportedCode& code : kernel.codes) {
    json& code_object = codes.emplace_back();
    code_object = {{"shared_static_bytes", code.shared_static_bytes},
                   {"sass_hash", code.sass_hash}};
    for (const auto& [name, member] : kResourceMembers) {
      if (const auto value = code.resources.*member) code_object[name] = *value;
    }
  }
  return object;
}

json to_json(const ReportedProcess& process) {
  return {{"process", process.id}, {"program", process.program}, {"ended", process.ended}};
}

json to_json(const ReportedRuntime& runtime) {
  return {{"program", runtime.program}, {"call", runtime.call}, {"failure", runtime.failure}};
}

void add_once(const std::string& text, std::vector<std::string>& texts) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

void add_kernel(const json& object, std::vector<ReportedKernel>& kernels) {
  const std::string name = object.at("kernel");
  auto known = std::ranges::find(kernels, name, &ReportedKernel::name);
  if (known == kernels.end()) known = kernels.insert(known, {.name = name});
  known->launches += object.at("launches").get<std::uint64_t>();
  for (const json& launch : object.at("counted")) {
    Launch shape{.grid = launch.at(0),
                 .block = launch.at(1),
                 .dynamic_shared_bytes = launch.at(2),
                 .count = launch.at(3),
                 .cluster = launch.at(4)};
    if (launch.size() > 5) shape.unequal_sectors = launch.at(5);
    add(known->counted, shape);
  }
  for (const json& code_object : object.at("codes")) {
    ReportedCode code{.resources = {},
                      .shared_static_bytes = code_object.at("shared_static_bytes"),
                      .sass_hash = code_object.at("sass_hash")};
    for (const auto& [member_name, member] : kResourceMembers) {
      if (code_object.contains(member_name))
        code.resources.*member = code_object[member_name].get<std::uint32_t>();
    }
    known->add(code);
  }
}

void add_process(const json& object, std::vector<ReportedProcess>& processes) {
  const std::string id = object.at("process");
  auto known = std::ranges::find(processes, id, &ReportedProcess::id);
  if (known == processes.end()) {
    known = processes.insert(known, {.id = id, .program = object.at("program")});
  }
  known->ended = known->ended || object.at("ended").get<bool>();
}

void add_counts(const json& object, CountsByLine& lines) {
  LineCounts& line = lines.at(object.at("kernel"), line_from(object));
  for (const auto& [name, member] : kCountMembers) {
    line.counts.*member += object.at(name).get<std::uint64_t>();
  }
  const json trusts = object.value("trust", json::object());
  for (const auto& [group, trust] : trusts.items()) {
    const auto confidence = confidence_from(trust.at("confidence").get<std::string>());
    if (!confidence) throw std::invalid_argument("unknown confidence");
    Trust& known = line.trust[group];
    if (*confidence >= known.confidence) known = {*confidence, trust.at("reason")};
  }
  const json cures = object.value("cures", json::object());
  for (const auto& [metric, cure] : cures.items()) line.cures.try_emplace(metric, cure);
}

/// A file beside a report that some process could not write.
std::filesystem::path mark_of_loss(const std::filesystem::path& report) {
  return std::filesystem::path(report).concat(".lost");
}

std::string report_text(const CountsReport& report) {
  std::string text;
  const auto add = [&](const json& object) { text += text_of(object) + '\n'; };
  for (const LineCounts& line : report.lines) add(to_json(line));
  for (const ReportedKernel& kernel : report.kernels) add(to_json(kernel));
  for (const DeviceFault& fault : report.faults) add(to_json(fault));
  for (const ReportedProcess& process : report.processes) add(to_json(process));
  for (const ReportedRuntime& runtime : report.runtimes) add(to_json(runtime));
  for (const std::string& refused : report.refused) add({{"refused", refused}});
  for (const std::string& tables : report.private_tables) add({{"tables", tables}});
  for (const EmptyLaunches& empty : report.empty_launches) {
    add({{"empty", empty.kernel}, {"place", empty.place}, {"count", empty.count}});
  }
  if (report.replayed) add({{"replayed", true}});
  return text;
}

}  // namespace

void ReportedKernel::add(const ReportedCode& code) {
  if (std::ranges::find(codes, code) == codes.end()) codes.push_back(code);
}

void append_report(const std::filesystem::path& path, const CountsReport& report) {
  const std::string text = report_text(report);
  if (append_at_once(path, text)) return;
  const int error = errno;
  // It has no bytes, which a limit of the size of files and a full disk allow.
  static_cast<void>(append_at_once(mark_of_loss(path), ""));
  throw ReportError(
      fmt::format("{}: counts cannot be written: {}", path.string(), std::strerror(error)));
}

CountsReport read_report(const std::filesystem::path& path) {
  CountsByLine lines;
  CountsReport report;
  report.is_partial = std::filesystem::exists(mark_of_loss(path));
  if (!std::filesystem::exists(path)) return report;
  if (const std::string why = why_unreadable(path); !why.empty()) {
    throw ReportError(fmt::format("{}: {}", path.string(), why));
  }
  std::ifstream stream(path);
  int number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++number;
    try {
      const json object = json::parse(text);
      if (object.contains("fault")) {
        report.faults.push_back(fault_from(object));
      } else if (object.contains("launches")) {
        add_kernel(object, report.kernels);
      } else if (object.contains("refused")) {
        add_once(object.at("refused"), report.refused);
      } else if (object.contains("tables")) {
        add_once(object.at("tables"), report.private_tables);
      } else if (object.contains("empty")) {
        metrics::add(report.empty_launches,
                     {object.at("empty"), object.at("place"), object.at("count")});
      } else if (object.contains("replayed")) {
        report.replayed = true;
      } else if (object.contains("call")) {
        report.runtimes.push_back({object.at("program"), object.at("call"), object.at("failure")});
      } else if (object.contains("process")) {
        add_process(object, report.processes);
      } else {
        add_counts(object, lines);
      }
    } catch (const std::exception& error) {
      throw ReportError(fmt::format("{}:{}: no line of a report: {}; run the program again",
                                    path.string(), number, error.what()));
    }
  }
  report.lines = lines.take();
  return report;
}

}  // namespace warpgauge::metrics
