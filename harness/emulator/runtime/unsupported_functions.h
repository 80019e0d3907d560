// Which functions of the CUDA runtime are not emulated: all that libcudart.so of CUDA 13.0 exports
// and no other file of this folder defines.
#pragma once

// clang-format off
#define WARPGAUGE_UNSUPPORTED_FUNCTIONS(X) \
  X(__cudaGetProcAddress) X(__cudaRegisterHostVar) X(__cudaRegisterUnifiedTable) \
  X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) \
  X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) \
  X(cudaDeviceFlushGPUDirectRDMAWrites) X(cudaDeviceGetGraphMemAttribute) \
  X(cudaDeviceGetHostAtomicCapabilities) X(cudaDeviceGetNvSciSyncAttributes) \
  X(cudaDeviceGetP2PAtomicCapabilities) X(cudaDeviceGraphMemTrim) \
  X(cudaDeviceRegisterAsyncNotification) X(cudaDeviceSetGraphMemAttribute) \
  X(cudaDeviceUnregisterAsyncNotification) X(cudaEGLStreamConsumerAcquireFrame) \
  X(cudaEGLStreamConsumerConnect) X(cudaEGLStreamConsumerConnectWithFlags) \
  X(cudaEGLStreamConsumerDisconnect) X(cudaEGLStreamConsumerReleaseFrame) \
  X(cudaEGLStreamProducerConnect) X(cudaEGLStreamProducerDisconnect) \
  X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame) \
  X(cudaEventCreateFromEGLSync) X(cudaExternalMemoryGetMappedBuffer) \
  X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFreeMipmappedArray) X(cudaGLGetDevices) \
  X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) X(cudaGLRegisterBufferObject) \
  X(cudaGLSetBufferObjectMapFlags) X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) \
  X(cudaGLUnmapBufferObjectAsync) X(cudaGLUnregisterBufferObject) X(cudaGetDriverEntryPoint) \
  X(cudaGetDriverEntryPointByVersion) X(cudaGetDriverEntryPointByVersion_ptsz) \
  X(cudaGetDriverEntryPoint_ptsz) X(cudaGetExportTable) X(cudaGetFuncBySymbol) \
  X(cudaGetMipmappedArrayLevel) X(cudaGetTextureObjectResourceViewDesc) \
  X(cudaGraphAddChildGraphNode) X(cudaGraphAddDependencies) X(cudaGraphAddEmptyNode) \
  X(cudaGraphAddEventRecordNode) X(cudaGraphAddEventWaitNode) \
  X(cudaGraphAddExternalSemaphoresSignalNode) X(cudaGraphAddExternalSemaphoresWaitNode) \
  X(cudaGraphAddHostNode) X(cudaGraphAddKernelNode) X(cudaGraphAddMemAllocNode) \
  X(cudaGraphAddMemFreeNode) X(cudaGraphAddMemcpyNode) X(cudaGraphAddMemcpyNode1D) \
  X(cudaGraphAddMemcpyNodeFromSymbol) X(cudaGraphAddMemcpyNodeToSymbol) X(cudaGraphAddMemsetNode) \
  X(cudaGraphAddNode) X(cudaGraphChildGraphNodeGetGraph) X(cudaGraphClone) \
  X(cudaGraphConditionalHandleCreate) X(cudaGraphCreate) X(cudaGraphDebugDotPrint) \
  X(cudaGraphDestroy) X(cudaGraphDestroyNode) X(cudaGraphEventRecordNodeGetEvent) \
  X(cudaGraphEventRecordNodeSetEvent) X(cudaGraphEventWaitNodeGetEvent) \
  X(cudaGraphEventWaitNodeSetEvent) X(cudaGraphExecChildGraphNodeSetParams) \
  X(cudaGraphExecDestroy) X(cudaGraphExecEventRecordNodeSetEvent) \
  X(cudaGraphExecEventWaitNodeSetEvent) X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) X(cudaGraphExecGetFlags) \
  X(cudaGraphExecHostNodeSetParams) X(cudaGraphExecKernelNodeSetParams) \
  X(cudaGraphExecMemcpyNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D) \
  X(cudaGraphExecMemcpyNodeSetParamsFromSymbol) X(cudaGraphExecMemcpyNodeSetParamsToSymbol) \
  X(cudaGraphExecMemsetNodeSetParams) X(cudaGraphExecNodeSetParams) X(cudaGraphExecUpdate) \
  X(cudaGraphExternalSemaphoresSignalNodeGetParams) \
  X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
  X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
  X(cudaGraphGetEdges) X(cudaGraphGetNodes) X(cudaGraphGetRootNodes) \
  X(cudaGraphHostNodeGetParams) X(cudaGraphHostNodeSetParams) X(cudaGraphInstantiate) \
  X(cudaGraphInstantiateWithFlags) X(cudaGraphInstantiateWithParams) \
  X(cudaGraphInstantiateWithParams_ptsz) X(cudaGraphKernelNodeCopyAttributes) \
  X(cudaGraphKernelNodeGetAttribute) X(cudaGraphKernelNodeGetParams) \
  X(cudaGraphKernelNodeSetAttribute) X(cudaGraphKernelNodeSetParams) X(cudaGraphLaunch) \
  X(cudaGraphLaunch_ptsz) X(cudaGraphMemAllocNodeGetParams) X(cudaGraphMemFreeNodeGetParams) \
  X(cudaGraphMemcpyNodeGetParams) X(cudaGraphMemcpyNodeSetParams) \
  X(cudaGraphMemcpyNodeSetParams1D) X(cudaGraphMemcpyNodeSetParamsFromSymbol) \
  X(cudaGraphMemcpyNodeSetParamsToSymbol) X(cudaGraphMemsetNodeGetParams) \
  X(cudaGraphMemsetNodeSetParams) X(cudaGraphNodeFindInClone) X(cudaGraphNodeGetDependencies) \
  X(cudaGraphNodeGetDependentNodes) X(cudaGraphNodeGetEnabled) X(cudaGraphNodeGetType) \
  X(cudaGraphNodeSetEnabled) X(cudaGraphNodeSetParams) X(cudaGraphReleaseUserObject) \
  X(cudaGraphRemoveDependencies) X(cudaGraphRetainUserObject) X(cudaGraphUpload) \
  X(cudaGraphUpload_ptsz) X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) \
  X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources) \
  X(cudaGraphicsResourceGetMappedEglFrame) X(cudaGraphicsResourceGetMappedMipmappedArray) \
  X(cudaGraphicsResourceGetMappedPointer) X(cudaGraphicsResourceSetMapFlags) \
  X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
  X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
  X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaImportExternalMemory) \
  X(cudaImportExternalSemaphore) X(cudaIpcCloseMemHandle) X(cudaIpcGetEventHandle) \
  X(cudaIpcGetMemHandle) X(cudaIpcOpenEventHandle) X(cudaIpcOpenMemHandle) \
  X(cudaKernelSetAttributeForDevice) X(cudaLibraryEnumerateKernels) X(cudaLibraryGetGlobal) \
  X(cudaLibraryGetKernel) X(cudaLibraryGetKernelCount) X(cudaLibraryGetManaged) \
  X(cudaLibraryGetUnifiedFunction) X(cudaLibraryLoadData) X(cudaLibraryLoadFromFile) \
  X(cudaLibraryUnload) X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) \
  X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) X(cudaMallocMipmappedArray) \
  X(cudaMemDiscardAndPrefetchBatchAsync) X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) \
  X(cudaMemDiscardBatchAsync) X(cudaMemDiscardBatchAsync_ptsz) X(cudaMemGetDefaultMemPool) \
  X(cudaMemGetMemPool) X(cudaMemPoolExportPointer) X(cudaMemPoolExportToShareableHandle) \
  X(cudaMemPoolGetAccess) X(cudaMemPoolImportFromShareableHandle) X(cudaMemPoolImportPointer) \
  X(cudaMemPrefetchBatchAsync) X(cudaMemPrefetchBatchAsync_ptsz) X(cudaMemRangeGetAttribute) \
  X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) X(cudaMemcpy3DBatchAsync) \
  X(cudaMemcpy3DBatchAsync_ptsz) X(cudaMemcpyBatchAsync) X(cudaMemcpyBatchAsync_ptsz) \
  X(cudaMipmappedArrayGetMemoryRequirements) X(cudaMipmappedArrayGetSparseProperties) \
  X(cudaOccupancyMaxActiveClusters) X(cudaOccupancyMaxPotentialClusterSize) \
  X(cudaSignalExternalSemaphoresAsync) X(cudaSignalExternalSemaphoresAsync_ptsz) \
  X(cudaStreamBeginCapture) X(cudaStreamBeginCaptureToGraph) \
  X(cudaStreamBeginCaptureToGraph_ptsz) X(cudaStreamBeginCapture_ptsz) \
  X(cudaStreamCopyAttributes) X(cudaStreamCopyAttributes_ptsz) X(cudaStreamEndCapture) \
  X(cudaStreamEndCapture_ptsz) X(cudaStreamGetAttribute) X(cudaStreamGetAttribute_ptsz) \
  X(cudaStreamGetCaptureInfo) X(cudaStreamGetCaptureInfo_ptsz) X(cudaStreamSetAttribute) \
  X(cudaStreamSetAttribute_ptsz) X(cudaStreamUpdateCaptureDependencies) \
  X(cudaStreamUpdateCaptureDependencies_ptsz) X(cudaThreadExchangeStreamCaptureMode) \
  X(cudaUserObjectCreate) X(cudaUserObjectRelease) X(cudaUserObjectRetain) X(cudaVDPAUGetDevice) \
  X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) \
  X(cudaWaitExternalSemaphoresAsync_ptsz)
// clang-format on
