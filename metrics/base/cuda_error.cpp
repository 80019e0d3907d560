// Names, texts and remedies of CUDA errors.
#include "warpgauge/cuda_error.h"

namespace warpgauge::metrics {
namespace {

std::string failure_text(cudaError_t code, std::string_view call,
                         const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line()) + ": " +
         std::string(call) + " failed: " + cuda_error_text(code);
}

std::string with_remedy(std::string text, cudaError_t code) {
  if (const std::string_view remedy = cuda_remedy(code); !remedy.empty()) {
    text.append(". ").append(remedy);
  }
  return text;
}

}  // namespace

CudaError::CudaError(cudaError_t code, std::string_view call, const std::source_location& where)
    : CudaError(code, failure_text(code, call, where)) {}

CudaError::CudaError(cudaError_t code, const std::string& failure)
    : std::runtime_error(with_remedy(failure, code)), code_(code), failure_size_(failure.size()) {}

std::string cuda_error_text(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

std::string_view cuda_remedy(cudaError_t code) {
  switch (code) {
    case cudaErrorInsufficientDriver:
      return "Install an NVIDIA driver, or one at least as new as the CUDA toolkit "
             "(CUDA 12.8: 570.26, CUDA 13.0: 580.65)";
    case cudaErrorStubLibrary:
      return "The stub of libcuda was loaded instead of the driver's: take the toolkit's stubs "
             "folder out of LD_LIBRARY_PATH";
    case cudaErrorNoDevice:
      return "No GPU is visible: check nvidia-smi and CUDA_VISIBLE_DEVICES, and start a container "
             "with --gpus all";
    case cudaErrorSystemDriverMismatch:
      return "The driver was updated while it was loaded: reload its kernel module or reboot";
    case cudaErrorDevicesUnavailable:
      return "Another process has the GPU for itself: wait for it, or see the compute mode in "
             "nvidia-smi -q";
    case cudaErrorMemoryAllocation:
      return "The GPU's memory is full: use a smaller size, or see nvidia-smi for other users";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "The program has no code for this GPU: configure with "
             "-DCMAKE_CUDA_ARCHITECTURES=<its compute capability, 90 for 9.0> or =native";
    case cudaErrorInvalidConfiguration:
      return "Check the launch: at most 1024 threads per block and 65535 blocks in y and z, no "
             "dimension of 0, and not more shared memory than the device has";
    case cudaErrorInvalidValue:
      return "Check the arguments; a launch with more than 48 KiB of shared memory, static and "
             "dynamic together, needs "
             "cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) first";
    case cudaErrorLaunchOutOfResources:
      return "A block needs more registers than there are: launch fewer threads per block, or "
             "declare them with __launch_bounds__";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      return "A kernel accessed memory that it must not: run the program under compute-sanitizer";
    case cudaErrorLaunchTimeout:
      return "The kernel ran longer than the display allows: use a smaller size, or a GPU without "
             "a display";
    default:
      return "";
  }
}

void check_cuda(cudaError_t code, const char* call, const std::source_location& where) {
  if (code != cudaSuccess) throw CudaError(code, call, where);
}

}  // namespace warpgauge::metrics
