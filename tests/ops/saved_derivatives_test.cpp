// Programs with derivatives in them are written, read by name and give the same bits: for every
// record, its vjp and its jvp, and the four derivatives of these. A process that reads such a
// program has not made the derived ops yet; their names say from which record they come.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "autodiff/rules.h"
#include "gradus/gradus.h"
#include "graph/elementwise.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/registry.h"

namespace gradus {
namespace {

// A function at a point, with those of its arguments that can be differentiated.
struct At {
  std::vector<Tensor> in;
  TensorFunction f;
};

Tensor filled(const SampleArg& a, std::mt19937_64& rng) {
  std::uniform_real_distribution<double> uniform(a.low, a.high);
  std::vector<double> v(static_cast<std::size_t>(a.shape.num_elements()));
  for (double& x : v) x = uniform(rng);
  const Tensor t = Tensor::from(v, a.shape);
  if (a.fill == Fill::integer) return cast(t, int32);
  if (a.fill == Fill::boolean) return t > (a.low + a.high) / 2;
  if (a.fill != Fill::positive_definite && a.fill != Fill::triangular) return t;
  const Tensor one = eye(a.shape.back(), -1, {}, float64);
  return a.fill == Fill::triangular ? linalg::band_part(t, -1, 0) + 3.0 * one
                                    : matmul(t, t, {.transpose_b = true}) +
                                          2.0 * static_cast<double>(a.shape.back()) * one;
}

std::vector<At> cases_of(const Op& op) {
  std::vector<At> cases;
  std::mt19937_64 rng(1);
  const auto add = [&](const std::vector<SampleArg>& in, const std::shared_ptr<void>& attrs) {
    At at;
    for (const SampleArg& a : in) at.in.push_back(filled(a, rng));
    at.f = [&op, attrs](std::span<const Tensor> x) { return op.run(x, attrs.get()); };
    cases.push_back(std::move(at));
  };
  if (op.kind == Kind::elementwise) {
    std::vector<SampleArg> in;
    for (int i = 0; i < op.elementwise->arity; ++i) {
      const bool mask = op.elementwise->bool_inputs >> i & 1;
      in.push_back({{2, 3}, op.info.low, op.info.high, mask ? Fill::boolean : Fill::real});
    }
    add(in, nullptr);
  } else if (op.info.samples) {
    for (const Sample& s : op.info.samples()) add(s.in, s.attrs);
  }
  return cases;
}

std::vector<std::size_t> floats(std::span<const Tensor> tensors) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_differentiable(tensors[i].dtype())) which.push_back(i);
  return which;
}

Tensor some_like(const Tensor& t, std::size_t i) {
  return (zeros_like(t) + 0.5) * (1.0 + 0.25 * static_cast<double>(i));
}

// (arguments, cotangents) -> gradients of the arguments.
At vjp_at(const At& at) {
  const Tensors out = at.f(at.in);
  const std::vector<std::size_t> active = floats(at.in), results = floats(out);
  At next = at;
  for (std::size_t i : results) next.in.push_back(some_like(out[i], i));
  next.f = [=, f = at.f, n = at.in.size(), outs = out.size()](std::span<const Tensor> x) {
    std::vector<Tensor> moving;
    for (std::size_t i : active) moving.push_back(x[i]);
    std::vector<Cotangent> cts(outs);
    for (std::size_t k = 0; k < results.size(); ++k) cts[results[k]] = Cotangent(x[n + k]);
    const auto found = vjp_of(
        [&](std::span<const Tensor> m) {
          std::vector<Tensor> all(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
          for (std::size_t k = 0; k < active.size(); ++k) all[active[k]] = m[k];
          return f(all);
        },
        moving, ~0u, cts);
    Tensors gradients;
    for (const Cotangent& g : found)
      if (!g.is_zero()) gradients.push_back(dense(g));
    return gradients;
  };
  return next;
}

// (arguments, tangents) -> tangents of the results.
At jvp_at(const At& at) {
  const std::vector<std::size_t> active = floats(at.in);
  At next = at;
  for (std::size_t i : active) next.in.push_back(some_like(at.in[i], i));
  next.f = [=, f = at.f, n = at.in.size()](std::span<const Tensor> x) {
    std::vector<Tensor> tangents(n);
    for (std::size_t k = 0; k < active.size(); ++k) tangents[active[k]] = x[n + k];
    Tensors moved;
    for (const Tensor& t : jvp_of(f, x.first(n), tangents))
      if (t.defined()) moved.push_back(t);
    return moved;
  };
  return next;
}

// How many derived ops the program has.
int expect_reads_back(const At& at, const std::string& what) {
  std::vector<Aval> avals;
  for (const Tensor& t : at.in) avals.push_back({t.dtype(), t.shape()});
  const auto graph = trace([&](std::span<const Tensor> x) { return at.f(x); }, avals);
  std::vector<Tensor> constants;
  const std::string text = to_text(*graph, &constants);
  std::shared_ptr<Graph> again;
  EXPECT_NO_THROW(again = from_text(text, constants)) << what << "\n" << text;
  if (!again) return 0;
  const auto a = evaluate(*graph, at.in), b = evaluate(*again, at.in);
  EXPECT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    EXPECT_EQ(a[i].shape(), b[i].shape()) << what;
    EXPECT_TRUE(a[i].num_bytes() == 0 ||
                std::memcmp(a[i].raw_data(), b[i].raw_data(), a[i].num_bytes()) == 0)
        << what << " result " << i;
  }
  int derived = 0;
  for (const Graph::Node& n : graph->nodes()) derived += std::strchr(n.op->name(), '.') != nullptr;
  return derived;
}

