// Optimizer sweeps as scalar programs with several results: the same definitions run on every
// instruction set, in place, each array read and written once.
#include "gradus/updates.h"

#include <cmath>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/thread_pool.h"
#include "expr/expr.h"
#include "expr/kernel.h"
#include "gradus/elementwise.h"
#include "graph/context.h"
#include "graph/loop_nest.h"
#include "graph/op.h"
#include "graph/variable_state.h"
#include "kernels/row_groups.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using expr::Expr;
using Exprs = std::vector<Expr>;

constexpr std::int64_t kChunk = 16384;

// arrays (the variable first, its state, the gradient last) and numbers -> new variable and state.
class Sweep {
 public:
  using Body = Exprs (*)(const Exprs& arrays, const Exprs& numbers);
  Sweep(int arrays, int numbers, Body body) : arrays_(arrays), numbers_(numbers), body_(body) {}

  const expr::Kernel& kernel(DType dtype) const {
    auto& slot = kernels_[static_cast<std::size_t>(dtype)];
    if (const expr::Kernel* known = slot.load(std::memory_order_acquire)) return *known;
    expr::Builder builder;
    Exprs arrays, numbers;
    for (int i = 0; i < arrays_; ++i) arrays.push_back(builder.input(dtype));
    // Numbers are float64 or float32, as the arithmetic is.
    const DType real = dtype == float64 ? float64 : float32;
    for (int i = 0; i < numbers_; ++i) numbers.push_back(builder.input(real, false));
    for (const Expr& e : body_(arrays, numbers)) builder.output(e, dtype);
    const expr::Kernel* made = new expr::Kernel(compile(builder.finish()));
    const expr::Kernel* expected = nullptr;
    if (slot.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *expected;
  }
  Exprs apply(std::span<const Expr> arrays, std::span<const Expr> numbers) const {
    return body_(Exprs(arrays.begin(), arrays.end()), Exprs(numbers.begin(), numbers.end()));
  }
  int arrays() const { return arrays_; }
  int numbers() const { return numbers_; }

 private:
  int arrays_, numbers_;
  Body body_;
  mutable std::array<std::atomic<const expr::Kernel*>, kDTypeCount> kernels_ = {};
};

const Sweep sgd_sweep(2, 1,
                      [](const Exprs& a, const Exprs& k) { return Exprs{a[0] - k[0] * a[1]}; });

// numbers: learning rate, momentum
const Sweep momentum_sweep(3, 2, [](const Exprs& a, const Exprs& k) {
  const Expr velocity = k[1] * a[1] - k[0] * a[2];
  return Exprs{a[0] + velocity, velocity};
});
const Sweep nesterov_sweep(3, 2, [](const Exprs& a, const Exprs& k) {
  const Expr velocity = k[1] * a[1] - k[0] * a[2];
  return Exprs{a[0] + (k[1] * velocity - k[0] * a[2]), velocity};
});

// numbers: learning rate, epsilon
const Sweep adagrad_sweep(3, 2, [](const Exprs& a, const Exprs& k) {
  const Expr sum = a[1] + a[2] * a[2];
  return Exprs{a[0] - k[0] * a[2] / expr::sqrt(sum + k[1]), sum};
});

// numbers: alpha, 1 - beta_1, 1 - beta_2, epsilon, learning rate times weight decay
const Sweep adam_sweep(4, 5, [](const Exprs& a, const Exprs& k) {
  const Expr g = a[3], m = a[1] + (g - a[1]) * k[1], v = a[2] + (g * g - a[2]) * k[2];
  return Exprs{a[0] - a[0] * k[4] - m * k[0] / (expr::sqrt(v) + k[3]), m, v};
});

void run_sweep(const Sweep& sweep, const KernelCall& c) {
  const LoopNest nest(c.in, *c.out[0].shape);
  const std::uint32_t numbers = ~0u << sweep.arrays();
  if (nest.per_row & ~numbers) {  // one element: everything is a number
    expr::LoopArgs args;
    args.cols = 1;
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      args.in[i] = c.in[i].data;
      args.in_row_bytes[i] = 0;
    }
    for (std::size_t i = 0; i < c.out.size(); ++i) args.out[i] = c.out[i].data;
    return sweep.kernel(c.in[0].dtype)(args);
  }
  nest.run(sweep.kernel(c.in[0].dtype), c.in, c.out);
}

