// The files of orders of warps and blocks: those that launches break in are written, and one may be
// replayed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harness/emulator/machine/core/finding.h"
#include "harness/emulator/machine/core/launch.h"
#include "harness/emulator/machine/core/order.h"
#include "metrics/counting/order_file.h"

namespace warpgauge::emulator::machine {
struct KernelCode;
}

namespace warpgauge::emulator::runtime {

class OrderFiles {
 public:
  /// The folder that gets files; empty: none are written.
  void write_to(const std::filesystem::path& folder);
  /// The file of an order that its launch is to be compared in; empty: none. Throws
  /// metrics::OrderFileError.
  void replay(const std::filesystem::path& path);
  /// Another test case begins: launches are counted anew.
  void begin_case(const std::string& id);

  bool are_used() const { return replayed_.has_value() || !folder_.empty(); }

  /// A launch that begins, as files name it.
  metrics::OrderFile next_launch(const std::string& arch, const std::string& kernel,
                                 const machine::Launch& launch);
  /// The order that the launch is to be compared in; nullptr: the file is of another launch. Throws
  /// std::invalid_argument if this is not the launch that it was.
  const machine::Order* replayed(const metrics::OrderFile& launch, const machine::KernelCode& code);
  /// Writes the order of the finding, and returns what is to be said of that.
  std::string keep(metrics::OrderFile launch, const machine::KernelCode& code,
                   const machine::Finding& finding) const;

  /// "FILE: launch 2 of kernel k does in this order what it does in the usual one"
  std::string unbroken_text() const;
  /// Whether the launch to be replayed has come.
  bool has_come() const { return has_come_; }
  /// "FILE: there was no launch 2 of kernel k", if it ought to have come in the present case; else
  /// empty.
  std::string missing_in_case() const;

 private:
  struct Replayed {
    std::filesystem::path path;
    metrics::OrderFile file;
    machine::Order order;
  };
  std::filesystem::path folder_;
  std::filesystem::path shown_;  ///< the same for messages
  std::optional<Replayed> replayed_;
  std::string case_;
  std::map<std::string, std::uint64_t> launches_;  ///< by kernel
  bool has_come_ = false;
};

}  // namespace warpgauge::emulator::runtime
