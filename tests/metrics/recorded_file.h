// Recorded files, which stand in tests/data.
#pragma once

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpgauge::metrics {

/// The contents of a file by its path below tests/data. Throws std::runtime_error if it is missing.
inline std::string recorded_text(const std::string& file) {
  const std::string path = std::string(WARPGAUGE_TEST_DATA) + "/" + file;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<std::byte> recorded_file(const std::string& file) {
  const std::string text = recorded_text(file);
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace warpgauge::metrics
