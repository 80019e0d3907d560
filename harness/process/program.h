// The frame of every main(), and the choice between the program that runs kernels on a GPU and the
// emulated program, which runs them on the emulator.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/process/exit_guard.h"

namespace warpgauge::process {

/// Returns what `run` returns, and declares it (exit_guard.h). An exception of `run` is printed to
/// stderr, and kFault is returned.
int run_program(int (*run)(int argc, char** argv), int argc, char** argv);

/// `automatic`: the GPU, or the emulator where there is none.
enum class DeviceChoice { automatic, gpu, emulated };
std::string_view to_string(DeviceChoice choice);  ///< auto, gpu, emulated

/// Continues in the program that `choice` asks for: returns if that is this one, else replaces this
/// process by the other one, with the same arguments. `argv` as main() got it. Throws
/// std::runtime_error if the other one is missing, std::system_error if it cannot be started.
void continue_on(DeviceChoice choice, char** argv);

/// A variable of the environment that lets another program start only if it is of this build.
std::pair<std::string, std::string> build_check();

/// The path of this program, or of the emulated program beside it; it may be missing.
std::filesystem::path program_path(bool emulated);

/// True if a CUDA device can be used, is broken (CUDA reports it later) or does not answer for a
/// minute. Asks in a child process, because a process that has used CUDA cannot fork. Throws
/// std::system_error if no child can be made.
bool has_gpu();

}  // namespace warpgauge::process

/// Defines main(), which returns what `run`, an int(int argc, char** argv), returns: see
/// run_program(). The guard stands before the first constructor of the program and its libraries
/// runs, and after the last destructor.
#define WARPGAUGE_MAIN(run)                                                          \
  [[gnu::section(".preinit_array"), gnu::used]] static void (*const guard_first)() = \
      ::warpgauge::process::guard_exit;                                              \
  int main(int argc, char** argv) { return ::warpgauge::process::run_program(run, argc, argv); }
