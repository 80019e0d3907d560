// A cubin with its line tables.
#pragma once

#include "metrics/machine_code/cubin.h"
#include "metrics/machine_code/line_table.h"

namespace warpgauge::emulator::counting {

struct CodeWithLines {
  const metrics::Cubin& cubin;
  const metrics::SourceLines& sources;
  const metrics::PtxLines& lines;
};

}  // namespace warpgauge::emulator::counting
