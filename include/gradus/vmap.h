// From a function of one example to a function of a batch, without a loop.
//
//   auto norm = [](const gd::Tensor& v) { return gd::sqrt(gd::reduce_sum(v * v)); };
//   gd::Tensor norms = gd::vmap(norm)(matrix);                        // one per row
//   auto scores = gd::vmap(score, std::nullopt, 1)(weights, columns);  // over columns, same
//   weights
//
// Inside f a tensor stands for one example, with the shape of one; every op runs once, on the whole
// batch. Results are stacked along axis 0. vmap nests in itself, in tapes and accumulators and they
// in it: vmap of grad gives per-example gradients. f must not look at values (item(), data()): they
// differ from example to example. Use where() instead of if.
#pragma once
#include <optional>
#include <vector>

#include "gradus/structure.h"

namespace gradus {

// The axis of an argument that counts the examples; std::nullopt: all examples share the argument.
using InAxis = std::optional<int>;

namespace detail {

// One call of a mapped function.
class Mapping {
 public:
  Mapping(std::vector<InAxis> axes, std::size_t arguments);

  // A whole argument (of a structure, each tensor) as one example of it.
  template <class S>
  S example(std::size_t argument, S batch) {
    for_each_tensor(batch, [&](Tensor& t) {
      if (t.defined()) t = split(argument, t);
    });
    return batch;
  }
  // Results of one example as the whole batch.
  template <class S>
  S batch(S example) const {
    for_each_tensor(example, [&](Tensor& t) {
      if (t.defined()) t = join(t);
    });
    return example;
  }

 private:
  Tensor split(std::size_t argument, const Tensor& batch);
  Tensor join(const Tensor& example) const;

  std::vector<InAxis> axes_;
  std::uint64_t level_;
  Size size_ = -1;
};

template <class F, class... A, std::size_t... I>
auto call_mapped(const F& f, const std::vector<InAxis>& axes, std::index_sequence<I...>,
                 const A&... arguments) {
  Mapping mapping(axes, sizeof...(A));
  // Braces: the arguments are split in order, so that errors name the first one that is wrong.
  std::tuple<A...> examples{mapping.example(I, arguments)...};
  return mapping.batch(f(std::get<I>(examples)...));
}

}  // namespace detail

// One axis per argument; none at all means axis 0 of every argument.
template <class F, class... Axes>
auto vmap(F f, Axes... in_axes) {
  return [f = std::move(f), axes = std::vector<InAxis>{InAxis(in_axes)...}](const auto&... batch) {
    if constexpr (detail::require_call<const F&, std::decay_t<decltype(batch)>&...>())
      return detail::call_mapped(f, axes, std::index_sequence_for<decltype(batch)...>{}, batch...);
  };
}

// For each example, the gradient of its loss with respect to each source, which f reads from
// outside: tensors of shape (examples, source...). Zeros where a source is not used.
//
//   auto g = gd::per_example_gradients([&](auto& x, auto& y) { return loss(w, x, y); }, {w}, xs,
//   ys);
template <class F, class... A>
std::vector<Tensor> per_example_gradients(const F& f, const std::vector<Source>& sources,
                                          const A&... batches) {
  return vmap([&](const auto&... example) {
    GradientTape tape({.watch_accessed_variables = false});
    for (const Source& s : sources) {
      s.is_variable() ? tape.watch(s.variable()) : tape.watch(s.tensor());
    }
    std::vector<Tensor> gradients;
    const Tensor loss = f(example...);
    for (Gradient& g : tape.gradient({loss}, sources, {.unconnected = Unconnected::zero}))
      gradients.push_back(g.tensor());
    return gradients;
  })(batches...);
}

}  // namespace gradus
