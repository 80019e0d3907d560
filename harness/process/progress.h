// Progress of long work on stderr: one line that is rewritten on a terminal, a line every tenth of
// the work elsewhere.
#pragma once

#include <cstddef>
#include <string>

namespace warpgauge::process {

class Progress {
 public:
  Progress(std::string what, std::size_t count);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done(const std::string& item);

 private:
  void say(const std::string& text) const;

  std::string what_;
  std::size_t count_, done_ = 0;
  bool terminal_;
};

}  // namespace warpgauge::process
