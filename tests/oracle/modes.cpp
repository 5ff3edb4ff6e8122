#include "oracle/modes.h"

#include <cstring>

namespace oracle {
namespace {

// Fixed weights of a contraction, and of the imaginary parts.
double weight(Size i) { return std::cos(1.0 + static_cast<double>(i)); }
double imaginary_weight(Size i) { return std::sin(2.0 + static_cast<double>(i)); }
constexpr double kNearby[] = {1, 1 + 0x1p-12, 1 - 0x1p-11};  // the examples of vmap

gd::DType real_type(gd::DType t) {
  return t == gd::complex128 ? gd::float64 : t == gd::complex64 ? gd::float32 : t;
}
gd::Tensor numbers(const std::vector<double>& values, const gd::Shape& shape, gd::DType dtype) {
  const gd::Tensor wide = gd::Tensor::from(values, shape);
  return dtype == gd::float64 ? wide : gd::cast(wide, dtype);
}
gd::Tensor weights(const gd::Tensor& like, double (*w)(Size)) {
  std::vector<double> values;
  for (Size i = 0; i < like.num_elements(); ++i) values.push_back(w(i));
  return numbers(values, like.shape(), real_type(like.dtype()));
}
bool is_real_scalar(const gd::Tensor& y) { return y.rank() == 0 && !gd::is_complex(y.dtype()); }

// TensorFlow's cotangent of the contraction: weights, and i times those of the imaginary parts.
gd::Tensor cotangent(const gd::Tensor& y) {
  if (is_real_scalar(y)) return gd::ones_like(y);
  const gd::Tensor w = weights(y, weight);
  return gd::is_complex(y.dtype()) ? gd::complex(w, weights(y, imaginary_weight)) : w;
}
gd::Tensor contract(const gd::Tensor& y) {
  if (is_real_scalar(y)) return y;
  if (!gd::is_complex(y.dtype())) return gd::reduce_sum(y * weights(y, weight));
  return gd::reduce_sum(gd::real(y) * weights(y, weight)) +
         gd::reduce_sum(gd::imag(y) * weights(y, imaginary_weight));
}

// Re <conj(g), v> over all inputs.
gd::Tensor dot(const Tensors& g, const Tensors& v) {
  gd::Tensor sum;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const gd::Tensor products =
        gd::is_complex(g[i].dtype()) ? gd::real(gd::conj(g[i]) * v[i]) : g[i] * v[i];
    sum = sum.defined() ? sum + gd::reduce_sum(products) : gd::reduce_sum(products);
  }
  return sum;
}

gd::Tensor along(const Direction& d, std::size_t i, const gd::Tensor& x) {
  std::vector<double> re, im;
  for (const auto& z : d.numbers[i]) {
    re.push_back(z.real());
    im.push_back(z.imag());
  }
  const gd::DType type = real_type(x.dtype());
  gd::Tensor c = numbers(re, x.shape(), type);
  if (gd::is_complex(x.dtype())) c = gd::complex(c, numbers(im, x.shape(), type));
  return d.kind == Direction::constant ? c : d.kind == Direction::times_x ? c * x : c * gd::sin(x);
}
Tensors along(const Direction& d, const Tensors& x) {
  Tensors v;
  for (std::size_t i = 0; i < x.size(); ++i) v.push_back(along(d, i, x[i]));
  return v;
}

struct Derived {
  gd::Tensor value, derivative;
};

// J [y..., x...] times v.
gd::Tensor times(const gd::Tensor& jacobian, const gd::Tensor& y, const gd::Tensor& v) {
  const gd::Tensor flat = gd::reshape(jacobian, {y.num_elements(), v.num_elements()});
  return gd::reshape(gd::matmul(flat, gd::reshape(v, {v.num_elements(), 1})), y.shape());
}
template <class Jacobians>
gd::Tensor times_all(const Jacobians& jacobians, const gd::Tensor& y, const Tensors& v) {
  gd::Tensor sum;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const gd::Tensor part = times(jacobians[i], y, v[i]);
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

std::vector<gd::Source> sources_of(const Tensors& x) { return {x.begin(), x.end()}; }

Derived by_accumulator(const Fn& f, const Tensors& x, const Tensors& v) {
  std::vector<std::pair<gd::Source, gd::Tensor>> pairs;
  for (std::size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], v[i]);
  const gd::ForwardAccumulator acc(pairs);
  const gd::Tensor y = f(x);
  return {y, acc.jvp(y, gd::Unconnected::zero)};
}
Derived by_tape(const Fn& f, const Tensors& x, const Tensors& v) {
  gd::GradientTape tape;
  for (const gd::Tensor& t : x) tape.watch(t);
  const gd::Tensor y = f(x);
  const auto g =
      tape.gradient({y}, sources_of(x),
                    {.output_gradients = {cotangent(y)}, .unconnected = gd::Unconnected::zero});
  return {contract(y), dot(Tensors(g.begin(), g.end()), v)};
}
template <class Tape>
Derived by_jacobian(const Fn& f, const Tensors& x, const Tensors& v) {
  Tape tape({.persistent = true});
  for (const gd::Tensor& t : x) tape.watch(t);
  const gd::Tensor y = f(x);
  return {y, times_all(tape.jacobian(y, sources_of(x), gd::Unconnected::zero), y, v)};
}
Derived by_forward_tape(const Fn& f, const Tensors& x, const Tensors& v) {
  gd::forward_diff::GradientTape tape;
  for (const gd::Tensor& t : x) tape.watch(t);
  const gd::Tensor y = contract(f(x));
  const auto g = tape.gradient({y}, sources_of(x), {.unconnected = gd::Unconnected::zero});
  return {y, dot(Tensors(g.begin(), g.end()), v)};
}
// <pull(w), v> is linear in w, and its gradient J v.
Derived by_transposing(const Fn& f, const Tensors& x, const Tensors& v) {
  const auto [y, pull] = gd::vjp(f, x);
  const gd::Tensor w = cotangent(y);
  const auto g = gd::grad([&, &pull = pull](const gd::Tensor& c) { return dot(pull(c), v); })(w);
  return {y, g};
}
// Rows of the Jacobian by mapping the pull over unit cotangents.
Derived by_mapped_pulls(const Fn& f, const Tensors& x, const Tensors& v) {
  const auto [y, pull] = gd::vjp(f, x);
  const Size n = y.num_elements();
  const gd::Tensor units = gd::eye(n, -1, {}, y.dtype());
  const auto rows = gd::vmap([&, &pull = pull, &y = y](const gd::Tensor& unit) {
    return dot(pull(gd::reshape(unit, y.shape())), v);
  })(units);
  return {y, gd::reshape(rows, y.shape())};
}

Derived first_order(char mode, const Fn& f, const Tensors& x, const Tensors& v) {
  const auto scalar = [&f](const Tensors& at) { return contract(f(at)); };
  switch (mode) {
    case 'f':
      return by_accumulator(f, x, v);
    case 'j': {
      const auto [y, dy] = gd::jvp(f, x, v);
      return {y, dy};
    }
    case 'l': {
      const auto [y, push] = gd::linearize(f, x);
      return {y, push(v)};
    }
    case 'r':
      return by_tape(f, x, v);
    case 'g': {
      const auto [y, g] = gd::value_and_grad(scalar)(x);
      return {y, dot(g, v)};
    }
    case 'v': {
      const auto [y, pull] = gd::vjp(f, x);
      return {contract(y), dot(pull(cotangent(y)), v)};
    }
    case 'p':
      return by_forward_tape(f, x, v);
    case 't':
      return by_transposing(f, x, v);
    case 'B':
      return by_mapped_pulls(f, x, v);
    case 'J':
      return by_jacobian<gd::GradientTape>(f, x, v);
    case 'F':
      return by_jacobian<gd::forward_diff::GradientTape>(f, x, v);
    case 'd': {
      const gd::Tensor y = f(x);
      return {y, times_all(gd::jacobian(f, x).blocks(), y, v)};
    }
    default:
      throw std::logic_error("mode");
  }
}

gd::Tensor second_order(char mode, const Fn& f, const Tensors& x, const Tensors& v,
                        const Tensors& u) {
  const auto scalar = [&f](const Tensors& at) { return contract(f(at)); };
  if (mode == 'h') return dot(gd::hvp(scalar, x, v), u);
  if (mode == 'n') {
    const auto loss = [](const gd::Tensor& z) { return gd::reduce_sum(gd::sin(z)); };
    return dot(gd::gauss_newton_vector_product(f, loss, x, v), u);
  }
  const auto blocks = gd::hessian(scalar, x).blocks();
  gd::Tensor sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Tensors row(blocks.begin() + static_cast<std::ptrdiff_t>(i * x.size()),
                      blocks.begin() + static_cast<std::ptrdiff_t>((i + 1) * x.size()));
    const gd::Tensor part = gd::reduce_sum(times_all(row, x[i], v) * u[i]);
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

gd::Tensor mixed(Level::Mix mix, const gd::Tensor& value, const gd::Tensor& derivative) {
  return mix == Level::derivative   ? derivative
         : mix == Level::plus_value ? derivative + 0.5 * value
                                    : derivative * value;
}

Fn derived(const Level& level, const Fn& f) {
  if (level.mode == 'm') {
    return [f](const Tensors& x) {
      Tensors stacks;
      for (const gd::Tensor& t : x) {
        Tensors examples;
        for (const double s : kNearby) examples.push_back(t * s);
        stacks.push_back(gd::stack(examples));
      }
      return gd::reduce_sum(gd::vmap(f)(stacks), {0});
    };
  }
  return [level, f](const Tensors& x) {
    const Tensors v = along(level.along, x);
    if (order_of(level.mode) == 1) {
      const Derived d = first_order(level.mode, f, x, v);
      return mixed(level.mix, d.value, d.derivative);
    }
    const gd::Tensor d = second_order(level.mode, f, x, v, along(level.second, x));
    if (level.mix == Level::derivative) return d;
    return mixed(level.mix, contract(f(x)), d);
  };
}

Fn compiled(const Fn& f) {
  const auto function = std::make_shared<gd::CompiledFunction<Fn>>(gd::function(f));
  return [function](const Tensors& x) { return (*function)(x); };
}

// The oracle's side.

Value contract(const Value& y) {
  if (!is_complex(y) && dims_of(y).empty()) return y;
  Nil sum = 0;
  if (const auto* a = std::get_if<Reals>(&y)) {
    for (Size i = 0; i < a->size(); ++i) sum += (*a)[i] * Nil(weight(i));
  } else {
    const auto& z = std::get<Complexes>(y);
    for (Size i = 0; i < z.size(); ++i)
      sum += z[i].re * Nil(weight(i)) + z[i].im * Nil(imaginary_weight(i));
  }
  return Reals({}, sum);
}

template <class F>
Value visited(const Value& v, F f) {
  return std::visit([&](const auto& a) -> Value { return map(a, f); }, v);
}

// x + e v(x)
Values shifted(const Values& x, const Direction& d, int e) {
  Values result;
  const Nil step = Nil::infinitesimal(e);
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.push_back(std::visit(
        [&]<class S>(const Array<S>& a) -> Value {
          Array<S> moved = a;
          for (std::size_t k = 0; k < moved.data.size(); ++k) {
            const std::complex<double> z = d.numbers[i][k];
            S c(z.real());
            if constexpr (std::is_same_v<S, Complex>) c.im = z.imag();
            if (d.kind == Direction::times_x) c *= a.data[k];
            if (d.kind == Direction::times_sine) c *= sin(a.data[k]);
            moved.data[k] += S(step) * c;
          }
          return moved;
        },
        x[i]));
  }
  return result;
}

Value mixed(Level::Mix mix, const Value& value, const Value& derivative) {
  if (mix == Level::derivative) return derivative;
  return std::visit(
      [&]<class A>(const A& d) -> Value {
        return map(d, std::get<A>(value), [&](const auto& a, const auto& v) {
          using S = std::decay_t<decltype(a)>;
          return mix == Level::plus_value ? a + v * S(0.5L) : a * v;
        });
      },
      derivative);
}

Value evaluate(const Program& program, std::span<const Level> word, const Values& x, int e);

// One level, where `e` is the first infinitesimal that is free.
Value evaluate_last(const Program& program, std::span<const Level> word, const Values& x, int e) {
  const Level& level = word.back();
  const auto inner = word.first(word.size() - 1);
  const auto scalar_or_not = [&](const Value& y) {
    return needs_scalar(level.mode) ? contract(y) : y;
  };
  if (level.mode == 'm') {
    std::optional<Value> sum;
    for (const double s : kNearby) {
      Values near;
      for (const Value& v : x)
        near.push_back(visited(v, [&](const auto& a) { return a * std::decay_t<decltype(a)>(s); }));
      const Value y = evaluate(program, inner, near, e);
      sum = !sum ? y
                 : std::visit(
                       [&]<class A>(const A& a) -> Value {
                         return map(a, std::get<A>(y),
                                    [](const auto& p, const auto& q) { return p + q; });
                       },
                       *sum);
    }
    return *sum;
  }
  if (level.mode == 'n') {
    const Reals a = std::get<Reals>(evaluate(program, inner, shifted(x, level.along, e), e + 1));
    const Reals b = std::get<Reals>(evaluate(program, inner, shifted(x, level.second, e), e + 1));
    Nil sum = 0;
    Real moved = 0;  // by how much the sum moves if all values do by a part of their size
    for (Size i = 0; i < a.size(); ++i) {
      const Nil both = a[i].part(e) * b[i].part(e), at = a[i].without(e);
      require(is_sane(both, kLimit), "derivatives that are too large");
      sum -= sin(at) * both;
      moved += std::abs((at * both).base());
    }
    require(moved < 1e3L * (1 + std::abs(sum.base())), "sines of large numbers");
    const Value value = visited(a, [&](const auto& y) { return without(y, e); });
    return mixed(level.mix, contract(value), Reals({}, sum));
  }
  if (order_of(level.mode) == 2) {
    const Values once = shifted(x, level.along, e), other = shifted(x, level.second, e + 1);
    Values both;
    for (std::size_t i = 0; i < x.size(); ++i) {
      both.push_back(std::visit(
          [&]<class A>(const A& a) -> Value {
            A sum = a;
            for (std::size_t k = 0; k < a.data.size(); ++k)
              sum.data[k] += std::get<A>(other[i]).data[k] - std::get<A>(x[i]).data[k];
            return sum;
          },
          once[i]));
    }
    const Value y = contract(evaluate(program, inner, both, e + 2));
    return mixed(level.mix,
                 visited(y, [&](const auto& a) { return without(without(a, e), e + 1); }),
                 visited(y, [&](const auto& a) { return part(part(a, e), e + 1); }));
  }
  const Value y = scalar_or_not(evaluate(program, inner, shifted(x, level.along, e), e + 1));
  return mixed(level.mix, visited(y, [&](const auto& a) { return without(a, e); }),
               visited(y, [&](const auto& a) { return part(a, e); }));
}

Value evaluate(const Program& program, std::span<const Level> word, const Values& x, int e) {
  if (word.empty()) return program.run(x);
  Value value = evaluate_last(program, word, x, e);
  require(is_sane(value), "derivatives that are too large");
  return value;
}

}  // namespace

