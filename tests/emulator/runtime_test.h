// Device code made by hand for tests of the emulated runtime, registered as nvcc's start-up code
// does it.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "harness/emulator/emulator.h"
#include "harness/runtime.h"
#include "metrics/counting/device_fault.h"
#include "tests/metrics/fat_binary_wrapper.h"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* stub, char* device_function,
                            const char* name, int thread_limit, uint3* tid, uint3* bid, dim3* block,
                            dim3* grid, int* warp_size);
void __cudaRegisterVar(void** handle, char* shadow, char* address, const char* name, int ext,
                       std::size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void** handle, void** pointer, char* address, const char* name,
                              int ext, std::size_t bytes, int constant, int global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream);
}

namespace warpgauge::emulator::runtime {

/// One piece of code of a fat binary.
struct TestCode {
  int arch = 90;
  std::string text;
  bool is_ptx = true;
  std::uint64_t flags = 0;
};

/// A container with uncompressed code (layout: metrics/machine_code/fat_binary.cpp).
inline std::vector<std::byte> fat_binary(const std::vector<TestCode>& codes) {
  std::vector<std::byte> out(16);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(out.data() + at, &value, sizeof value);
  };
  for (const TestCode& code : codes) {
    const std::size_t entry = out.size();
    const std::size_t bytes = (code.text.size() + 1 + 7) / 8 * 8;
    out.resize(entry + 64 + bytes);
    put(entry, static_cast<std::uint16_t>(code.is_ptx ? 1 : 2));
    put(entry + 2, std::uint16_t{0x101});
    put(entry + 4, std::uint32_t{64});
    put(entry + 8, static_cast<std::uint64_t>(bytes));
    put(entry + 28, static_cast<std::uint32_t>(code.arch));
    put(entry + 40, code.flags);
    std::memcpy(out.data() + entry + 64, code.text.data(), code.text.size());
  }
  put(0, std::uint32_t{0xba55ed50});
  put(4, std::uint16_t{1});
  put(6, std::uint16_t{16});
  put(8, static_cast<std::uint64_t>(out.size() - 16));
  return out;
}

/// Registered device code.
class TestModule {
 public:
  explicit TestModule(const std::vector<TestCode>& codes)
      : image_(fat_binary(codes)), wrapper_{.container = image_.data()} {
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  explicit TestModule(const std::string& ptx) : TestModule({TestCode{.text = ptx}}) {}
  ~TestModule() { __cudaUnregisterFatBinary(handle_); }
  TestModule(const TestModule&) = delete;
  TestModule& operator=(const TestModule&) = delete;

  void** handle() const { return handle_; }

  /// The stub of a kernel.
  const void* kernel(const std::string& name) {
    char& stub = shadows_[name];
    __cudaRegisterFunction(handle_, &stub, nullptr, name.c_str(), -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    return &stub;
  }
  /// The shadow of a variable.
  const void* variable(const std::string& name, std::size_t bytes) {
    char& shadow = shadows_[name];
    __cudaRegisterVar(handle_, &shadow, nullptr, name.c_str(), 0, bytes, 0, 0);
    return &shadow;
  }

 private:
  std::vector<std::byte> image_;
  metrics::FatBinaryWrapper wrapper_;
  void** handle_ = nullptr;
  std::map<std::string, char> shadows_;
};

/// Begins as sm_90, leaves no device and no error behind.
class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    cudaDeviceReset();
    cudaGetLastError();
    emulate_arch("sm_90");
    take_faults();
  }
  void TearDown() override {
    cudaDeviceReset();
    cudaGetLastError();
  }

  /// The message of the latest fault; empty without one.
  static std::string fault_text() {
    const std::vector<metrics::DeviceFault> faults = take_faults();
    return faults.empty() ? "" : faults.back().text;
  }

  /// The calls that were refused in this test. Those of a thread that has ended stay for good.
  std::vector<std::string> refused() const {
    std::vector<std::string> calls = refused_calls();
    std::erase_if(calls, [&](const std::string& call) {
      return std::ranges::find(refused_before_, call) != refused_before_.end();
    });
    return calls;
  }

 private:
  const std::vector<std::string> refused_before_ = refused_calls();
};

/// A head for PTX texts.
inline const std::string kPtxHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

}  // namespace warpgauge::emulator::runtime
