#include "warpgauge/problem.h"

#include "harness/process/one_process.h"
#include "warpgauge/buffers.h"

namespace warpgauge {

std::int64_t Size::count() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents_) product *= extent;
  return product;
}

std::string Size::str() const {
  std::string text;
  for (const std::int64_t extent : extents_) {
    if (!text.empty()) text += 'x';
    text += std::to_string(extent);
  }
  return text;
}

double Problem::bytes() const {
  double sum = 0;
  for (const Buffer* buffer : buffers_) sum += buffer->traffic();
  return sum;
}

void Problem::reset() {
  for (Buffer* buffer : buffers_) buffer->reset();
  prepare();
  process::end_if_copy();
}

}  // namespace warpgauge