// A variable that is being changed: locked, with elements that nobody else can see.
class Writable {
 public:
  explicit Writable(const Variable& v) : lock_(v.state()->mutex), state_(*v.state()) {
    if (is_unique(state_.value)) return;
    Tensor copy = make_tensor(state_.dtype, state_.shape);
    std::memcpy(mutable_data(copy), state_.value.raw_data(), copy.num_bytes());
    state_.value = copy;
  }
  char* data() { return mutable_data<char>(state_.value); }

 private:
  std::unique_lock<std::mutex> lock_;
  VariableState& state_;
};

void check(const char* op, const Variable& v, const Gradient& g) {
  if (g.is_none())
    fail<InvalidArgumentError>("[", op, "] the gradient of '", v.name(), "' is none");
  if (g.dtype() != v.dtype() || !(g.dense_shape() == v.shape())) {
    fail<InvalidArgumentError>("[", op, "] '", v.name(), "' has shape ", v.shape(), " and dtype ",
                               name_of(v.dtype()), "; its gradient has shape ", g.dense_shape(),
                               " and dtype ", name_of(g.dtype()));
  }
  if (!is_floating(v.dtype())) {
    fail<InvalidArgumentError>("[", op, "] '", v.name(), "' has dtype ", name_of(v.dtype()),
                               "; only float variables are updated");
  }
}

// Runs a sweep over the variables and a gradient of one length, or over some rows of them.
class Run {
 public:
  Run(const Sweep& sweep, DType dtype, std::span<const double> numbers)
      : kernel_(sweep.kernel(dtype)),
        arrays_(sweep.arrays()),
        element_(static_cast<std::int64_t>(size_of(dtype))) {
    int i = 0;
    for (double x : numbers) {
      wide_[i] = x;
      narrow_[i] = static_cast<float>(x);
      const void* number = &narrow_[i];
      if (dtype == float64) number = &wide_[i];
      args_.in[arrays_ + i] = number;
      args_.in_row_bytes[arrays_ + i] = 0;
      ++i;
    }
  }

  void dense(std::span<char* const> variables, const char* g, std::int64_t count) const {
    const std::int64_t chunks = (count + kChunk - 1) / kChunk;
    const auto chunk = [&](std::int64_t c) {
      expr::LoopArgs args = args_;
      const std::int64_t first = c * kChunk * element_;
      args.cols = std::min(kChunk, count - c * kChunk);
      point(args, variables, first, g + first);
      kernel_(args);
    };
    if (chunks == 1) {
      chunk(0);
    } else {
      parallel_for(chunks, chunk);
    }
  }

  // Rows that occur once are taken where they are; those that repeat are summed first.
  void rows(std::span<char* const> variables, const Shape& shape, const View& indices,
            const View& updates) const {
    const std::int64_t limit = shape[0], width = limit == 0 ? 0 : shape.num_elements() / limit;
    const std::int64_t bytes = width * element_;
    const kernels::RowGroups groups(indices.dtype, indices.data, indices.count(), limit);
    const auto* values = updates.as<const char>();
    expr::LoopArgs args = args_;
    args.cols = width;
    kernels::Scratch sum(static_cast<std::size_t>(bytes));
    constexpr std::int64_t kAhead = 8;  // the rows are anywhere: ask for them early
    for (std::int64_t i = 0; i < groups.size(); ++i) {
      if (i + kAhead < groups.size()) {
        for (char* v : variables) prefetch(v + groups.rows()[i + kAhead] * bytes, bytes);
      }
      const std::uint32_t* first = groups.positions() + groups.starts()[i];
      const std::int64_t repeats = groups.starts()[i + 1] - groups.starts()[i];
      const char* row = values + *first * bytes;
      if (repeats > 1) {
        kernels::sum_rows(updates.dtype, values, {first, static_cast<std::size_t>(repeats)}, width,
                          sum.data());
        row = sum.as<char>();
      }
      point(args, variables, groups.rows()[i] * bytes, row);
      kernel_(args);
    }
  }

  void rows(std::span<char* const> variables, const Gradient& g) const {
    const auto view = [](const Tensor& t) { return View{t.impl()->data, &t.shape(), t.dtype()}; };
    rows(variables, g.dense_shape(), view(g.indices()), view(g.values()));
  }

