// A lambda, or another object that can be called, as an argument.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace warpgauge::emulator::runtime {

/// Calls what it was made of, which must outlive it. Unlike std::function it cannot keep that, so
/// that each of the runtime's hundreds of functions needs no code to copy and destroy its body.
template <typename Signature>
class FunctionRef;

template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef> &&
             std::is_object_v<std::remove_reference_t<Function>> &&
             std::is_invocable_r_v<Result, const std::remove_reference_t<Function>&, Arguments...>)
  FunctionRef(Function&& function)
      : function_(std::addressof(function)),
        call_([](const void* called, Arguments... arguments) -> Result {
          return (*static_cast<const std::remove_reference_t<Function>*>(called))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* function_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace warpgauge::emulator::runtime
