// Every record at orders 2, 3 and 4, in every mix of forward and reverse mode, eager and compiled.
//
// D^n <w, f> along n directions is one number. It is computed by nesting derivatives in all mixes
// of modes, which must agree, and by differences of the order below, which share no code with any
// rule. Each direction moves all inputs or only one, so that mixed partials are met too. Records of
// complex numbers are tried on those as well: then the number is the real part of <w, f>.
//
// At an extremum a cotangent or a tangent is exactly 0 and still varies: each is tried with results
// or arguments that are squares of their distance from where they are.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "compile/executable.h"
#include "compile/passes/pipeline.h"
#include "graph/batch.h"
#include "graph/evaluate.h"
#include "ops/record_cases.h"
#include "ops/registry.h"

namespace gradus {
namespace {

using Arguments = std::vector<Tensor>;
using Number = std::function<Tensor(const Arguments&)>;

struct Direction {
  std::vector<std::size_t> inputs;
  std::vector<Tensor> tangents;

  Arguments moved(const Arguments& x, double by) const {
    Arguments at = x;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      at[inputs[k]] = at[inputs[k]] + by * tangents[k];
    return at;
  }
};

// The real part of <a, b>.
Tensor inner(const Tensor& a, const Tensor& b) { return real(reduce_sum(conj(a) * b)); }

Number forward(const Number& f, const Direction& d) {
  return [=](const Arguments& x) -> Tensor {
    std::vector<std::pair<Source, Tensor>> pairs;
    for (std::size_t k = 0; k < d.inputs.size(); ++k)
      pairs.emplace_back(x[d.inputs[k]], d.tangents[k]);
    const ForwardAccumulator accumulator(pairs);
    return accumulator.jvp(f(x), Unconnected::zero).tensor();
  };
}

Number reverse(const Number& f, const Direction& d) {
  return [=](const Arguments& x) -> Tensor {
    GradientTape tape;
    std::vector<Source> sources;
    for (std::size_t i : d.inputs) {
      tape.watch(x[i]);
      sources.emplace_back(x[i]);
    }
    const auto gradients =
        tape.gradient(std::vector<Tensor>{f(x)}, sources, {.unconnected = Unconnected::zero});
    Tensor sum = zeros({}, float64);
    for (std::size_t k = 0; k < d.inputs.size(); ++k)
      sum = sum + inner(gradients[k], d.tangents[k]);
    return sum;
  };
}

// Bit k says whether derivative k, counted from the inside, is in forward mode.
Number nested(Number f, std::span<const Direction> directions, unsigned modes) {
  for (std::size_t k = 0; k < directions.size(); ++k)
    f = modes >> k & 1 ? forward(f, directions[k]) : reverse(f, directions[k]);
  return f;
}

std::string name_of_mix(std::size_t order, unsigned modes) {
  std::string text;
  for (std::size_t k = order; k-- > 0;) text += modes >> k & 1 ? 'f' : 'r';
  return text;
}

double run_compiled(const Number& f, const Arguments& x) {
  std::vector<Aval> avals;
  for (const Tensor& t : x) avals.push_back({t.dtype(), t.shape()});
  const auto graph = trace(
      [&](std::span<const Tensor> in) {
        return Tensors{f({in.begin(), in.end()})};
      },
      avals, Graph::make());
  Arguments given = x, result(1);
  Executable(optimise(graph)).run(given, result);
  return result[0].item<double>();
}

// Two examples at once give what each of them gives.
void expect_batched(const Number& f, const Arguments& x, const Arguments& y,
                    const std::string& what) {
  Arguments both;
  for (std::size_t i = 0; i < x.size(); ++i)
    both.push_back(make_batched(concat({expand_dims(x[i], 0), expand_dims(y[i], 0)}, 0), 1));
  const Tensor together = unbatch(f(both), 1, 2),
               apart = concat({reshape(f(x), {1}), reshape(f(y), {1})}, 0);
  expect_near(together, apart, 1e-9, what + " batched");
}

// Central differences of two steps, with the error of the longer one removed.
double slope(const Number& f, const Arguments& x, const Direction& d) {
  const auto difference = [&](double h) {
    return (f(d.moved(x, h)).item<double>() - f(d.moved(x, -h)).item<double>()) / (2 * h);
  };
  const double h = 2e-4;  // no argument is nearer to a kink
  return (4 * difference(h / 2) - difference(h)) / 3;
}

// The kernel may choose a sign that the argument does not determine, and choose otherwise next to
// it: differences can only follow the squares of such results.
bool has_free_signs(const Op& op) { return std::strcmp(op.name(), "eigh") == 0; }

enum class Flat { nowhere, in_results, in_arguments };

class Orders : public testing::TestWithParam<const Op*> {
 protected:
  const Op& op() const { return *GetParam(); }

