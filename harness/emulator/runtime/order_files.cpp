// Files of orders of warps and blocks, and the launches that they are of.
#include "harness/emulator/runtime/order_files.h"

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "harness/emulator/machine/core/code.h"
#include "harness/emulator/ptx/module.h"
#include "metrics/base/hash.h"

namespace warpgauge::emulator::runtime {
namespace {

namespace fs = std::filesystem;

void add(std::string& text, const ptx::Operand& operand) {
  text += operand.name + operand.selector + (operand.negated ? "!" : "") + ":" +
          std::to_string(operand.bits) + "+" + std::to_string(operand.offset) + ",";
  for (const ptx::Operand& element : operand.elements) add(text, element);
}

/// A hash of the instructions of a kernel, with all functions that it may call.
std::string hash_of(const machine::KernelCode& code) {
  std::string text;
  for (const auto& function : code.functions) {
    text += function->function->name + "\n";
    for (const ptx::Instruction& instruction : function->function->body) {
      if (instruction.guard) add(text, *instruction.guard);
      text += instruction.full_name() + " ";
      for (const ptx::Operand& operand : instruction.operands) add(text, operand);
      text += "\n";
    }
  }
  return metrics::hash_text(text);
}

machine::WarpId warp_of(const metrics::WarpPlace& place) {
  return {place[0], static_cast<std::uint32_t>(place[1])};
}
metrics::WarpPlace place_of(const machine::WarpId& warp) { return {warp.block, warp.warp}; }

std::string launch_text(const metrics::OrderFile& file) {
  return "launch " + std::to_string(file.launch) + " of kernel " +
         machine::display_name(file.kernel);
}

/// A path for messages: from the current folder where it lies below that.
fs::path shown(const fs::path& path) {
  const fs::path near = path.lexically_proximate(fs::current_path());
  return near.native().starts_with("..") ? path : near;
}

}  // namespace

void OrderFiles::write_to(const fs::path& folder) {
  folder_ = folder.empty() ? folder : fs::absolute(folder).lexically_normal();
  shown_ = folder.empty() ? folder : shown(folder_);
}

void OrderFiles::replay(const fs::path& path) {
  replayed_.reset();
  if (path.empty()) return;
  Replayed replayed{.path = path, .file = metrics::read_order(path), .order = {}};
  replayed.order.late_stores = replayed.file.late_stores;
  for (const metrics::OrderFile::Switch& each : replayed.file.switches) {
    replayed.order.switches.push_back({warp_of(each.from), each.after, warp_of(each.to)});
  }
  replayed_ = std::move(replayed);
}

void OrderFiles::begin_case(const std::string& id) {
  case_ = id;
  launches_.clear();
  has_come_ = false;
}

metrics::OrderFile OrderFiles::next_launch(const std::string& arch, const std::string& kernel,
                                           const machine::Launch& launch) {
  metrics::OrderFile file;
  file.test_case = case_;
  file.arch = arch;
  file.kernel = kernel;
  file.launch = ++launches_[kernel];
  file.grid = launch.grid;
  file.block = launch.block;
  return file;
}

const machine::Order* OrderFiles::replayed(const metrics::OrderFile& launch,
                                           const machine::KernelCode& code) {
  if (!replayed_) return nullptr;
  const metrics::OrderFile& file = replayed_->file;
  const bool is_it = file.test_case == launch.test_case && file.kernel == launch.kernel &&
                     file.launch == launch.launch;
  if (!is_it) return nullptr;
  has_come_ = true;
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(replayed_->path.string() + ": " + launch_text(file) + " " + why +
                                "; look for orders anew, with --schedules");
  };
  if (file.arch != launch.arch)
    refuse("was one of " + file.arch + ", and is one of " + launch.arch);
  if (file.code != hash_of(code)) refuse("has other code now");
  if (file.grid != launch.grid || file.block != launch.block) refuse("has another grid or block");
  return &replayed_->order;
}

std::string OrderFiles::keep(metrics::OrderFile launch, const machine::KernelCode& code,
                             const machine::Finding& finding) const {
  if (finding.order == nullptr || folder_.empty()) return "";
  const machine::BreakingOrder& order = *finding.order;
  launch.code = hash_of(code);
  launch.breaks = finding.text;
  launch.late_stores = order.order.late_stores;
  for (std::size_t n = 0; n < order.order.switches.size(); ++n) {
    const machine::Switch& each = order.order.switches[n];
    launch.switches.push_back(
        {place_of(each.from), each.after, place_of(each.to), order.from[n], order.to[n]});
  }
  try {
    const fs::path path = metrics::write_order(folder_, launch);
    return "; again with --replay " + (shown_ / path.filename()).string();
  } catch (const metrics::OrderFileError& error) {
    return std::string("; ") + error.what();
  }
}

std::string OrderFiles::unbroken_text() const {
  return replayed_->path.string() + ": " + launch_text(replayed_->file) +
         " does in this order what it does in the usual one";
}

std::string OrderFiles::missing_in_case() const {
  const bool is_of_case = !case_.empty() && replayed_ && case_ == replayed_->file.test_case;
  if (!is_of_case || has_come_) return "";
  return replayed_->path.string() + ": there was no " + launch_text(replayed_->file);
}

}  // namespace warpgauge::emulator::runtime
