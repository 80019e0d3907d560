// What a program loads: modules of the driver, and libraries of both.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/emulator/runtime/jit.h"
#include "harness/emulator/runtime/state.h"

namespace warpgauge::emulator::runtime {

/// Loads an image: see select_loaded(). Throws Failure.
Module& load_image(State& state, const void* image, const JitOptions& options);
/// The same from a file. Fails with cudaErrorFileNotFound.
Module& load_file(State& state, const char* path, const JitOptions& options);
/// Fails with cudaErrorInvalidResourceHandle for what was not loaded, or is unloaded.
Module& loaded_module(State& state, const void* handle);
void unload_module(State& state, const void* handle);
/// Those that were loaded in a context of the driver.
void unload_modules_of(State& state, const void* context);

/// Fails with cudaErrorSymbolNotFound.
Function& kernel_called(State& state, Module& module, const char* name);
machine::Symbol variable_called(State& state, const Module& module, const char* name);

/// Of the kernels that it defines, in the order of its code.
std::vector<std::string> kernel_names(const Module& module);
/// The first of them as handles, `count` or all.
void put_kernels(State& state, Module& module, Function** out, std::size_t count);

}  // namespace warpgauge::emulator::runtime
