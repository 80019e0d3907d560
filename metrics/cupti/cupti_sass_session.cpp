// The calls of CUPTI's SASS metrics, in the order in which they work.
#include "metrics/cupti/cupti_sass_session.h"

#include <cuda_runtime_api.h>
#include <cupti_sass_metrics.h>

#include <algorithm>
#include <span>

#include "metrics/cupti/cupti.h"
#include "metrics/cupti/cupti_error.h"
#include "metrics/cupti/cupti_host.h"

namespace warpgauge::metrics {
namespace {

// Adds the values of the configured metrics. Other slots are passed over, because CUPTI does not
// fill them.
void add_values(SassValues& values, std::span<const SassId> metrics,
                std::span<const CUpti_SassMetrics_InstanceValue> instances) {
  for (const auto& instance : instances) {
    const auto found = std::ranges::find(metrics, instance.metricId, &SassId::id);
    if (found != metrics.end()) values[found->metric] += instance.value;
  }
}

bool is_zero(std::uint64_t value) { return value == 0; }

CUpti_SassMetricsGetDataProperties_Params data_of(CUcontext context) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties, params);
  params.ctx = context;
  WARPGAUGE_CUPTI(cuptiSassMetricsGetDataProperties, &params);
  return params;
}

SassId sass_id(const std::string& chip, SassMetric metric) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetrics_GetProperties, params);
  const std::string metric_name(name(metric));
  params.pChipName = chip.c_str();
  params.pMetricName = metric_name.c_str();
  WARPGAUGE_CUPTI(cuptiSassMetricsGetProperties, &params);
  return {metric, params.metric.metricId};
}

std::vector<SassId> ids_of(const std::string& chip) {
  const std::vector<std::string> known = sass_names(chip);
  std::vector<SassId> ids;
  std::string lacking;
  for (std::size_t i = 0; i < kSassMetrics.size(); ++i) {
    const auto metric = static_cast<SassMetric>(i);
    if (std::ranges::find(known, name(metric)) != known.end()) {
      ids.push_back(sass_id(chip, metric));
    } else if (!is_optional(name(metric))) {
      lacking.append(lacking.empty() ? "" : ", ").append(name(metric));
    }
  }
  if (lacking.empty()) return ids;
  throw Unmeasured("chip " + chip + " has not all of the SASS metrics: it lacks " + lacking,
                   "Run on compute capability 7.5 or higher");
}

std::vector<SassId> configure(const CuptiContext& context) {
  std::vector<SassId> metrics = ids_of(context.chip);
  std::vector<CUpti_SassMetrics_Config> configs;
  for (const SassId& metric : metrics) {
    configs.push_back({metric.id, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
  }
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetricsSetConfig, params);
  params.numOfMetricConfig = configs.size();
  params.pConfigs = configs.data();
  params.deviceIndex = static_cast<std::uint32_t>(context.device);
  WARPGAUGE_CUPTI(cuptiSassMetricsSetConfig, &params);
  return metrics;
}

}  // namespace

const std::vector<SassId>& configured_metrics(const CuptiContext& context) {
  // Never destroyed: an attached program's counts are taken when it exits.
  static auto& configured = *new std::map<int, std::vector<SassId>>;  // by device
  const auto found = configured.find(context.device);
  if (found != configured.end()) return found->second;
  return configured.emplace(context.device, configure(context)).first->second;
}

SassSession::SassSession(const CuptiContext& context)
    : context_(context.context), metrics_(configured_metrics(context)) {
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetricsEnable, params);
  params.ctx = context_;
  params.enableLazyPatching = 1;  // patch only what is launched
  WARPGAUGE_CUPTI(cuptiSassMetricsEnable, &params);
}

SassSession::~SassSession() {
  if (!counting_) return;
  cudaDeviceSynchronize();
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetricsDisable, params);
  params.ctx = context_;
  cuptiSassMetricsDisable(&params);
}

std::size_t SassSession::size() const { return data_of(context_).numOfPatchedInstructionRecords; }

SassRecords SassSession::take() {
  const CUpti_SassMetricsGetDataProperties_Params size = data_of(context_);
  const std::size_t records = size.numOfPatchedInstructionRecords;
  if (records == 0 || size.numOfInstances == 0) return {};  // CUPTI refuses to flush nothing

  std::vector<CUpti_SassMetrics_InstanceValue> values(records * size.numOfInstances);
  std::vector<CUpti_SassMetrics_Data> data(records);
  for (std::size_t i = 0; i < records; ++i) {
    data[i].structSize = sizeof(CUpti_SassMetrics_Data);
    data[i].pInstanceValues = &values[i * size.numOfInstances];
  }
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetricsFlushData, params);
  params.ctx = context_;
  params.numOfPatchedInstructionRecords = records;
  params.numOfInstances = size.numOfInstances;
  params.pMetricsData = data.data();
  WARPGAUGE_CUPTI(cuptiSassMetricsFlushData, &params);

  // Several records, each with some of the metrics, can belong to one instruction. Instructions
  // that were not executed are left out: a kernel of NCCL can call a million of them.
  SassRecords merged;
  for (const CUpti_SassMetrics_Data& record : data) {
    const std::span values_of(record.pInstanceValues, size.numOfInstances);
    if (std::ranges::all_of(values_of, is_zero, &CUpti_SassMetrics_InstanceValue::value)) continue;
    const Instruction instruction{record.cubinCrc, record.functionName ? record.functionName : "",
                                  record.pcOffset};
    add_values(merged[instruction], metrics_, values_of);
  }
  return merged;
}

void SassSession::leave() { counting_ = false; }

void SassSession::stop() {
  WARPGAUGE_CUPTI_PARAMS(CUpti_SassMetricsDisable, params);
  params.ctx = context_;
  WARPGAUGE_CUPTI(cuptiSassMetricsDisable, &params);
  counting_ = false;
  if (params.numOfDroppedRecords == 0) return;
  throw Unmeasured(
      "CUPTI dropped " + std::to_string(params.numOfDroppedRecords) + " records of instructions",
      "Launch fewer kernels at once, and none from another thread");
}

}  // namespace warpgauge::metrics
