// The emulated runtime as a shared library, libcudart.so, for programs that were not built with it:
// when such a program ends, its counts and faults go to the file that `warpgauge emulate` asked
// for.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "harness/emulator/emulator.h"
#include "metrics/counts_report.h"

namespace warpgauge::emulator::preload {
namespace {

class ReportAtExit {
 public:
  ReportAtExit() {
    Emulator::instance();  // made before this, it is taken down after it
  }
  ~ReportAtExit() {
    const char* path = std::getenv(metrics::kReportVariable);
    if (path == nullptr) return;
    try {
      Emulator& emulator = Emulator::instance();
      metrics::append_report(path, {emulator.take_counts(), emulator.take_faults()});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "warpgauge: %s\n", error.what());
    }
  }
};

const ReportAtExit report_at_exit;

}  // namespace
}  // namespace warpgauge::emulator::preload
