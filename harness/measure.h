// What programs that measure inside of tests (warpgauge/measure.h) do before anything else.
#pragma once

namespace warpgauge {

/// Makes what measures, before the first kernel is launched; without a device measure() says why
/// not. Throws metrics::CudaError for a GPU that is there and cannot be used.
void prepare_to_measure();

}  // namespace warpgauge
