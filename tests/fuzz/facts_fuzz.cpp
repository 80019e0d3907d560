// libFuzzer target: no file may make the reader of facts crash, hang or throw anything but its own
// error, which names the line; and what it accepts becomes the same when it is written and read.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/facts/fact.h"
#include "tests/fuzz/require.h"

namespace {

using namespace warpgauge::metrics;

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : file_(memfd_create("facts", MFD_CLOEXEC)) {
    require(file_ >= 0 && write(file_, content.data(), content.size()) ==
                              static_cast<ssize_t>(content.size()),
            "memory can be written");
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// The runs as a file; values that share a case stand together.
std::string text_of(const std::vector<StoredRun>& runs) {
  constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;
  std::string text;
  const auto add = [&](const nlohmann::ordered_json& record) {
    text += record.dump(-1, ' ', false, kReplace) + '\n';
  };
  for (const StoredRun& run : runs) {
    add(run_json(run.run));
    for (const Fact& fact : run.facts) {
      const nlohmann::ordered_json described = case_json(fact);
      add(described);
      for (const auto& values : values_json({&fact, 1}, described["case"])) add(values);
    }
  }
  return text;
}

std::vector<StoredRun> read(std::string_view text) {
  const MemoryFile file(text);
  try {
    return read_facts(file.path());
  } catch (const FactError& error) {
    const std::string_view what = error.what();
    require(what.starts_with(file.path().string() + ":"), "errors name the place");
    throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<StoredRun> runs;
  try {
    runs = read({reinterpret_cast<const char*>(data), size});
  } catch (const FactError&) {
    return 0;
  }
  const std::string once = text_of(runs);
  require(text_of(read(once)) == once, "what was written is read as it was");
  return 0;
}
