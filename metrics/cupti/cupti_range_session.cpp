// The calls of CUPTI's range profiler (user ranges, user replay), in the order in which they work.
#include "metrics/cupti/cupti_range_session.h"

#include <cuda_runtime_api.h>

#include <charconv>
#include <string_view>

#include "metrics/cupti/cupti_context.h"
#include "metrics/cupti/cupti_error.h"

namespace warpgauge::metrics {

// A pass from start to stop; an exception of an item closes what is open.
class RangeSession::Pass {
 public:
  explicit Pass(CUpti_RangeProfiler_Object* object) : object_(object) {
    WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_Start, params);
    params.pRangeProfilerObject = object_;
    WARPGAUGE_CUPTI_IN_TURN(cuptiRangeProfilerStart, &params);
  }

  ~Pass() {
    if (stopped_) return;
    cudaDeviceSynchronize();
    if (in_range_) {
      WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, pop);
      pop.pRangeProfilerObject = object_;
      cuptiRangeProfilerPopRange(&pop);
    }
    WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, params);
    params.pRangeProfilerObject = object_;
    cuptiRangeProfilerStop(&params);
  }

  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  void push(const std::string& name) {
    WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, params);
    params.pRangeProfilerObject = object_;
    params.pRangeName = name.c_str();
    WARPGAUGE_CUPTI(cuptiRangeProfilerPushRange, &params);
    in_range_ = true;
  }

  void pop() {
    in_range_ = false;
    WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, params);
    params.pRangeProfilerObject = object_;
    WARPGAUGE_CUPTI(cuptiRangeProfilerPopRange, &params);
  }

  /// True when CUPTI needs no further pass.
  bool stop() {
    stopped_ = true;
    WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, params);
    params.pRangeProfilerObject = object_;
    WARPGAUGE_CUPTI(cuptiRangeProfilerStop, &params);
    return params.isAllPassSubmitted != 0;
  }

 private:
  CUpti_RangeProfiler_Object* object_;
  bool in_range_ = false;
  bool stopped_ = false;
};

RangeSession::RangeSession(CUcontext context) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, params);
  params.ctx = context;
  WARPGAUGE_CUPTI(cuptiRangeProfilerEnable, &params);
  object_ = params.pRangeProfilerObject;
}

RangeSession::~RangeSession() {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable, params);
  params.pRangeProfilerObject = object_;
  cuptiRangeProfilerDisable(&params);
}

CounterData RangeSession::run(std::span<const RangeItem> items,
                              std::span<const std::uint8_t> config, std::size_t passes,
                              std::vector<const char*> metrics) {
  CounterData data = make_counter_data(items.size(), metrics);
  configure(config, data, items.size());
  // CUPTI says when no further pass is needed. The count only prevents an endless loop after a
  // fault.
  std::size_t done = 0;
  while (!run_pass(items)) {
    if (++done > 2 * passes) {
      throw Unmeasured("the range profiler wanted more than twice the " + std::to_string(passes) +
                           " passes that it had announced",
                       "");
    }
  }
  decode();
  return data;
}

CounterData RangeSession::make_counter_data(std::size_t ranges, std::vector<const char*>& metrics) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = metrics.data();
  size.numMetrics = metrics.size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
  WARPGAUGE_CUPTI(cuptiRangeProfilerGetCounterDataSize, &size);
  CounterData data(size.counterDataSize);
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = object_;
  params.counterDataSize = data.size();
  params.pCounterData = data.data();
  WARPGAUGE_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, &params);
  return data;
}

void RangeSession::configure(std::span<const std::uint8_t> config, CounterData& data,
                             std::size_t ranges) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, params);
  params.pRangeProfilerObject = object_;
  params.configSize = config.size();
  params.pConfig = config.data();
  params.counterDataImageSize = data.size();
  params.pCounterDataImage = data.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = ranges;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  WARPGAUGE_CUPTI(cuptiRangeProfilerSetConfig, &params);
}

bool RangeSession::run_pass(std::span<const RangeItem> items) {
  Pass pass(object_);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].prepare();
    wait_for_device();  // the preparation must end before the range opens
    // The range is named by the item's number: two ranges with one name would become one.
    pass.push(std::to_string(i));
    items[i].launch();
    pass.pop();
  }
  wait_for_device();
  return pass.stop();
}

void RangeSession::decode() {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, params);
  params.pRangeProfilerObject = object_;
  WARPGAUGE_CUPTI(cuptiRangeProfilerDecodeData, &params);
  if (params.numOfRangeDropped == 0) return;
  throw Unmeasured(
      "the range profiler dropped " + std::to_string(params.numOfRangeDropped) + " ranges",
      "Measure fewer cases at once (--filter)");
}

std::size_t range_count(const CounterData& data) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, params);
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  WARPGAUGE_CUPTI(cuptiRangeProfilerGetCounterDataInfo, &params);
  return params.numTotalRanges;
}

std::size_t item_of_range(const CounterData& data, std::size_t index, std::size_t items) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, params);
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  params.rangeIndex = index;
  params.rangeDelimiter = "/";
  WARPGAUGE_CUPTI(cuptiRangeProfilerCounterDataGetRangeInfo, &params);
  const std::string_view name = params.rangeName ? params.rangeName : "";
  std::size_t item = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), item);
  if (error == std::errc{} && end == name.data() + name.size() && item < items) return item;
  throw Unmeasured(
      "the range profiler returned a range '" + std::string(name) + "' that was never opened", "");
}

}  // namespace warpgauge::metrics
