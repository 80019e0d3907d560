// Files of orders, as JSON.
#include "metrics/counting/order_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "metrics/base/hash.h"
#include "metrics/base/why_unreadable.h"

namespace warpgauge::metrics {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOrderSchema = "warpgauge.order/1";

std::uint64_t blocks_of(const OrderFile& order) {
  return std::uint64_t{order.grid[0]} * order.grid[1] * order.grid[2];
}
std::uint64_t warps_of(const OrderFile& order) {
  return (std::uint64_t{order.block[0]} * order.block[1] * order.block[2] + 31) / 32;
}

/// Names of programs are bytes.
std::string line_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A member in a line, and a switch.
std::string order_text(const OrderFile& order) {
  ordered_json object = {{"schema", kOrderSchema}};
  if (!order.test_case.empty()) object["case"] = order.test_case;
  object.update({{"arch", order.arch},
                 {"kernel", order.kernel},
                 {"code", order.code},
                 {"launch", order.launch},
                 {"grid", order.grid},
                 {"block", order.block},
                 {"breaks", order.breaks},
                 {"late_stores", order.late_stores}});
  std::string text = "{";
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("\n  \"{}\": {},", name, line_of(value));
  }
  text += "\n  \"switches\": [";
  for (const OrderFile::Switch& each : order.switches) {
    const ordered_json object_of_switch = {{"from", each.from},
                                           {"after", each.after},
                                           {"to", each.to},
                                           {"lines", {each.from_line, each.to_line}}};
    text += (&each == &order.switches.front() ? "\n    " : ",\n    ") + line_of(object_of_switch);
  }
  return text + "]\n}\n";
}

OrderFile order_from(const ordered_json& object) {
  if (!object.is_object() || object.value("schema", "") != kOrderSchema) {
    throw std::invalid_argument(fmt::format("its schema is not {}", kOrderSchema));
  }
  OrderFile order{.test_case = object.value("case", ""),
                  .arch = object.at("arch"),
                  .kernel = object.at("kernel"),
                  .code = object.at("code"),
                  .launch = object.at("launch"),
                  .grid = object.at("grid"),
                  .block = object.at("block"),
                  .breaks = object.at("breaks"),
                  .late_stores = object.at("late_stores"),
                  .switches = {}};
  for (const ordered_json& each : object.at("switches")) {
    const OrderFile::Switch& added =
        order.switches.emplace_back(OrderFile::Switch{.from = each.at("from"),
                                                      .after = each.at("after"),
                                                      .to = each.at("to"),
                                                      .from_line = each.at("lines").at(0),
                                                      .to_line = each.at("lines").at(1)});
    for (const WarpPlace& warp : {added.from, added.to}) {
      if (warp[0] < blocks_of(order) && warp[1] < warps_of(order)) continue;
      throw std::invalid_argument(
          fmt::format("its launch has no warp {} of block {}", warp[1], warp[0]));
    }
  }
  return order;
}

}  // namespace

std::filesystem::path write_order(const std::filesystem::path& folder, const OrderFile& order) {
  const std::string text = order_text(order);
  const std::filesystem::path path =
      folder / fmt::format("{}{}.json", kOrderFiles, hash_text(text));
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  if (!out) {
    throw OrderFileError(
        fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  }
  return path;
}

OrderFile read_order(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& why) {
    throw OrderFileError(fmt::format("{}: {}", path.string(), why));
  };
  if (const std::string why = why_unreadable(path); !why.empty()) fail(why);
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return order_from(ordered_json::parse(text));
  } catch (const std::exception& error) {
    fail(fmt::format("is no order that --schedules wrote: {}", error.what()));
  }
  return {};
}

}  // namespace warpgauge::metrics