TEST(SavedDerivatives, OfEveryRecordReadBackWithTheSameBits) {
  int derived = 0, programs = 0;
  for (const Op* op : all_ops()) {
    if (op->kind == Kind::not_differentiable || !(op->info.dtypes & one_dtype(float64))) continue;
    if (op->kind == Kind::elementwise && op->elementwise->makes_bool) continue;
    int number = 0;
    for (const At& at : cases_of(*op)) {
      const std::string name = std::string(op->name()) + " " + std::to_string(number++);
      const At v = vjp_at(at), j = jvp_at(at);
      if (op->info.first_order_outputs == 0 || number == 1) {
        derived += expect_reads_back(v, name + " vjp");
        derived += expect_reads_back(j, name + " jvp");
        programs += 2;
      }
      if (number > 1) continue;  // orders beyond the first on one sample
      derived += expect_reads_back(vjp_at(v), name + " vjp of vjp");
      derived += expect_reads_back(jvp_at(v), name + " jvp of vjp");
      derived += expect_reads_back(vjp_at(j), name + " vjp of jvp");
      derived += expect_reads_back(jvp_at(j), name + " jvp of jvp");
      programs += 4;
    }
  }
  EXPECT_GT(programs, 600);
  EXPECT_GT(derived, 1000);
}

// From some order on a derivative has more inputs than a kernel, and is several ops.
TEST(SavedDerivatives, PiecesOfWideOnesReadBackToo) {
  for (const char* name : {"divide", "pow", "atan2"}) {
    const Op* op = find_op(name);
    ASSERT_NE(op, nullptr) << name;
    At at = cases_of(*op)[0];
    for (int order = 1; order <= 5; ++order) {
      at = jvp_at(at);
      expect_reads_back(at, std::string(name) + ", jvp of order " + std::to_string(order));
    }
    std::vector<Aval> avals;
    for (const Tensor& t : at.in) avals.push_back({t.dtype(), t.shape()});
    const auto graph = trace([&](std::span<const Tensor> x) { return at.f(x); }, avals);
    EXPECT_NE(to_text(*graph).find("part"), std::string::npos) << name;
    expect_reads_back(vjp_at(at), std::string(name) + ", vjp of them");
  }
}

TEST(SavedDerivatives, NamesThatAreNoneAreRefused) {
  const auto refused = [](const std::string& op) {
    try {
      from_text("%0 = input : float32 ()\n%1 = input : float32 ()\n%2 = " + op +
                "(%0, %1) : float32 ()\nreturn %2");
    } catch (const InvalidArgumentError& e) {
      return std::string(e.what()).find("there is no op '" + op + "'") != std::string::npos;
    }
    return false;
  };
  EXPECT_FALSE(refused("tanh.vjp0"));
  for (const char* name : {"tanh.vjp1", "tanh.vjp", "tanh.vjp0x", "tanh.jvp0", "tanh.jvp2", "tanh.",
                           ".vjp0", "tanhh.vjp0", "less.vjp0", "matmul.vjp0", "tanh.hvp0",
                           "add.vjp0", "where.jvp1", "tanh.vjp99999999999"})
    EXPECT_TRUE(refused(name)) << name;
}

}  // namespace
}  // namespace gradus
