// Writes and reads the counts of one attached process.
#include "harness/attach/attached_process.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace warpgauge::attach {
namespace {

using Json = nlohmann::ordered_json;
using metrics::SassValues;

constexpr const char* kSchema = "warpgauge.attached/5";

Json json_of(const AttachedDevice& device) {
  Json json;
  json["name"] = device.device.name;
  json["chip"] = device.device.chip;
  json["compute_capability"] = device.device.compute_capability;
  json["driver"] = device.device.driver;
  json["uuid_hash"] = device.device.uuid_hash;
  json["threads_per_multiprocessor"] = device.threads_per_multiprocessor;
  return json;
}

AttachedDevice device_of(const Json& json) {
  return {{.name = json.at("name"),
           .chip = json.at("chip"),
           .compute_capability = json.at("compute_capability"),
           .driver = json.at("driver"),
           .uuid_hash = json.at("uuid_hash")},
          json.at("threads_per_multiprocessor")};
}

Json json_of(const AttachedKernel& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["device"] = kernel.device;
  json["launches"] = kernel.launches;
  Json& counted = json["counted"] = Json::array();
  for (const metrics::Launch& launch : kernel.counted) {
    counted.push_back(Json::array(
        {launch.grid, launch.block, launch.dynamic_shared_bytes, launch.count, launch.cluster}));
  }
  Json& resources = json["resources"] = Json::array();
  for (const KernelResources& per_block : kernel.resources) {
    resources.push_back(
        Json::array({per_block.registers, per_block.shared_static_bytes, per_block.local_bytes,
                     per_block.resident_warps, per_block.compiled_cluster}));
  }
  return json;
}

AttachedKernel kernel_of(const Json& json) {
  AttachedKernel kernel{.name = json.at("name"),
                        .device = json.at("device"),
                        .launches = json.at("launches"),
                        .counted = {},
                        .resources = {}};
  for (const Json& launch : json.at("counted")) {
    kernel.counted.push_back({.grid = launch.at(0),
                              .block = launch.at(1),
                              .dynamic_shared_bytes = launch.at(2),
                              .count = launch.at(3),
                              .cluster = launch.at(4)});
  }
  for (const Json& row : json.at("resources")) {
    kernel.resources.push_back({.registers = row.at(0),
                                .shared_static_bytes = row.at(1),
                                .local_bytes = row.at(2),
                                .resident_warps = row.at(3),
                                .compiled_cluster = row.at(4)});
  }
  return kernel;
}

/// The instructions of each kernel and owner: {"cubin", "kernel", perhaps "owner", "rows": [[pc,
/// value of each metric...]]}.
Json json_of(const metrics::SassRecords& records) {
  // The records are in the order of instructions, whose owners may alternate.
  std::map<std::tuple<std::uint32_t, std::string_view, std::string_view>, Json> rows;
  for (const auto& [instruction, values] : records) {
    Json row = values.values;
    row.insert(row.begin(), instruction.pc);
    rows[{instruction.cubin_crc, instruction.kernel, instruction.owner}].push_back(std::move(row));
  }
  Json kernels = Json::array();
  for (auto& [key, of_kernel] : rows) {
    const auto& [cubin, kernel, owner] = key;
    Json& next = kernels.emplace_back();
    next["cubin"] = cubin;
    next["kernel"] = kernel;
    if (!owner.empty()) next["owner"] = owner;
    next["rows"] = std::move(of_kernel);
  }
  return kernels;
}

metrics::SassRecords records_of(const Json& json) {
  metrics::SassRecords records;
  for (const Json& kernel : json) {
    for (const Json& row : kernel.at("rows")) {
      SassValues values;
      if (row.size() != values.values.size() + 1) {
        throw AttachedError(fmt::format("a row has {} values of metrics, and {} are wanted",
                                        row.empty() ? 0 : row.size() - 1, values.values.size()));
      }
      for (std::size_t i = 0; i < values.values.size(); ++i) values.values[i] = row.at(i + 1);
      records[{kernel.at("cubin"), kernel.at("kernel"), row.at(0), kernel.value("owner", "")}] =
          values;
    }
  }
  return records;
}

}  // namespace

std::string to_text(const AttachedProcess& process) {
  Json json;
  json["schema"] = kSchema;
  json["command"] = process.command;
  json["pid"] = process.pid;
  Json& devices = json["devices"] = Json::object();
  for (const auto& [ordinal, device] : process.devices) {
    devices[std::to_string(ordinal)] = json_of(device);
  }
  Json& kernels = json["kernels"] = Json::array();
  for (const AttachedKernel& kernel : process.kernels) kernels.push_back(json_of(kernel));
  Json& records = json["records"] = Json::object();
  for (const auto& [ordinal, of_device] : process.records) {
    records[std::to_string(ordinal)] = json_of(of_device);
  }
  json["waiting"] = process.waiting;
  json["warnings"] = process.warnings;
  // Arguments and names of kernels are bytes: what is not UTF-8 is replaced.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

AttachedProcess parse_attached(std::string_view text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    if (const Json& schema = json.at("schema"); schema != kSchema) {
      throw AttachedError(
          fmt::format("its schema is {}, and '{}' is wanted", schema.dump(), kSchema));
    }
    AttachedProcess process{.command = json.at("command"),
                            .pid = json.at("pid"),
                            .devices = {},
                            .kernels = {},
                            .records = {},
                            .waiting = json.at("waiting"),
                            .warnings = json.at("warnings")};
    for (const auto& [ordinal, device] : json.at("devices").items()) {
      process.devices[std::stoi(ordinal)] = device_of(device);
    }
    for (const Json& kernel : json.at("kernels")) process.kernels.push_back(kernel_of(kernel));
    for (const auto& [ordinal, records] : json.at("records").items()) {
      process.records[std::stoi(ordinal)] = records_of(records);
    }
    return process;
  } catch (const std::exception& error) {
    throw AttachedError(
        fmt::format("{}: not a result of the attached library: {}: run `warpgauge attach` again "
                    "with the library of this build",
                    path, error.what()));
  }
}

std::string cubin_name(std::uint32_t crc) { return fmt::format("{:08x}.cubin", crc); }

}  // namespace warpgauge::attach