 private:
  // Aims the kernel at a place of each variable and at a piece of the gradient.
  static void point(expr::LoopArgs& args, std::span<char* const> variables, std::int64_t offset,
                    const char* g) {
    for (std::size_t k = 0; k < variables.size(); ++k) {
      args.in[k] = args.out[k] = variables[k] + offset;
    }
    args.in[variables.size()] = g;
  }
  static void prefetch(const char* at, std::int64_t bytes) {
    for (std::int64_t line = 0; line < std::min<std::int64_t>(bytes, 512); line += 64) {
      __builtin_prefetch(at + line, 1);
    }
  }

  const expr::Kernel& kernel_;
  int arrays_;
  std::int64_t element_;
  expr::LoopArgs args_;
  double wide_[8];
  float narrow_[8];
};

// A sweep as an op, for traces: (arrays..., numbers...) -> the new variable and state.
template <const Sweep& sweep>
Op sweep_op(const char* name) {
  return internal({.name = name,
                   .doc = "One sweep of an optimizer.",
                   .inputs = sweep.arrays() + sweep.numbers(),
                   .outputs = sweep.arrays() - 1,
                   .infer =
                       [](const Call& c, Avals& out) {
                         for (int i = 0; i + 1 < sweep.arrays(); ++i)
                           out.push_back({c.in[0].dtype, c.shape(0)});
                       },
                   .kernel = [](const KernelCall& c) { run_sweep(sweep, c); },
                   .expression = [](const Call&, std::span<const Expr> in) -> Exprs {
                     const auto n = static_cast<std::size_t>(sweep.arrays());
                     return sweep.apply(in.first(n), in.subspan(n));
                   },
                   .in_place_ok = true},
                  "updates of variables are not differentiated");
}
// The same over some rows: (variable, state..., indices, values, numbers...).
template <const Sweep& sweep>
Op rows_op(const char* name) {
  static constexpr auto run = [](const KernelCall& c) {
    const std::size_t n = c.out.size();
    SmallVector<char*, 4> arrays;
    for (std::size_t i = 0; i < n; ++i) {
      if (c.out[i].data != c.in[i].data && c.out[i].count() > 0)
        std::memcpy(c.out[i].data, c.in[i].data,
                    static_cast<std::size_t>(c.out[i].count()) * size_of(c.out[i].dtype));
      arrays.push_back(c.out[i].as<char>());
    }
    double numbers[8];
    for (std::size_t i = n + 2; i < c.in.size(); ++i)
      numbers[i - n - 2] = c.in[i].dtype == float64 ? *c.in[i].as<double>() : *c.in[i].as<float>();
    const Run over(sweep, c.in[0].dtype, {numbers, c.in.size() - n - 2});
    over.rows({arrays.begin(), n}, c.shape(0), c.in[n], c.in[n + 1]);
  };
  return internal({.name = name,
                   .doc = "One sweep of an optimizer over the rows that have a gradient.",
                   .inputs = sweep.arrays() + 1 + sweep.numbers(),
                   .outputs = sweep.arrays() - 1,
                   .infer =
                       [](const Call& c, Avals& out) {
                         for (int i = 0; i + 1 < sweep.arrays(); ++i)
                           out.push_back({c.in[0].dtype, c.shape(0)});
                       },
                   .kernel = [](const KernelCall& c) { run(c); },
                   .in_place_ok = true},
                  "updates of variables are not differentiated");
}
const Op sgd_rows_op = rows_op<sgd_sweep>("sgd_rows_update");
const Op adagrad_rows_op = rows_op<adagrad_sweep>("adagrad_rows_update");
const Op sgd_op = sweep_op<sgd_sweep>("sgd_update");
const Op momentum_op = sweep_op<momentum_sweep>("momentum_update");
const Op nesterov_op = sweep_op<nesterov_sweep>("nesterov_update");
const Op adagrad_op = sweep_op<adagrad_sweep>("adagrad_update");
const Op adam_op = sweep_op<adam_sweep>("adam_update");

