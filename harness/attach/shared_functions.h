// The kernels that call functions which others call, too, by the code that was loaded.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>

namespace warpgauge::attach {

/// Functions with code of their own (-rdc=true), which kernels share. CUPTI (13.0) patches one for
/// the first kernel that calls it; a second one that calls it while counting is on faults. All
/// functions may be called by any thread.
class SharedFunctions {
 public:
  /// Code was loaded. An image that is no cubin is left out.
  void loaded(std::span<const std::byte> image);
  /// Does a kernel call a function that one of the others, another than itself, calls?
  bool meets(const std::string& kernel, const std::set<std::string>& others) const;
  /// The one of the kernels that calls a function; empty where none does, or several do.
  std::string caller(const std::string& function, const std::set<std::string>& kernels) const;

 private:
  mutable std::mutex mutex_;  ///< never held while CUDA or CUPTI is called
  std::map<std::string, std::set<std::string>> called_;  ///< by kernel
};

}  // namespace warpgauge::attach