  // As the record's samples are filled; of complex numbers both parts.
  static Tensor filled(const SampleArg& a, DType dtype, std::mt19937_64& rng) {
    const Tensor t = fill_argument(a, float64, rng);
    if (dtype != complex128 || t.dtype() != float64) return t;
    return complex(t, fill_argument({a.shape, a.low, a.high, Fill::real}, float64, rng));
  }
  static Tensor filled_like(const Tensor& t, std::mt19937_64& rng) {
    return filled({t.shape(), -1, 1, Fill::real}, t.dtype(), rng);
  }

  std::vector<Direction> directions_of(const Case& c, const Arguments& in, std::mt19937_64& rng) {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (is_active(c, i)) active.push_back(i);
    std::vector<Direction> all;
    for (int order = 0; order < 4 && !active.empty(); ++order) {
      Direction d;
      d.inputs = active;
      if (rng() % 3 == 0) d.inputs = {active[rng() % active.size()]};
      for (std::size_t i : d.inputs) {
        const Tensor t = filled_like(in[i], rng);
        const bool symmetric = c.in[i].fill == Fill::positive_definite;
        d.tangents.push_back(symmetric ? t + linalg::matrix_transpose(t) : t);
      }
      all.push_back(std::move(d));
    }
    return all;
  }

  void try_case(const Case& c, DType dtype, Flat flat, std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    Arguments in;
    for (const SampleArg& a : c.in) in.push_back(filled(a, dtype, rng));
    const std::vector<Direction> directions = directions_of(c, in, rng);
    if (directions.empty()) return;
    Arguments centre;  // the same numbers, which nobody follows
    for (const Tensor& x : in) centre.push_back(identity(x));
    const auto results = [&](const Arguments& x) {
      Arguments at = x;
      for (std::size_t i = 0; i < x.size() && flat == Flat::in_arguments; ++i)
        if (is_active(c, i)) at[i] = centre[i] + square(x[i] - centre[i]);
      std::vector<Tensor> all;
      for (const Tensor& y : run(c, at))
        if (is_differentiable(y.dtype())) all.push_back(has_free_signs(op()) ? square(y) : y);
      return all;
    };
    const std::vector<Tensor> here = results(in);
    std::vector<Tensor> weights;
    for (const Tensor& y : here) weights.push_back(filled_like(y, rng));
    const Number value = [&](const Arguments& x) {
      Tensor sum = zeros({}, float64);
      const std::vector<Tensor> all = results(x);
      for (std::size_t k = 0; k < all.size(); ++k)
        sum = sum + inner(weights[k], flat == Flat::in_results ? square(all[k] - here[k]) : all[k]);
      return sum;
    };
    for (std::size_t order = 2; order <= (flat == Flat::nowhere ? 4 : 3); ++order)
      try_order(c, in, value, {directions.data(), order}, rng);
  }

  void try_order(const Case& c, const Arguments& in, const Number& value,
                 std::span<const Direction> directions, std::mt19937_64& rng) {
    const std::size_t order = directions.size();
    const unsigned mixes = 1u << order;
    const auto some_mix = [&](unsigned count) { return static_cast<unsigned>(rng() % count); };
    const Number below = nested(value, directions.first(order - 1), some_mix(mixes / 2));
    const double expected = slope(below, in, directions.back());
    const double scale = 1 + std::abs(expected) + std::abs(below(in).item<double>());
    for (unsigned modes = 0; modes < mixes; ++modes) {
      SCOPED_TRACE(describe(c) + " " + name_of_mix(order, modes));
      const Number f = nested(value, directions, modes);
      const double eager = f(in).item<double>();
      ASSERT_NEAR(eager, expected, 1e-8 * scale);
      ASSERT_NEAR(run_compiled(f, in), eager, 1e-12 * scale) << "compiled";
    }
    const unsigned modes = some_mix(mixes);
    const Number f = nested(value, directions, modes);
    expect_batched(f, in, directions[0].moved(in, 0x1p-7),
                   describe(c) + " " + name_of_mix(order, modes));
  }

  void try_all(Flat flat) {
    if (!has_derivatives(op())) return;
    std::uint64_t seed = std::hash<std::string>()(op().name());
    for (const DType dtype : {float64, complex128}) {
      if (!(op().info.dtypes & one_dtype(dtype))) continue;
      for (const Case& c : cases_of(op())) try_case(c, dtype, flat, ++seed);
    }
  }
};

TEST_P(Orders, AgreeInEveryMixOfModes) { try_all(Flat::nowhere); }
TEST_P(Orders, AgreeWhereCotangentsVanish) { try_all(Flat::in_results); }
TEST_P(Orders, AgreeWhereTangentsVanish) { try_all(Flat::in_arguments); }

INSTANTIATE_TEST_SUITE_P(AllOps, Orders, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace gradus