int order_of(char mode) { return mode == 'm' ? 0 : std::strchr("hHn", mode) ? 2 : 1; }
int order_of(const std::vector<Level>& word) {
  int order = 0;
  for (const Level& l : word) order += order_of(l.mode);
  return order;
}
bool needs_scalar(char mode) { return std::strchr("rgvphHn", mode) != nullptr; }

Fn engine_function(const Program& program, const std::vector<Level>& word, const Tensors& at) {
  Fn f = [&program](const Tensors& x) { return program.run(x); };
  for (const Level& level : word) {
    f = derived(level, f);
    if (level.compiled) f = compiled(f);
    if (level.called_before) f(at);
  }
  return f;
}

Value oracle_value(const Program& program, const std::vector<Level>& word, const Values& x) {
  return evaluate(program, word, x, 0);
}

gd::Tensor to_tensor(const Value& base, gd::DType real) {
  const gd::Shape shape = to_shape(dims_of(base));
  std::vector<double> re, im;
  if (const auto* a = std::get_if<Reals>(&base)) {
    for (const Nil& x : a->data) re.push_back(static_cast<double>(x.base()));
    return numbers(re, shape, real);
  }
  for (const Complex& z : std::get<Complexes>(base).data) {
    re.push_back(static_cast<double>(z.re.base()));
    im.push_back(static_cast<double>(z.im.base()));
  }
  return gd::complex(numbers(re, shape, real), numbers(im, shape, real));
}

}  // namespace oracle
