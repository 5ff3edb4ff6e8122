// Functions with derivatives of the user's own.
//
//   auto log1pexp = gd::custom_gradient([](const gd::Tensor& x) {
//     gd::Tensor e = gd::exp(x);
//     return std::pair(gd::log(1 + e), [e](const gd::Tensor& dy) { return dy * (1 - 1 / (1 + e));
//     });
//   });
//
// What these return is called like the function they were given. The rules are ordinary functions
// of tensors, so they are differentiated, mapped and traced like any other: every order exists, and
// a rule for one mode serves the other.
#pragma once
#include "gradus/calling.h"

namespace gradus {

namespace detail {

using Backward = std::function<std::vector<Gradient>(const std::vector<Tensor>& cotangents,
                                                     const std::vector<Variable>& variables)>;
struct CustomForward {
  std::vector<Tensor> value;
  Backward backward;  // gradients of the arguments, then of the variables
  bool takes_variables;
};
std::vector<Tensor> call_custom_gradient(
    const std::function<CustomForward(const std::vector<Tensor>&)>& f,
    const std::vector<Tensor>& arguments);
std::vector<Tensor> call_custom_jvp(const Function& f, const Function& rule,
                                    const std::vector<Tensor>& arguments);
std::vector<Tensor> call_recomputed(Function f, const std::vector<Tensor>& arguments);

template <class S>
void append_gradients(S structure, std::vector<Gradient>& gradients) {
  for_each_leaf(structure, [&](auto& leaf) { gradients.emplace_back(std::move(leaf)); });
}

// The gradients that a user's gradient function gives, with or without variables.
template <class Back, class Value>
constexpr bool kTakesVariables =
    std::is_invocable_v<const Back&, const Value&, const std::vector<Variable>&>;
template <class Back, class Value>
std::vector<Gradient> call_backward(const Back& back, const Value& cotangent,
                                    [[maybe_unused]] const std::vector<Variable>& variables) {
  std::vector<Gradient> gradients;
  if constexpr (kTakesVariables<Back, Value>) {
    append_gradients(back(cotangent, variables), gradients);
  } else {
    append_gradients(back(cotangent), gradients);
  }
  return gradients;
}

}  // namespace detail

// f returns its value and a function from the cotangent of the value to the gradients of the
// arguments: one, or a pair, tuple or vector with one per tensor among the arguments, where an
// undefined tensor means none. If f reads variables, that function must take them as a second
// argument, a std::vector<Variable>, and return a pair: the gradients of the arguments and a vector
// with those of the variables.
template <class F>
auto custom_gradient(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    using Value = std::decay_t<decltype(f(arguments...).first)>;
    using Back = std::decay_t<decltype(f(arguments...).second)>;
    const std::tuple all(arguments...);
    std::optional<Value> value;
    const auto forward = [&](const std::vector<Tensor>& x) {
      auto result = std::apply(f, with_tensors(all, x));
      value.emplace(result.first);
      auto back = [like = detail::emptied(result.first), back = std::move(result.second)](
                      const std::vector<Tensor>& cotangents,
                      const std::vector<Variable>& variables) {
        return detail::call_backward(back, with_tensors(like, cotangents), variables);
      };
      return detail::CustomForward{tensors_of(*value), std::move(back),
                                   detail::kTakesVariables<Back, Value>};
    };
    const auto results = detail::call_custom_gradient(forward, tensors_of(all));
    return with_tensors(*value, results);
  };
}

// rule(arguments..., tangents...) gives the tangent of f(arguments...). It must be linear in the
// tangents; reverse mode is its transpose.
template <class F, class R>
auto custom_jvp(F f, R rule) {
  return [f = std::move(f), rule = std::move(rule)](const auto&... arguments) {
    const std::tuple all(arguments...);
    detail::Flat flat(f, all);
    const auto tangent = [rule, like = detail::emptied(all)](const std::vector<Tensor>& x) {
      const auto half = static_cast<std::ptrdiff_t>(x.size() / 2);
      const auto primals = with_tensors(like, {x.begin(), x.begin() + half});
      const auto tangents = with_tensors(like, {x.begin() + half, x.end()});
      return tensors_of(std::apply(rule, std::tuple_cat(primals, tangents)));
    };
    const auto results = detail::call_custom_jvp(flat.function(), tangent, tensors_of(all));
    return with_tensors(flat.result(), results);
  };
}

// f, of which a tape keeps only the arguments: it runs again when its gradient is computed. What f
// reads besides (variables, tensors of its surroundings) gets gradients too, at the values of the
// first run. Random ops draw the same numbers again; f must do the same every time, and
// own what it captures: it runs when the gradient is computed.
template <class F>
auto recompute_grad(F f) {
  return [f = std::move(f)](const auto&... arguments) {
    const std::tuple all(arguments...);
    using Result = std::decay_t<decltype(f(arguments...))>;
    const auto first = std::make_shared<std::optional<Result>>();
    auto again = [f, like = detail::emptied(all), first](const std::vector<Tensor>& x) {
      Result result = std::apply(f, with_tensors(like, x));
      if (!first->has_value()) first->emplace(detail::emptied(result));
      return tensors_of(result);
    };
    const auto results = detail::call_recomputed(std::move(again), tensors_of(all));
    return with_tensors(**first, results);
  };
}

}  // namespace gradus
