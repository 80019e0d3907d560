// The output of kernels: its order, and C's printf on device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace warpgauge::emulator::machine::control {

/// Puts what the blocks of a launch print into the order of their numbers. A block's text goes out
/// at once when all blocks before it have ended.
class OrderedOutput {
 public:
  explicit OrderedOutput(std::function<void(std::string_view)> print);
  /// Prints the rest, in order: a launch that faults still shows its output.
  ~OrderedOutput();
  OrderedOutput(const OrderedOutput&) = delete;
  OrderedOutput& operator=(const OrderedOutput&) = delete;

  void write(std::uint64_t block, std::string_view text);
  void finished(std::uint64_t block);

 private:
  struct Waiting {
    std::string text;
    bool finished = false;
  };
  std::function<void(std::string_view)> print_;
  std::mutex mutex_;
  std::uint64_t turn_ = 0;                    ///< the first block that has not ended
  std::map<std::uint64_t, Waiting> waiting_;  ///< texts of later blocks
};

/// Reads what printf was given: the arguments' bytes in order, each aligned to its size, and texts.
struct PrintfSource {
  std::function<std::uint64_t(std::uint64_t offset, int bytes)> argument;
  /// The text at an address, or the first `most` bytes of it.
  std::function<std::string(std::uint64_t address, std::size_t most)> text;
};

struct Printed {
  std::string text;
  int arguments = 0;  ///< so many the format asked for
};

/// The output of the device's printf for `format`.
Printed format_text(std::string_view format, const PrintfSource& source);

}  // namespace warpgauge::emulator::machine::control
