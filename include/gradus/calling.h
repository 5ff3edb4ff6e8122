// How the functions that differentiate functions call them. Arguments are one value:
//
//   jvp(f, x, v)                        f(x)
//   jvp(f, {x, y}, {u, v})              f(x, y)
//   jvp(f, std::tuple(p, x), ...)       f(p, x), where p may be any structure of tensors
//   jvp(f, parameters, directions)      f(parameters), any other structure
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "gradus/error.h"
#include "gradus/structure.h"

namespace gradus::detail {

// A function as the engine sees it.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

[[noreturn]] void fail_argument_count(std::size_t takes, std::size_t got);

template <class T, std::size_t>
using Repeat = T;
template <class F, std::size_t... I>
constexpr bool takes_tensors(std::index_sequence<I...>) {
  return std::is_invocable_v<const F&, Repeat<const Tensor&, I>...>;
}
// How many tensors a function takes; 0 if it takes a vector of them.
template <class F, std::size_t N = 1>
constexpr std::size_t arity_of() {
  if constexpr (takes_tensors<F>(std::make_index_sequence<N>{})) {
    return N;
  } else if constexpr (N < 8) {
    return arity_of<F, N + 1>();
  } else {
    return 0;
  }
}

template <class F, std::size_t... I>
auto call_spread(const F& f, const std::vector<Tensor>& x, std::index_sequence<I...>) {
  if (x.size() != sizeof...(I)) fail_argument_count(sizeof...(I), x.size());
  return f(x[I]...);
}

template <class F, class S>
auto call(const F& f, const S& arguments) {
  return f(arguments);
}
template <class F>
auto call(const F& f, const std::vector<Tensor>& arguments) {
  if constexpr (arity_of<F>() > 0) {
    return call_spread(f, arguments, std::make_index_sequence<arity_of<F>()>{});
  } else {
    return f(arguments);
  }
}
template <class F, class... A>
auto call(const F& f, const std::tuple<A...>& arguments) {
  return std::apply(f, arguments);
}

// A function of a structure, with its last result, as a function of lists of tensors.
template <class F, class S>
class Flat {
 public:
  using Result = std::decay_t<decltype(call(std::declval<const F&>(), std::declval<const S&>()))>;

  Flat(const F& f, const S& like) : f_(f), like_(like) {}
  Function function() {
    return [this](const std::vector<Tensor>& x) {
      result_.emplace(call(f_, with_tensors(like_, x)));
      return tensors_of(*result_);
    };
  }
  const Result& result() const { return *result_; }

 private:
  const F& f_;
  const S& like_;
  std::optional<Result> result_;
};

}  // namespace gradus::detail
