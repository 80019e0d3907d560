// Streams and events.
#include "harness/emulator/driver/call.h"

#undef cuEventElapsedTime  // an earlier variant, which the toolkit's headers do not declare

namespace warpgauge::emulator::driver {

WARPGAUGE_API CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return call("cuStreamCreate", [&] { return cudaStreamCreateWithFlags(stream, flags); });
}

WARPGAUGE_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return call("cuStreamCreateWithPriority",
              [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

WARPGAUGE_API CUresult cuStreamDestroy_v2(CUstream stream) {
  return call("cuStreamDestroy", [&] { return cudaStreamDestroy(stream); });
}

WARPGAUGE_API CUresult cuStreamSynchronize(CUstream stream) {
  return call("cuStreamSynchronize", [&] { return cudaStreamSynchronize(stream); });
}

WARPGAUGE_API CUresult cuStreamQuery(CUstream stream) {
  return call("cuStreamQuery", [&] { return cudaStreamQuery(stream); });
}

WARPGAUGE_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return call("cuStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream, event, flags); });
}

WARPGAUGE_API CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return call("cuStreamGetPriority", [&] { return cudaStreamGetPriority(stream, priority); });
}

WARPGAUGE_API CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return call("cuStreamGetFlags", [&] { return cudaStreamGetFlags(stream, flags); });
}

WARPGAUGE_API CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return call("cuStreamGetDevice", [&] { return cudaStreamGetDevice(stream, device); });
}

WARPGAUGE_API CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return call("cuStreamGetId", [&] { return cudaStreamGetId(stream, id); });
}

WARPGAUGE_API CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call("cuEventCreate", [&] { return cudaEventCreateWithFlags(event, flags); });
}

WARPGAUGE_API CUresult cuEventDestroy_v2(CUevent event) {
  return call("cuEventDestroy", [&] { return cudaEventDestroy(event); });
}

WARPGAUGE_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call("cuEventRecord", [&] { return cudaEventRecord(event, stream); });
}

WARPGAUGE_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return call("cuEventRecordWithFlags",
              [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}

WARPGAUGE_API CUresult cuEventQuery(CUevent event) {
  return call("cuEventQuery", [&] { return cudaEventQuery(event); });
}

WARPGAUGE_API CUresult cuEventSynchronize(CUevent event) {
  return call("cuEventSynchronize", [&] { return cudaEventSynchronize(event); });
}

WARPGAUGE_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return call("cuEventElapsedTime", [&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

WARPGAUGE_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

WARPGAUGE_PER_THREAD(cuStreamSynchronize, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamQuery, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamWaitEvent, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetPriority, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetFlags, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetDevice, _ptsz)
WARPGAUGE_PER_THREAD(cuStreamGetId, _ptsz)
WARPGAUGE_PER_THREAD(cuEventRecord, _ptsz)
WARPGAUGE_PER_THREAD(cuEventRecordWithFlags, _ptsz)

}  // namespace warpgauge::emulator::driver
