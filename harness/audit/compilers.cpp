// Adds the option for line tables to what a program gives NVRTC and nvJitLink.
#include "harness/audit/compilers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace warpgauge::audit {
namespace {

constexpr const char* kLineTables = "-lineinfo";
constexpr std::array<std::string_view, 5> kHaveThem = {kLineTables, "--generate-line-info", "-G",
                                                       "--device-debug", "-g"};
/// What is linked later gets them then: line tables of several objects do not always fit together.
constexpr std::array<std::string_view, 3> kLinkedLater = {"-dlto", "--dlink-time-opt", "-ltoir"};

/// The functions of the first library of each kind; those of others stay as they are.
using CompileProgram = int (*)(void* program, int count, const char* const* options);
using CreateLink = int (*)(void** link, std::uint32_t count, const char** options);
std::atomic<CompileProgram> nvrtc_compile = nullptr;
std::atomic<CreateLink> create_link = nullptr;

/// The options of the program, and the one for line tables unless it has that already.
class Options {
 public:
  Options(const char* const* given, std::size_t count) : given_(given), count_(count) {
    const bool has_room = count < all_.size() && (given != nullptr || count == 0);
    const bool stay = std::any_of(given, given + (has_room ? count : 0), [](auto text) {
      const std::string_view option = text == nullptr ? "" : text;
      return std::ranges::find(kHaveThem, option) != kHaveThem.end() ||
             std::ranges::any_of(kLinkedLater, [&](auto o) { return option.starts_with(o); });
    });
    if (!has_room || stay) return;
    std::copy_n(given, count, all_.begin());
    all_[count_++] = kLineTables;
    given_ = all_.data();
  }

  const char* const* data() const { return given_; }
  std::size_t size() const { return count_; }

 private:
  std::array<const char*, 256> all_;
  const char* const* given_;
  std::size_t count_;
};

int compile_with_lines(void* program, int count, const char* const* options) {
  if (count < 0) return nvrtc_compile.load()(program, count, options);
  const Options all(options, static_cast<std::size_t>(count));
  return nvrtc_compile.load()(program, static_cast<int>(all.size()), all.data());
}

int create_link_with_lines(void** link, std::uint32_t count, const char** options) {
  const Options all(options, count);
  return create_link.load()(link, static_cast<std::uint32_t>(all.size()),
                            const_cast<const char**>(all.data()));
}

/// The address of `ours`, which calls `original`; that of `found` where another one has its place.
template <typename Function>
std::uintptr_t in_place_of(std::atomic<Function>& original, Function ours, std::uintptr_t found) {
  Function known = nullptr;
  const auto function = reinterpret_cast<Function>(found);
  const bool is_first = original.compare_exchange_strong(known, function) || known == function;
  return is_first ? reinterpret_cast<std::uintptr_t>(ours) : found;
}

}  // namespace

bool is_compiler(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  const bool is_nvrtc = name.starts_with("libnvrtc") && !name.starts_with("libnvrtc-builtins");
  return is_nvrtc || name.starts_with("libnvJitLink");
}

std::uintptr_t with_line_tables(std::string_view symbol, std::uintptr_t function) {
  if (symbol == "nvrtcCompileProgram") {
    return in_place_of(nvrtc_compile, compile_with_lines, function);
  }
  // The header's name has a version behind it: __nvJitLinkCreate_13_0.
  symbol.remove_prefix(std::min(symbol.find_first_not_of('_'), symbol.size()));
  if (symbol == "nvJitLinkCreate" || symbol.starts_with("nvJitLinkCreate_")) {
    return in_place_of(create_link, create_link_with_lines, function);
  }
  return function;
}

}  // namespace warpgauge::audit
