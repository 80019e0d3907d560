// The functions of the CUDA driver that are emulated, each with the version of CUDA that it came
// with (cudaTypedefs.h), without those for per-thread streams, which are the same.
#pragma once

// clang-format off
#define WARPGAUGE_EMULATED_DRIVER_FUNCTIONS(X) \
  X(cuCtxGetCurrent, 4000) X(cuCtxGetDevice, 2000) X(cuCtxGetDevice_v2, 13000) \
  X(cuCtxGetStreamPriorityRange, 5050) X(cuCtxPopCurrent_v2, 4000) X(cuCtxPushCurrent_v2, 4000) \
  X(cuCtxSetCurrent, 4000) X(cuCtxSynchronize, 2000) X(cuCtxSynchronize_v2, 13000) \
  X(cuDeviceComputeCapability, 2000) X(cuDeviceGet, 2000) X(cuDeviceGetAttribute, 2000) \
  X(cuDeviceGetByPCIBusId, 4010) X(cuDeviceGetCount, 2000) X(cuDeviceGetName, 2000) \
  X(cuDeviceGetPCIBusId, 4010) X(cuDeviceGetUuid, 9020) X(cuDeviceGetUuid_v2, 11040) \
  X(cuDevicePrimaryCtxGetState, 7000) X(cuDevicePrimaryCtxRelease, 7000) \
  X(cuDevicePrimaryCtxRelease_v2, 11000) X(cuDevicePrimaryCtxRetain, 7000) \
  X(cuDeviceTotalMem_v2, 3020) X(cuDriverGetVersion, 2020) X(cuEventCreate, 2000) \
  X(cuEventDestroy_v2, 4000) X(cuEventElapsedTime, 2000) X(cuEventElapsedTime_v2, 12080) \
  X(cuEventQuery, 2000) X(cuEventRecord, 2000) X(cuEventRecordWithFlags, 11010) \
  X(cuEventSynchronize, 2000) X(cuFuncGetAttribute, 2020) X(cuFuncGetName, 12030) \
  X(cuFuncGetParamInfo, 12040) X(cuFuncSetAttribute, 9000) X(cuFuncSetCacheConfig, 3000) \
  X(cuGetErrorName, 6000) X(cuGetErrorString, 6000) X(cuGetProcAddress, 11030) \
  X(cuGetProcAddress_v2, 12000) X(cuInit, 2000) X(cuLaunchCooperativeKernel, 9000) \
  X(cuLaunchKernel, 4000) X(cuLaunchKernelEx, 11060) X(cuMemAllocAsync, 11020) \
  X(cuMemAllocHost_v2, 3020) X(cuMemAllocManaged, 6000) X(cuMemAlloc_v2, 3020) \
  X(cuMemFreeAsync, 11020) X(cuMemFreeHost, 2000) X(cuMemFree_v2, 3020) \
  X(cuMemGetAddressRange_v2, 3020) X(cuMemGetInfo_v2, 3020) \
  X(cuMemHostAlloc, 2020) X(cuMemcpy, 4000) X(cuMemcpyAsync, 4000) X(cuMemcpyDtoDAsync_v2, 3020) \
  X(cuMemcpyDtoD_v2, 3020) X(cuMemcpyDtoHAsync_v2, 3020) X(cuMemcpyDtoH_v2, 3020) \
  X(cuMemcpyHtoDAsync_v2, 3020) X(cuMemcpyHtoD_v2, 3020) X(cuMemsetD16Async, 3020) \
  X(cuMemsetD16_v2, 3020) X(cuMemsetD32Async, 3020) X(cuMemsetD32_v2, 3020) \
  X(cuMemsetD8Async, 3020) X(cuMemsetD8_v2, 3020) \
  X(cuOccupancyAvailableDynamicSMemPerBlock, 10020) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) \
  X(cuOccupancyMaxPotentialBlockSize, 6050) X(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000) \
  X(cuPointerGetAttribute, 4000) X(cuStreamCreate, 2000) X(cuStreamCreateWithPriority, 5050) \
  X(cuStreamDestroy_v2, 4000) X(cuStreamGetFlags, 5050) X(cuStreamGetId, 12000) \
  X(cuStreamGetPriority, 5050) X(cuStreamQuery, 2000) X(cuStreamSynchronize, 2000) \
  X(cuStreamWaitEvent, 3020) X(cuTensorMapEncodeIm2col, 12000) \
  X(cuTensorMapEncodeIm2colWide, 12080) X(cuTensorMapEncodeTiled, 12000) \
  X(cuTensorMapReplaceAddress, 12000)
// clang-format on
