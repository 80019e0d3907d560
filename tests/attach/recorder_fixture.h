// The recorder with a driver and a CUPTI that are played.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "harness/attach/recorder.h"
#include "tests/attach/played_cuda.h"

namespace warpgauge::attach::played_cuda {

using metrics::SassMetric;

class Recorder : public testing::Test {
 protected:
  void SetUp() override {
    played = {};
    std::string name = testing::TempDir() + "recorder-XXXXXX";
    folder = mkdtemp(name.data());
    recorder = std::make_unique<attach::Recorder>(folder, programs::LaunchFilter());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Starts the recorder with an empty folder.
  void start_anew(const programs::LaunchFilter& choice) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    recorder = std::make_unique<attach::Recorder>(folder, choice);
  }
  auto begin(CUcontext context, const std::string& kernel, std::uint32_t blocks = 4) {
    return recorder->launch(
        context, {kFunction, kernel, {.grid = {blocks, 1, 1}, .block = {32, 1, 1}}}, kStream);
  }
  void launch_in(CUcontext context, const std::string& kernel, std::uint32_t blocks = 4) {
    auto launching = begin(context, kernel, blocks);
    if (!launching) return;
    {
      const std::scoped_lock lock(playing);
      const bool counts = played.counting.contains(context) && !played.deaf.contains(context);
      if (counts) ++played.on_gpu[context];
    }
    recorder->launched(std::move(*launching), true);
  }
  void launch(const std::string& kernel = "kernel", std::uint32_t blocks = 4) {
    launch_in(kContext, kernel, blocks);
  }
  void launch_graph() {
    recorder->launched(recorder->graph_launch(kContext, kExec, kStream).value(), true);
  }
  /// Loads code in another thread, as programs do.
  void load_code(CUcontext context) {
    std::thread([&] { recorder->code_loaded(context); }).join();
    if (played.counting.contains(context)) played.deaf.insert(context);
  }
  void capture(CUstream stream) {
    recorder->capture_begins(kContext, stream);
    played.capturing.insert(stream);
  }
  void end_capture(CUstream stream) {
    played.capturing.erase(stream);
    recorder->capture_ends(stream);
  }
  /// The file as it would be read if the process ended now.
  AttachedProcess saved() const {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream file(entry.path());
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
    return attach::parse_attached(text, "saved");
  }
  /// The launches on record if the process ended now.
  std::uint64_t launched() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".launches") continue;
      return attach::LaunchCount::of(entry.path()).value();
    }
    throw std::logic_error("no file of launches");
  }
  std::uint64_t counted(std::optional<int> on = std::nullopt) const {
    std::uint64_t sum = 0;
    for (const auto& [device, records] : saved().records) {
      if (on && *on != device) continue;
      for (const auto& [instruction, values] : records) sum += values[SassMetric::instructions];
    }
    return sum;
  }

  std::filesystem::path folder;
  std::unique_ptr<attach::Recorder> recorder;
};

}  // namespace warpgauge::attach::played_cuda
