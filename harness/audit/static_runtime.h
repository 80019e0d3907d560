// The CUDA runtime that nvcc links into a program or a library, and how its functions are led to
// the emulated one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace warpgauge::audit {

/// A file that the loader has put into memory.
struct Loaded {
  std::string path;
  std::uintptr_t base = 0;  ///< what is added to the addresses in the file
};

/// The functions of the emulated runtime.
class EmulatedRuntime {
 public:
  /// Throws std::runtime_error if the file cannot be read.
  explicit EmulatedRuntime(const Loaded& library);

  /// The address; 0 if it has none of that name.
  std::uintptr_t find(std::string_view name) const;
  /// A function that refuses a call: void(const char* what).
  std::uintptr_t refusal() const { return find("warpgauge_refuse"); }

 private:
  std::unordered_map<std::string, std::uintptr_t> functions_;
};

/// Leads each function of the runtime that is linked into the file, if one is, to that of
/// `emulated()`, or to a refusal with its name where that has none, or is of another CUDA. Either
/// all functions are led there or none. It has to come before the first of them is called. Throws
/// std::runtime_error with the reason why it cannot be done.
void replace_in(const Loaded& file, const EmulatedRuntime& (*emulated)());

}  // namespace warpgauge::audit
