// Words CUPTI errors, and has the table of their remedies.
#include "metrics/cupti/cupti_error.h"

#include <cupti_result.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "metrics/cupti/cupti.h"

namespace warpgauge::metrics {
namespace {

struct Remedy {
  CUptiResult code;
  std::string_view text;
};

constexpr std::string_view kOtherProfiler =
    "Only one profiler can be attached to a process: run it without Nsight Compute, Nsight "
    "Systems, cuda-gdb, compute-sanitizer and CUDA_INJECTION64_PATH";
constexpr std::string_view kNewerDriver =
    "Install a driver at least as new as the CUDA toolkit whose CUPTI this is (CUDA 12.8: 570.26, "
    "CUDA 13.0: 580.65), or build with an older toolkit (12.8 at least)";
constexpr std::string_view kOtherDevice =
    "SASS metrics and the range profiler need compute capability 7.5 or higher on a physical GPU: "
    "run on another machine, or use the emulator";
constexpr std::string_view kWithoutMps =
    "Stop the MPS daemon (echo quit | nvidia-cuda-mps-control), or use a GPU that it does not "
    "serve";

constexpr std::string_view kUnexpected =
    "This should not happen: report it with the versions of driver and CUDA toolkit";

// NVIDIA describes the permission at developer.nvidia.com/ERR_NVGPUCTRPERM.
constexpr std::array kRemedies = {
    Remedy{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
           "The driver keeps its performance counters for administrators (ERR_NVGPUCTRPERM). Put "
           "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into a file in /etc/modprobe.d, "
           "rebuild the initramfs and reboot; or run as root; or give the program CAP_SYS_ADMIN "
           "(CAP_PERFMON suffices from driver 565 on), a container --cap-add=SYS_ADMIN"},
    Remedy{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
           "The hypervisor forbids profiling of this virtual GPU: have its administrator enable it "
           "(vGPU plug-in parameter enable_profiling=1), or run on a physical GPU"},
    Remedy{CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
           "This virtual GPU cannot be profiled: pass a whole GPU through to the guest, or run on "
           "the host"},
    Remedy{CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
           "Confidential computing hides the counters: switch the GPU's confidential mode off, or "
           "run on another one"},
    Remedy{
        CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
        "A part of a GPU (MIG) cannot be profiled: select a whole GPU with CUDA_VISIBLE_DEVICES, "
        "or have MIG mode switched off"},
    Remedy{CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED,
           "Allow it in Windows (NVIDIA Control Panel, Developer, Manage GPU Performance Counters) "
           "with a current driver, or run on Linux itself"},
    Remedy{CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "Switch SLI off in the driver's settings"},
    Remedy{CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED,
           "Mining processors (CMP) cannot be profiled: run on another GPU"},
    Remedy{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, kOtherProfiler},
    Remedy{CUPTI_ERROR_HARDWARE_BUSY,
           "Another process is using the counters of this GPU: wait for it, stop other profilers, "
           "and pause a monitoring agent (dcgmi profile --pause)"},
    Remedy{CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, kOtherProfiler},
    Remedy{CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, kOtherDevice},
    Remedy{CUPTI_ERROR_NOT_SUPPORTED, kOtherDevice},
    Remedy{CUPTI_ERROR_INVALID_DEVICE, kOtherDevice},
    Remedy{CUPTI_ERROR_INVALID_CHIP_NAME,
           "Use a toolkit whose CUPTI supports this chip, or the emulator"},
    Remedy{CUPTI_ERROR_INVALID_METRIC_NAME,
           "Use a toolkit whose CUPTI has this metric on this chip, or leave the metric out"},
    Remedy{CUPTI_ERROR_NOT_INITIALIZED, kNewerDriver},
    Remedy{CUPTI_ERROR_NOT_COMPATIBLE, kNewerDriver},
    Remedy{CUPTI_ERROR_API_NOT_IMPLEMENTED, kNewerDriver},
    Remedy{CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT,
           "The libcupti.so that was loaded is not the one that this program was built with: "
           "check LD_LIBRARY_PATH"},
    Remedy{CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS, kWithoutMps},
    Remedy{CUPTI_ERROR_OUT_OF_MEMORY,
           "Free memory of the host or the GPU, or measure fewer cases at once (--filter)"},
    Remedy{CUPTI_ERROR_MAX_LIMIT_REACHED, "Measure fewer cases at once (--filter)"},
    Remedy{CUPTI_ERROR_HARDWARE,
           "The counters of this GPU failed: look for Xid messages in the kernel log, and reset "
           "the GPU"},
    Remedy{CUPTI_ERROR_INVALID_CONTEXT,
           "The CUDA context went away: do not call cudaDeviceReset while measuring"},
    Remedy{CUPTI_ERROR_INVALID_OPERATION,
           "Another measurement is under way in this process, or it runs under MPS: measure one "
           "thing at a time, without MPS"},
    Remedy{CUPTI_ERROR_UNKNOWN,
           "See the kernel log for messages of the driver, and check with nvidia-smi that the GPU "
           "works"},
};

}  // namespace

std::string cupti_error_text(int code) {
  const auto result = static_cast<CUptiResult>(code);
  const std::string number = " (" + std::to_string(code) + ")";
  const char* name = nullptr;
  const char* text = nullptr;
  // CUPTI has no names for a few of its codes.
  if (cuptiGetResultString(result, &name) != CUPTI_SUCCESS || !name) {
    return "an error that CUPTI has no name for" + number;
  }
  std::string message = name + number;
  // Where CUPTI has no explanation, its text repeats the name.
  if (cuptiGetErrorMessage(result, &text) == CUPTI_SUCCESS && text &&
      std::string_view(text) != name) {
    message.append(": ").append(text);
  }
  // Unmeasured joins its two sentences with a full stop of its own.
  message.resize(message.find_last_not_of(". \n") + 1);
  return message;
}

std::string_view cupti_remedy(int code) {
  const auto found = std::ranges::find(kRemedies, static_cast<CUptiResult>(code), &Remedy::code);
  return found == kRemedies.end() ? std::string_view{} : found->text;
}

int take_turns(const std::function<int()>& call) {
  using std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(60);
  constexpr std::chrono::milliseconds kPause(50);
  const auto deadline = steady_clock::now() + kPatience;
  int code = call();
  while (code == CUPTI_ERROR_HARDWARE_BUSY && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
    code = call();
  }
  return code;
}

void check_cupti(int code, std::string_view call) {
  if (code == CUPTI_SUCCESS) return;
  const std::string_view remedy = cupti_remedy(code);
  throw Unmeasured(std::string(call) + " failed: " + cupti_error_text(code),
                   std::string(remedy.empty() ? kUnexpected : remedy));
}

}  // namespace warpgauge::metrics
