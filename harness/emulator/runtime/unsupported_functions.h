// The functions of the CUDA runtime that are not emulated: all that libcudart.so of CUDA 13.0
// exports and no other file of this folder and of driver/ defines.
#pragma once

// clang-format off
#define WARPGAUGE_UNSUPPORTED_FUNCTIONS(X) \
  X(__cudaGetProcAddress) X(__cudaRegisterHostVar) X(__cudaRegisterUnifiedTable) \
  X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) \
  X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) \
  X(cudaDeviceFlushGPUDirectRDMAWrites) X(cudaDeviceGetHostAtomicCapabilities) \
  X(cudaDeviceGetNvSciSyncAttributes) X(cudaDeviceGetP2PAtomicCapabilities) \
  X(cudaDeviceRegisterAsyncNotification) X(cudaDeviceUnregisterAsyncNotification) \
  X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect) \
  X(cudaEGLStreamConsumerConnectWithFlags) X(cudaEGLStreamConsumerDisconnect) \
  X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect) \
  X(cudaEGLStreamProducerDisconnect) X(cudaEGLStreamProducerPresentFrame) \
  X(cudaEGLStreamProducerReturnFrame) X(cudaEventCreateFromEGLSync) \
  X(cudaExternalMemoryGetMappedBuffer) X(cudaExternalMemoryGetMappedMipmappedArray) \
  X(cudaFreeMipmappedArray) X(cudaGLGetDevices) X(cudaGLMapBufferObject) \
  X(cudaGLMapBufferObjectAsync) X(cudaGLRegisterBufferObject) X(cudaGLSetBufferObjectMapFlags) \
  X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync) \
  X(cudaGLUnregisterBufferObject) X(cudaGetExportTable) X(cudaGetMipmappedArrayLevel) \
  X(cudaGetTextureObjectResourceViewDesc) X(cudaGraphAddExternalSemaphoresSignalNode) \
  X(cudaGraphAddExternalSemaphoresWaitNode) X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphExternalSemaphoresSignalNodeGetParams) \
  X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) X(cudaGraphicsGLRegisterImage) \
  X(cudaGraphicsMapResources) X(cudaGraphicsResourceGetMappedEglFrame) \
  X(cudaGraphicsResourceGetMappedMipmappedArray) X(cudaGraphicsResourceGetMappedPointer) \
  X(cudaGraphicsResourceSetMapFlags) X(cudaGraphicsSubResourceGetMappedArray) \
  X(cudaGraphicsUnmapResources) X(cudaGraphicsUnregisterResource) \
  X(cudaGraphicsVDPAURegisterOutputSurface) X(cudaGraphicsVDPAURegisterVideoSurface) \
  X(cudaImportExternalMemory) X(cudaImportExternalSemaphore) X(cudaIpcCloseMemHandle) \
  X(cudaIpcGetEventHandle) X(cudaIpcGetMemHandle) X(cudaIpcOpenEventHandle) \
  X(cudaIpcOpenMemHandle) X(cudaLibraryGetManaged) X(cudaLibraryGetUnifiedFunction) \
  X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) X(cudaLogsRegisterCallback) \
  X(cudaLogsUnregisterCallback) X(cudaMallocMipmappedArray) \
  X(cudaMemDiscardAndPrefetchBatchAsync) X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) \
  X(cudaMemDiscardBatchAsync) X(cudaMemDiscardBatchAsync_ptsz) X(cudaMemGetDefaultMemPool) \
  X(cudaMemGetMemPool) X(cudaMemPoolExportPointer) X(cudaMemPoolExportToShareableHandle) \
  X(cudaMemPoolGetAccess) X(cudaMemPoolImportFromShareableHandle) X(cudaMemPoolImportPointer) \
  X(cudaMemPrefetchBatchAsync) X(cudaMemPrefetchBatchAsync_ptsz) X(cudaMemRangeGetAttribute) \
  X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) X(cudaMemcpy3DBatchAsync) \
  X(cudaMemcpy3DBatchAsync_ptsz) X(cudaMemcpyBatchAsync) X(cudaMemcpyBatchAsync_ptsz) \
  X(cudaMipmappedArrayGetMemoryRequirements) X(cudaMipmappedArrayGetSparseProperties) \
  X(cudaSignalExternalSemaphoresAsync) X(cudaSignalExternalSemaphoresAsync_ptsz) \
  X(cudaVDPAUGetDevice) X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) \
  X(cudaWaitExternalSemaphoresAsync_ptsz)
// clang-format on
