// The device runtime of a launch.
#include "harness/emulator/machine/control/device_queue.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "harness/emulator/machine/core/launch.h"

namespace warpgauge::emulator::machine::control {
namespace {

constexpr std::uint64_t kTailStream = 3;  // cudaStreamTailLaunch
/// Handles begin behind the numbers that name streams (cudaStreamPerThread and its like).
constexpr std::uint64_t kFirstHandle = 0x100;

}  // namespace

DeviceQueue::DeviceQueue(FindKernel find_kernel, const Architecture& architecture,
                         memory::Memory& memory)
    : find_kernel_(std::move(find_kernel)), architecture_(architecture), memory_(memory) {}

DeviceQueue::~DeviceQueue() {
  for (const auto& [parameters, launch] : reserved_) memory_.free(parameters);
  for (const auto& [text, copy] : texts_) memory_.free(copy);
}

std::byte* DeviceQueue::reserve(Thread thread, std::uint64_t kernel, DeviceLaunch shape) {
  const std::optional<DeviceKernel> known = find_kernel_(kernel);
  if (!known) {
    fail(thread, DeviceError::invalid_kernel);
    return nullptr;
  }
  const std::uint64_t threads = volume(shape.block);
  const bool fits = volume(shape.grid) > 0 && threads > 0 &&
                    threads <= architecture_.max_threads_per_block &&
                    shape.dynamic_shared_bytes <= architecture_.shared_per_block_opt_in;
  if (!fits) {
    fail(thread, DeviceError::invalid_configuration);
    return nullptr;
  }
  shape.kernel = known->name;
  shape.parameters.resize(known->parameter_bytes);
  std::byte* const parameters =
      memory_.allocate(std::max<std::uint64_t>(shape.parameters.size(), 1),
                       memory::Memory::Kind::heap, "the parameters of a launch");
  if (parameters == nullptr) {
    fail(thread, DeviceError::out_of_memory);
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  reserved_.emplace(parameters, std::move(shape));
  return parameters;
}

DeviceError DeviceQueue::launch(Thread thread, std::byte* parameters, std::uint64_t stream) {
  std::map<std::byte*, DeviceLaunch>::node_type reserved;
  {
    const std::lock_guard lock(mutex_);
    reserved = reserved_.extract(parameters);
  }
  if (reserved.empty()) return fail(thread, DeviceError::invalid_value);
  DeviceLaunch& launch = reserved.mapped();
  std::memcpy(launch.parameters.data(), parameters, launch.parameters.size());
  memory_.free(parameters);
  add(thread, std::move(launch), stream);
  return DeviceError::none;
}

void DeviceQueue::add(Thread thread, DeviceWork work, std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  OfBlock& of_block = blocks_[thread.first];
  (stream == kTailStream ? of_block.tail : of_block.work).push_back(std::move(work));
}

DeviceError DeviceQueue::fail(Thread thread, DeviceError error) {
  const std::lock_guard lock(mutex_);
  return errors_[thread] = error;
}

DeviceError DeviceQueue::last_error(Thread thread, bool forget) {
  const std::lock_guard lock(mutex_);
  const auto found = errors_.find(thread);
  if (found == errors_.end()) return DeviceError::none;
  const DeviceError error = found->second;
  if (forget) errors_.erase(found);
  return error;
}

std::uint64_t DeviceQueue::new_handle() {
  const std::lock_guard lock(mutex_);
  return kFirstHandle + handles_++;
}

const std::byte* DeviceQueue::keep_text(const char* text) {
  const std::lock_guard lock(mutex_);
  std::byte*& copy = texts_[text];
  if (copy != nullptr) return copy;
  const std::size_t bytes = std::strlen(text) + 1;
  copy = memory_.allocate(bytes, memory::Memory::Kind::symbol, "the text of an error");
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, bytes);
  memory_.note_written(copy, bytes);
  return copy;
}

std::vector<DeviceWork> DeviceQueue::take() {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceWork> out;
  for (auto& [number, block] : blocks_) std::ranges::move(block.work, std::back_inserter(out));
  for (auto& [number, block] : blocks_) std::ranges::move(block.tail, std::back_inserter(out));
  blocks_.clear();
  return out;
}

}  // namespace warpgauge::emulator::machine::control
