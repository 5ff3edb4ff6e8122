// Functions that differentiate functions. All of them nest, in each other, in tapes and in vmap, to
// any order.
//
//   auto dloss = gd::grad(loss);                        // dloss(w, x): d loss / d w
//   auto [y, dy] = gd::jvp(f, x, v);                    // f(x) and J v
//   auto [z, pull] = gd::vjp(f, x);  pull(w);           // f(x) and J^T w, as often as wanted
//   auto Hv = gd::hvp(loss, x, v);                      // the Hessian times v, never formed
//
// Arguments and results are structures (gradus/structure.h); several arguments are {x, y} or
// std::tuple(x, y). Derivatives have the structure of what they belong to; where there is no
// dependence they are zeros.
#pragma once
#include "gradus/calling.h"

namespace gradus {

namespace detail {

// A function at a point: its value and both products with its Jacobian, without running it again.
class Linearization {
 public:
  Linearization(const Function& f, const std::vector<Tensor>& at);
  const std::vector<Tensor>& value() const;
  std::vector<Tensor> push(const std::vector<Tensor>& tangents) const;    // J v
  std::vector<Tensor> pull(const std::vector<Tensor>& cotangents) const;  // J^T w

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct ValueAndTangent {
  std::vector<Tensor> value, tangent;
};
ValueAndTangent jvp(const Function& f, const std::vector<Tensor>& at,
                    const std::vector<Tensor>& tangents);

// The gradient of the first result, which must be a scalar.
std::vector<Tensor> gradient(const Function& f, const std::vector<Tensor>& at);

}  // namespace detail

// f's value and its gradient with respect to the arguments I (the first, if none is named). f gives
// a scalar, or a pair or tuple that begins with one; the rest of it comes back with the value.
template <std::size_t... I, class F>
auto value_and_grad(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    using All = std::tuple<std::decay_t<decltype(arguments)>...>;
    const All all(arguments...);
    static_assert(((I < sizeof...(arguments)) && ...),
                  "[grad] there is no argument of that number");
    const auto differentiate = [&]<std::size_t... K>(std::index_sequence<K...>) {
      const std::tuple<std::tuple_element_t<K, All>...> chosen(std::get<K>(all)...);
      const auto of_chosen = [&](const auto&... x) {
        All changed = all;
        ((std::get<K>(changed) = x), ...);
        return std::apply(f, changed);
      };
      (detail::require_values<std::tuple_element_t<K, All>>(), ...);
      detail::Flat flat(of_chosen, chosen);
      auto gradients = with_tensors(chosen, detail::gradient(flat.function(), tensors_of(chosen)));
      if constexpr (sizeof...(K) == 1) {
        return std::pair(flat.result(), std::get<0>(std::move(gradients)));
      } else {
        return std::pair(flat.result(), std::move(gradients));
      }
    };
    if constexpr (detail::require_call<const F&, decltype(arguments)...>()) {
      if constexpr (sizeof...(I) == 0) {
        return differentiate(std::index_sequence<0>{});
      } else {
        return differentiate(std::index_sequence<I...>{});
      }
    }
  };
}

// The gradient alone: grad(f)(x, y) is df/dx, grad<1>(f)(x, y) is df/dy, grad<0, 1>(f)(x, y) both.
template <std::size_t... I, class F>
auto grad(F f) {
  return [both = value_and_grad<I...>(std::move(f))](const auto&... arguments) {
    if constexpr (std::is_invocable_v<const F&, decltype(arguments)...>) {
      return both(arguments...).second;
    } else {
      both(arguments...);  // which says why not
    }
  };
}

// f(x) and the derivative along v.
template <class F, class S = std::vector<Tensor>>
auto jvp(const F& f, const S& x, const S& v) {
  detail::require_values<S>();
  detail::Flat<F, S> flat(f, x);
  const auto result = detail::jvp(flat.function(), tensors_of(x), tensors_of(v));
  return std::pair(with_tensors(flat.result(), result.value),
                   with_tensors(flat.result(), result.tangent));
}

// f(x) and a function that maps a cotangent of the result to one of x. It may be called often; what
// it needs of f is kept until it is gone.
template <class F, class S = std::vector<Tensor>>
auto vjp(const F& f, const S& x) {
  detail::require_values<S>();
  detail::Flat<F, S> flat(f, x);
  const detail::Linearization at(flat.function(), tensors_of(x));
  using Result = typename detail::Flat<F, S>::Result;
  return std::pair(with_tensors(flat.result(), at.value()), [at, x](const Result& cotangent) {
    return with_tensors(x, at.pull(tensors_of(cotangent)));
  });
}

// f(x) and the linear map v -> J v, which may be called often and does not run f again.
template <class F, class S = std::vector<Tensor>>
auto linearize(const F& f, const S& x) {
  detail::require_values<S>();
  detail::Flat<F, S> flat(f, x);
  const detail::Linearization at(flat.function(), tensors_of(x));
  const auto value = with_tensors(flat.result(), at.value());
  return std::pair(value, [at, value](const S& tangent) {
    return with_tensors(value, at.push(tensors_of(tangent)));
  });
}

// The Hessian of a scalar function times v, forward over reverse: a few times the cost of f.
template <class F, class S = std::vector<Tensor>>
S hvp(const F& f, const S& x, const S& v) {
  detail::require_values<S>();
  const auto gradient = [&](const S& at) {
    detail::Flat<F, S> flat(f, at);
    return with_tensors(at, detail::gradient(flat.function(), tensors_of(at)));
  };
  const std::tuple<S> arguments(x);
  detail::Flat flat(gradient, arguments);
  return with_tensors(x, detail::jvp(flat.function(), tensors_of(x), tensors_of(v)).tangent);
}

// J^T H J v for loss(model(x)), with J the Jacobian of the model and H the Hessian of the loss at
// its output: the Gauss-Newton matrix, positive semi-definite where the loss is convex.
template <class M, class L, class S = std::vector<Tensor>>
S gauss_newton_vector_product(const M& model, const L& loss, const S& x, const S& v) {
  detail::Flat<M, S> flat(model, x);
  const detail::Linearization at(flat.function(), tensors_of(x));
  const auto z = with_tensors(flat.result(), at.value());
  const auto u = with_tensors(z, at.push(tensors_of(v)));
  return with_tensors(x, at.pull(tensors_of(hvp(loss, z, u))));
}

}  // namespace gradus
