// What the main() of a program does around its work; and which program runs kernels: the one for
// this machine's GPU, or its twin on the emulator.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpgauge {

/// What `run` returns; what it throws is told on stderr, and is kFault.
int run_program(int (*run)(int argc, char** argv), int argc, char** argv);

/// `automatic`: the GPU, or the emulator where there is none.
enum class DeviceChoice { automatic, gpu, emulated };

/// Goes on in the program that `choice` asks for: returns if that is this one, else replaces this
/// process by the twin, with the same arguments. `argv` as main() got it. Throws std::runtime_error
/// if the twin is not there, and std::system_error if it cannot be started.
void continue_on(DeviceChoice choice, char** argv);

/// The path of the other one of the two programs, which lie beside each other; it may not be there.
std::filesystem::path twin_program();

/// True if a CUDA device can be used, or is there and broken (which is then for CUDA to say), or
/// does not answer for a minute. Asks in a child process, because a process that has used CUDA
/// cannot fork. Throws std::system_error if there can be none.
bool has_gpu();

}  // namespace warpgauge
