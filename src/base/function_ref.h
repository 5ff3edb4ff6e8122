// A reference to something callable: two words, never allocates, does not own. Use it for
// parameters that are called before the function returns; the callable must outlive the reference.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

namespace gradus {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
           std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& f) {  // implicit, so that a lambda can be passed as it is
    using Callable = std::remove_reference_t<F>;
    if constexpr (std::is_function_v<Callable>) {
      target_.function = reinterpret_cast<void (*)()>(&f);
      call_ = [](Target t, Args... args) -> R {
        return reinterpret_cast<Callable*>(t.function)(std::forward<Args>(args)...);
      };
    } else {
      target_.object = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
      call_ = [](Target t, Args... args) -> R {
        return (*static_cast<Callable*>(t.object))(std::forward<Args>(args)...);
      };
    }
  }

  R operator()(Args... args) const { return call_(target_, std::forward<Args>(args)...); }

 private:
  union Target {
    void* object;
    void (*function)();
  };
  Target target_;
  R (*call_)(Target, Args...);
};

}  // namespace gradus