// The update as part of what is being traced.
void trace(const Op& op, std::initializer_list<Variable> variables,
           std::initializer_list<Tensor> gradient, std::initializer_list<Tensor> numbers) {
  const DType dtype = variables.begin()->dtype();
  SmallVector<Tensor, 8> in;
  for (const Variable& v : variables) in.push_back(thread_context.variables->read(*v.state()));
  for (const Tensor& g : gradient) in.push_back(g);
  for (const Tensor& x : numbers) in.push_back(cast(x, dtype == float64 ? float64 : float32));
  const Tensors out = op.run(in, nullptr);
  std::size_t i = 0;
  for (const Variable& v : variables) thread_context.variables->write(*v.state(), out[i++]);
}

}  // namespace

void sgd_update(const Variable& variable, const Gradient& gradient, double learning_rate) {
  check("sgd_update", variable, gradient);
  if (thread_context.variables) {
    return gradient.is_rows() ? trace(sgd_rows_op, {variable},
                                      {gradient.indices(), gradient.values()}, {learning_rate})
                              : trace(sgd_op, {variable}, {gradient.values()}, {learning_rate});
  }
  const double numbers[] = {learning_rate};
  const Run run(sgd_sweep, variable.dtype(), numbers);
  Writable p(variable);
  char* const arrays[] = {p.data()};
  if (gradient.is_rows()) {
    run.rows(arrays, gradient);
  } else {
    run.dense(arrays, static_cast<const char*>(gradient.values().raw_data()),
              gradient.values().num_elements());
  }
}

void momentum_update(const Variable& variable, const Variable& velocity, const Gradient& gradient,
                     double learning_rate, double momentum, bool nesterov) {
  check("momentum_update", variable, gradient);
  if (thread_context.variables)
    return trace(nesterov ? nesterov_op : momentum_op, {variable, velocity}, {gradient.tensor()},
                 {learning_rate, momentum});
  const Tensor g = gradient.tensor();
  const double numbers[] = {learning_rate, momentum};
  const Run run(nesterov ? nesterov_sweep : momentum_sweep, variable.dtype(), numbers);
  Writable p(variable), v(velocity);
  char* const arrays[] = {p.data(), v.data()};
  run.dense(arrays, static_cast<const char*>(g.raw_data()), g.num_elements());
}

void adagrad_update(const Variable& variable, const Variable& accumulator, const Gradient& gradient,
                    double learning_rate, double epsilon) {
  check("adagrad_update", variable, gradient);
  if (thread_context.variables) {
    return gradient.is_rows()
               ? trace(adagrad_rows_op, {variable, accumulator},
                       {gradient.indices(), gradient.values()}, {learning_rate, epsilon})
               : trace(adagrad_op, {variable, accumulator}, {gradient.values()},
                       {learning_rate, epsilon});
  }
  const double numbers[] = {learning_rate, epsilon};
  const Run run(adagrad_sweep, variable.dtype(), numbers);
  Writable p(variable), a(accumulator);
  char* const arrays[] = {p.data(), a.data()};
  if (gradient.is_rows()) {
    run.rows(arrays, gradient);
  } else {
    run.dense(arrays, static_cast<const char*>(gradient.values().raw_data()),
              gradient.values().num_elements());
  }
}

void adam_update(const Variable& variable, const Variable& m, const Variable& v,
                 const Gradient& gradient, In step, const AdamSettings& s) {
  check("adam_update", variable, gradient);
  const Tensor g = gradient.tensor();
  const double decay = s.learning_rate * s.weight_decay;
  if (thread_context.variables) {
    const Tensor t = cast(step, float64);
    const Tensor alpha = s.learning_rate * sqrt(1 - pow(s.beta_2, t)) / (1 - pow(s.beta_1, t));
    return trace(adam_op, {variable, m, v}, {g},
                 {alpha, 1 - s.beta_1, 1 - s.beta_2, s.epsilon, decay});
  }
  const auto t = step->item<double>();
  const double alpha =
      s.learning_rate * std::sqrt(1 - std::pow(s.beta_2, t)) / (1 - std::pow(s.beta_1, t));
  const double numbers[] = {alpha, 1 - s.beta_1, 1 - s.beta_2, s.epsilon, decay};
  const Run run(adam_sweep, variable.dtype(), numbers);
  Writable p(variable), first(m), second(v);
  char* const arrays[] = {p.data(), first.data(), second.data()};
  run.dense(arrays, static_cast<const char*>(g.raw_data()), g.num_elements());
}

}  // namespace gradus
