// Runs a function in a child process, and reads its text from a pipe.
#include "harness/process/isolated_text.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>

#include "harness/files/error_text.h"
#include "harness/process/worker_pool.h"
#include "metrics/base/shared_with_forks.h"

namespace warpgauge::process {
namespace {

/// The answer of the child.
struct Answer {
  bool failed;
  std::size_t length;
  char text[65536];

  void set(const std::string& given, bool is_failure) {
    length = given.copy(text, sizeof text);
    failed = is_failure;
  }
};

}  // namespace

std::string isolated_text(const std::function<std::string()>& make, std::chrono::seconds time_limit,
                          const std::function<void()>& meanwhile) {
  const auto answer = metrics::shared_with_forks<Answer>();
  WorkerPool pool({.count = 1,
                   .time_limit = time_limit,
                   .begin = [] {},
                   .work =
                       [&](std::size_t, bool) {
                         try {
                           answer->set(make(), false);
                         } catch (const std::exception& error) {
                           answer->set(files::error_text(error), true);
                         }
                         return ItemEnd::done;
                       },
                   .done = [](std::size_t) {},
                   .died =
                       [&](const CrashedItem& crashed) {
                         answer->set("its process was lost: " + crashed.reason, true);
                       }},
                  1);
  pool.begin_work();
  if (meanwhile) meanwhile();
  pool.work_through(1);
  // A child that went wrong may have written here, too: the length is not to be trusted.
  std::string text(answer->text, std::min(answer->length, sizeof(Answer::text)));
  if (answer->failed) throw std::runtime_error(text);
  return text;
}

}  // namespace warpgauge::process
