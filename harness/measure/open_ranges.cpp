// Sees NVTX ranges as an injection that is linked in. NVTX asks for one last, after what
// NVTX_INJECTION64_PATH names, so tools such as Nsight see every range as if this was not there.
#include "harness/measure/open_ranges.h"

#define NVTX_NO_IMPL  // a tool of NVTX needs its types only
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace warpgauge {
namespace {

struct Range {
  nvtxDomainHandle_t domain;  ///< nullptr: the default one
  std::string name;
};
thread_local std::vector<Range> ranges;

/// Strings and domains behind NVTX handles. Lives as long as the program, because handles may be in
/// use until then. A deque, because handles are addresses.
class Handles {
 public:
  static Handles& instance() {
    static Handles* const handles = new Handles;
    return *handles;
  }
  const std::string* add(std::string text) {
    const std::lock_guard lock(mutex_);
    return &texts_.emplace_back(std::move(text));
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> texts_;
};

/// ASCII as it is, '?' for the rest.
std::string narrow(const wchar_t* text) {
  std::string narrowed;
  for (; text != nullptr && *text != L'\0'; ++text) {
    narrowed += *text < 0x80 ? static_cast<char>(*text) : '?';
  }
  return narrowed;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

std::string message_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr) return "";
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return text_of(event->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return narrow(event->message.unicode);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return event->message.registered == nullptr
                 ? ""
                 : *reinterpret_cast<const std::string*>(event->message.registered);
    default:
      return "";
  }
}

/// Returns the level of the range in its domain, from 0, as NVTX does.
int push(nvtxDomainHandle_t domain, std::string name) {
  const auto level = std::ranges::count(ranges, domain, &Range::domain);
  ranges.push_back({domain, name.empty() ? "unnamed" : std::move(name)});
  return static_cast<int>(level);
}

int pop(nvtxDomainHandle_t domain) {
  const auto last = std::ranges::find(ranges.rbegin(), ranges.rend(), domain, &Range::domain);
  if (last == ranges.rend()) return -1;
  ranges.erase(std::next(last).base());
  return static_cast<int>(std::ranges::count(ranges, domain, &Range::domain));
}

// The functions that replace NVTX's.

int push_a(const char* name) { return push(nullptr, text_of(name)); }
int push_w(const wchar_t* name) { return push(nullptr, narrow(name)); }
int push_ex(const nvtxEventAttributes_t* event) { return push(nullptr, message_of(event)); }
int pop_default() { return pop(nullptr); }
int push_domain(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push(domain, message_of(event));
}

template <typename Handle>
Handle handle_of(std::string text) {
  return reinterpret_cast<Handle>(
      const_cast<std::string*>(Handles::instance().add(std::move(text))));
}
nvtxDomainHandle_t create_domain_a(const char* name) {
  return handle_of<nvtxDomainHandle_t>(text_of(name));
}
nvtxDomainHandle_t create_domain_w(const wchar_t* name) {
  return handle_of<nvtxDomainHandle_t>(narrow(name));
}
nvtxStringHandle_t register_a(nvtxDomainHandle_t, const char* text) {
  return handle_of<nvtxStringHandle_t>(text_of(text));
}
nvtxStringHandle_t register_w(nvtxDomainHandle_t, const wchar_t* text) {
  return handle_of<nvtxStringHandle_t>(narrow(text));
}

/// The places where NVTX keeps the functions of a module.
std::span<NvtxFunctionPointer* const> places(const NvtxExportTableCallbacks& table,
                                             NvtxCallbackModule module) {
  NvtxFunctionTable found = nullptr;
  unsigned int size = 0;
  if (table.GetModuleFunctionTable(module, &found, &size) == 0) return {};
  return {found, size};
}

template <typename Function>
void set(std::span<NvtxFunctionPointer* const> places, std::size_t id, Function* function) {
  if (id < places.size() && places[id] != nullptr)
    *places[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

/// NVTX calls this before its first function does anything; 1: it is to be used.
int attach(NvtxGetExportTableFunc_t get_table) {
  const auto* table = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (table == nullptr) return 0;
  const auto core = places(*table, NVTX_CB_MODULE_CORE);
  set(core, NVTX_CBID_CORE_RangePushA, push_a);
  set(core, NVTX_CBID_CORE_RangePushW, push_w);
  set(core, NVTX_CBID_CORE_RangePushEx, push_ex);
  set(core, NVTX_CBID_CORE_RangePop, pop_default);
  const auto domains = places(*table, NVTX_CB_MODULE_CORE2);
  set(domains, NVTX_CBID_CORE2_DomainRangePushEx, push_domain);
  set(domains, NVTX_CBID_CORE2_DomainRangePop, pop);
  set(domains, NVTX_CBID_CORE2_DomainRegisterStringA, register_a);
  set(domains, NVTX_CBID_CORE2_DomainRegisterStringW, register_w);
  set(domains, NVTX_CBID_CORE2_DomainCreateA, create_domain_a);
  set(domains, NVTX_CBID_CORE2_DomainCreateW, create_domain_w);
  return 1;
}

}  // namespace

std::string open_ranges() {
  std::vector<std::string> names;
  for (const Range& range : ranges) names.push_back(range.name);
  return fmt::format("{}", fmt::join(names, "/"));
}

}  // namespace warpgauge

// Overrides the weak null pointer of NVTX's headers. (Those of some older toolkits do not look for
// it: ranges have no names there.)
extern "C" {
extern NvtxInitializeInjectionNvtxFunc_t
    InitializeInjectionNvtx2_fnptr;  // NOLINT(readability-identifier-naming)
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = warpgauge::attach;
}
