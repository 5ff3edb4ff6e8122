#include "agree/derivatives.h"

namespace agree {
namespace {

bool is_half(gd::DType t) { return t == gd::float16 || t == gd::bfloat16; }

// The sum of the real parts of x * conj(w), in a dtype that is wide enough for sums.
Tensor weighted(const Tensor& x, const Tensor& w) {
  if (gd::is_complex(x.dtype())) return gd::reduce_sum(gd::real(x * gd::conj(w)));
  if (!is_half(x.dtype())) return gd::reduce_sum(x * w);
  return gd::reduce_sum(gd::cast(x, gd::float32) * gd::cast(w, gd::float32));
}

Tensor summed(const Tensors& xs, const Tensors& ws) {
  Tensor sum;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor next = gd::cast(weighted(xs[i], ws[i]), gd::float64);
    sum = sum.defined() ? sum + next : next;
  }
  return sum;
}

Tensors differentiable(const Tensors& all) {
  Tensors some;
  for (const Tensor& t : all)
    if (gd::is_differentiable(t.dtype())) some.push_back(t);
  return some;
}

Tensors chosen(const Program& p, const Tensors& inputs) {
  Tensors some;
  for (std::size_t i : p.sources()) some.push_back(inputs[i]);
  return some;
}

// The loss as a function of the sources.
Tensor loss(const Program& p, const Point& at, const Tensors& sources) {
  Tensors inputs = at.inputs;
  std::size_t next = 0;
  for (std::size_t i : p.sources()) inputs[i] = sources[next++];
  return summed(differentiable(run(p, inputs)), at.weights);
}

Tensors gradient_at(const Program& p, const Point& at, const Tensors& x) {
  gd::GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  const Tensor y = loss(p, at, x);
  Tensors all;
  for (const gd::Gradient& g : tape.gradient({y}, std::vector<gd::Source>(x.begin(), x.end()),
                                             {.unconnected = gd::Unconnected::zero}))
    all.push_back(g.tensor());
  return all;
}

}  // namespace

Point point_of(const Program& p, std::int64_t batch, std::uint32_t variant) {
  Point at{.inputs = inputs_of(p, batch, variant), .weights = {}, .directions = {}};
  if (p.has("nograd")) return at;
  std::uint32_t number = 0;
  for (const Tensor& y : differentiable(run(p, at.inputs)))
    at.weights.push_back(uniform(y.dtype(), y.shape(), 1000 + number++ + 31 * variant, -1, 1));
  number = 0;
  for (const Tensor& x : chosen(p, at.inputs))
    at.directions.push_back(uniform(x.dtype(), x.shape(), 2000 + number++ + 31 * variant, -1, 1));
  return at;
}

Tensors value(const Program& p, const Point& at) { return run(p, at.inputs); }

Tensors gradient(const Program& p, const Point& at) {
  return gradient_at(p, at, chosen(p, at.inputs));
}

Tensors hessian_product(const Program& p, const Point& at) {
  const auto f = [&](const Tensors& x) { return loss(p, at, x); };
  return gd::hvp(f, chosen(p, at.inputs), at.directions);
}

Tensors hessian_product2(const Program& p, const Point& at) {
  const Tensors x = chosen(p, at.inputs);
  gd::GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  const Tensor along = summed(gradient_at(p, at, x), at.directions);
  Tensors all;
  for (const gd::Gradient& g : tape.gradient({along}, std::vector<gd::Source>(x.begin(), x.end()),
                                             {.unconnected = gd::Unconnected::zero}))
    all.push_back(g.tensor());
  return all;
}

Tensor loss_along(const Program& p, const Point& at) {
  const auto f = [&](const Tensors& x) { return loss(p, at, x); };
  return gd::jvp(f, chosen(p, at.inputs), at.directions).second;
}

double dot(const Tensors& g, const Tensors& v) {
  return g.empty() ? 0.0 : summed(g, v).item<double>();
}

}  // namespace agree
