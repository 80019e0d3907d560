#include "harness/process/isolated_text.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "harness/files/error_text.h"
#include "harness/process/isolate.h"

namespace warpgauge::process {
namespace {

/// The answer of the child, in memory that it shares with its parent.
struct Answer {
  bool failed;
  std::size_t length;
  char text[65536];
};

class SharedAnswer {
 public:
  SharedAnswer()
      : memory_(mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  }
  ~SharedAnswer() { munmap(memory_, sizeof(Answer)); }
  SharedAnswer(const SharedAnswer&) = delete;
  SharedAnswer& operator=(const SharedAnswer&) = delete;

  void set(const std::string& text, bool failed) const {
    get().length = text.copy(get().text, sizeof(Answer::text));
    get().failed = failed;
  }
  Answer& get() const { return *static_cast<Answer*>(memory_); }

 private:
  void* memory_;
};

}  // namespace

std::string isolated_text(const std::function<std::string()>& make, std::chrono::seconds time_limit,
                          const std::function<void()>& meanwhile) {
  const SharedAnswer answer;
  Crew crew({.count = 1,
             .time_limit = time_limit,
             .begin = [] {},
             .work =
                 [&](std::size_t) {
                   try {
                     answer.set(make(), false);
                   } catch (const std::exception& error) {
                     answer.set(files::error_text(error), true);
                   }
                   return true;
                 },
             .done = [](std::size_t) {},
             .died =
                 [&](const CrashedItem& crashed) {
                   answer.set("its process was lost: " + crashed.reason, true);
                 }},
            1);
  crew.begin_work();
  if (meanwhile) meanwhile();
  crew.work_through(1);
  // What went wrong in the child may have written here, too.
  std::string text(answer.get().text, std::min(answer.get().length, sizeof(Answer::text)));
  if (answer.get().failed) throw std::runtime_error(text);
  return text;
}

}  // namespace warpgauge::process
