// Optimizer sweeps as scalar programs with several results: the same definitions run on every
// instruction set, in place, each array read and written once.
#include "gradus/updates.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/check.h"
#include "base/thread_pool.h"
#include "expr/kernel.h"
#include "gradus/elementwise.h"
#include "graph/context.h"
#include "graph/op.h"
#include "graph/symbols.h"
#include "graph/variable_state.h"
#include "kernels/ranges.h"
#include "kernels/row_groups.h"
#include "ops/update_rules.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using expr::Expr;
using Exprs = RuleDefinition::Exprs;

constexpr std::int64_t kChunk = 16384;
constexpr std::size_t kMaxArrays = 5, kMaxNumbers = 8;

DType number_dtype(DType dtype) { return dtype == float64 ? float64 : float32; }

// What a sweep is made for. With decay, its amount is one more number.
struct SweepAttrs {
  UpdateRule rule = {};
  bool decays = false;
  static auto fields() {
    return attr_fields(attr("rule", &SweepAttrs::rule), attr("decays", &SweepAttrs::decays));
  }
  const RuleDefinition& definition() const { return definition_of(rule); }
  std::size_t written() const { return static_cast<std::size_t>(definition().state) + 1; }
  std::size_t numbers() const { return static_cast<std::size_t>(definition().numbers) + decays; }
};

Exprs sweep_body(const SweepAttrs& sweep, std::span<const Expr> arrays,
                 std::span<const Expr> numbers) {
  Exprs a(arrays.begin(), arrays.end());
  if (sweep.decays) a[0] = a[0] - a[0] * numbers.back();
  return sweep.definition().body(a, {numbers.begin(), numbers.end()});
}

const expr::Kernel& kernel_of(const SweepAttrs& sweep, DType dtype) {
  static std::atomic<const expr::Kernel*> known[kUpdateRules][2][kDTypeCount];
  auto& slot = known[static_cast<std::size_t>(sweep.rule)][sweep.decays][static_cast<int>(dtype)];
  if (const expr::Kernel* kernel = slot.load(std::memory_order_acquire)) return *kernel;
  expr::Builder builder;
  Exprs arrays = {builder.input(dtype)}, numbers;
  for (std::size_t i = 1; i < sweep.written(); ++i)
    arrays.push_back(builder.input(state_dtype(dtype)));
  arrays.push_back(builder.input(dtype));
  for (std::size_t i = 0; i < sweep.numbers(); ++i)
    numbers.push_back(builder.input(number_dtype(dtype), false));
  const Exprs results = sweep_body(sweep, arrays, numbers);
  for (std::size_t i = 0; i < results.size(); ++i)
    builder.output(results[i], i == 0 ? dtype : state_dtype(dtype));
  const expr::Kernel* made = new expr::Kernel(compile(builder.finish()));
  const expr::Kernel* expected = nullptr;
  if (slot.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *expected;
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

void check(const RuleDefinition& rule, const Variable& v, std::span<const Variable> state,
           const Gradient& g) {
  if (g.is_none())
    fail<InvalidArgumentError>("[", rule.name, "_update] the gradient of '", v.name(), "' is none");
  if (g.dtype() != v.dtype() || !(g.dense_shape() == v.shape())) {
    fail<InvalidArgumentError>("[", rule.name, "_update] '", v.name(), "' has shape ", v.shape(),
                               " and dtype ", name_of(v.dtype()), "; its gradient has shape ",
                               g.dense_shape(), " and dtype ", name_of(g.dtype()));
  }
  if (!is_floating(v.dtype())) {
    fail<InvalidArgumentError>("[", rule.name, "_update] '", v.name(), "' has dtype ",
                               name_of(v.dtype()), "; only float variables are updated");
  }
  if (state.size() != static_cast<std::size_t>(rule.state))
    fail<InvalidArgumentError>("[", rule.name, "_update] got ", state.size(),
                               " variables of state; expected ", rule.state);
  for (std::size_t i = 0; i < state.size(); ++i) {
    const Variable& s = state[i];
    if (s == v || std::find(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(i), s) !=
                      state.begin() + static_cast<std::ptrdiff_t>(i))
      fail<InvalidArgumentError>(
          "[", rule.name, "_update] '", s.name(),
          "' is given twice; each part of the state is a variable of its own");
    if (s.dtype() != state_dtype(v.dtype()) || !(s.shape() == v.shape()))
      fail<InvalidArgumentError>("[", rule.name, "_update] the state '", s.name(), "' has shape ",
                                 s.shape(), " and dtype ", name_of(s.dtype()), "; expected ",
                                 v.shape(), " and ", name_of(state_dtype(v.dtype())));
  }
}

// Where the variable and its state are read and written.
struct Arrays {
  const char* from[kMaxArrays];
  char* to[kMaxArrays];
};

// Runs a sweep over the variables and a gradient of one length, or over some rows of them.
class Run {
 public:
  Run(const SweepAttrs& sweep, DType dtype, std::span<const double> numbers)
      : kernel_(kernel_of(sweep, dtype)),
        written_(sweep.written()),
        element_(static_cast<std::int64_t>(size_of(dtype))),
        state_element_(static_cast<std::int64_t>(size_of(state_dtype(dtype)))) {
    std::size_t i = 0;
    for (double x : numbers.first(sweep.numbers())) {
      wide_[i] = x;
      narrow_[i] = static_cast<float>(x);
      const void* number = &narrow_[i];
      if (dtype == float64) number = &wide_[i];
      args_.in[written_ + 1 + i] = number;
      args_.in_row_bytes[written_ + 1 + i] = 0;
      ++i;
    }
  }
  Run(const Run&) = delete;

  void dense(const Arrays& arrays, const char* g, std::int64_t count) const {
    const std::int64_t chunks = (count + kChunk - 1) / kChunk;
    const auto chunk = [&](std::int64_t c) {
      expr::LoopArgs args = args_;
      args.cols = std::min(kChunk, count - c * kChunk);
      point(args, arrays, c * kChunk, g + c * kChunk * element_);
      kernel_(args);
    };
    if (chunks == 1) {
      chunk(0);
    } else {
      parallel_for(chunks, chunk);
    }
  }

  // Rows that occur once are taken where they are; those that repeat are summed first.
  void rows(const Arrays& arrays, const Shape& shape, const View& indices,
            const View& updates) const {
    const std::int64_t limit = shape[0],
                       width = limit == 0 ? 0 : std::int64_t{shape.num_elements()} / limit;
    const kernels::RowGroups groups(indices.dtype, indices.data, indices.count(), limit);
    const auto row_bytes = static_cast<std::int64_t>(written_ + 1) * width * state_element_;
    kernels::parallel_ranges(groups.size(), kernels::grain_of_rows(row_bytes),
                             [&](std::int64_t begin, std::int64_t end) {
                               some_rows(arrays, width, groups, begin, end, updates);
                             });
  }

 private:
  void some_rows(const Arrays& arrays, std::int64_t width, const kernels::RowGroups& groups,
                 std::int64_t begin, std::int64_t end, const View& updates) const {
    const auto* values = updates.as<const char>();
    const std::int64_t bytes = width * element_;
    expr::LoopArgs args = args_;
    args.cols = width;
    kernels::Scratch sum(static_cast<std::size_t>(bytes));
    constexpr std::int64_t kAhead = 8;  // the rows are anywhere: ask for them early
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + kAhead < end) {
        const std::int64_t row = groups.rows()[i + kAhead] * width;
        for (std::size_t k = 0; k < written_; ++k)
          prefetch(arrays.to[k] + row * element(k), width * element(k));
      }
      const std::uint32_t* first = groups.positions() + groups.starts()[i];
      const std::int64_t repeats = groups.starts()[i + 1] - groups.starts()[i];
      const char* row = values + *first * bytes;
      if (repeats > 1) {
        kernels::sum_rows(updates.dtype, values, {first, static_cast<std::size_t>(repeats)}, width,
                          sum.data());
        row = sum.as<char>();
      }
      point(args, arrays, groups.rows()[i] * width, row);
      kernel_(args);
    }
  }

  std::int64_t element(std::size_t k) const { return k == 0 ? element_ : state_element_; }
  // Aims the kernel at a place of each variable and at a piece of the gradient.
  void point(expr::LoopArgs& args, const Arrays& arrays, std::int64_t place, const char* g) const {
    for (std::size_t k = 0; k < written_; ++k) {
      args.in[k] = arrays.from[k] + place * element(k);
      args.out[k] = arrays.to[k] + place * element(k);
    }
    args.in[written_] = g;
  }
  static void prefetch(const char* at, std::int64_t bytes) {
    for (std::int64_t line = 0; line < std::min<std::int64_t>(bytes, 512); line += 64) {
      __builtin_prefetch(at + line, 1);
    }
  }

  const expr::Kernel& kernel_;
  std::size_t written_;
  std::int64_t element_, state_element_;
  expr::LoopArgs args_;
  double wide_[kMaxNumbers];
  float narrow_[kMaxNumbers];
};

// Public functions check what they are given; a program that was read from a file is checked here.
void infer_updated(const Call& c, Avals& out, bool by_rows) {
  const auto& sweep = c.get<SweepAttrs>();
  const auto known =
      static_cast<int>(sweep.rule) >= 0 && static_cast<int>(sweep.rule) < kUpdateRules;
  bool fits = known && c.in.size() == sweep.written() + (by_rows ? 2 : 1) + sweep.numbers() &&
              is_floating(c.in[0].dtype);
  const auto is_like = [&](std::size_t i, DType dtype, const Shape& shape) {
    return c.in[i].dtype == dtype && shapes_agree(*c.in[i].shape, shape);
  };
  for (std::size_t i = 1; fits && i < sweep.written(); ++i)
    fits = is_like(i, state_dtype(c.in[0].dtype), c.shape(0));
  for (std::size_t i = c.in.size() - (fits ? sweep.numbers() : 0); fits && i < c.in.size(); ++i)
    fits = is_like(i, number_dtype(c.in[0].dtype), {});
  if (fits && !by_rows) fits = is_like(sweep.written(), c.in[0].dtype, c.shape(0));
  if (fits && by_rows) {
    const View &indices = c.in[sweep.written()], &values = c.in[sweep.written() + 1];
    Shape rows = c.shape(0);
    fits = rows.rank() > 0 && indices.shape->rank() == 1 &&
           (indices.dtype == int32 || indices.dtype == int64);
    if (fits) rows[0] = (*indices.shape)[0];
    fits = fits && values.dtype == c.in[0].dtype && shapes_agree(*values.shape, rows);
  }
  if (!fits) {
    fail<InvalidArgumentError>("[", c.op.name(),
                               "] got operands that do not go together; expected "
                               "a variable, its state, a gradient and numbers");
  }
  for (std::size_t i = 0; i < sweep.written(); ++i)
    out.push_back({c.in[i].dtype, c.shape(static_cast<int>(i))});
}

// The numbers of an op, which come last.
struct OpNumbers {
  double values[kMaxNumbers];
  std::size_t count;
  explicit OpNumbers(const KernelCall& c) : count(c.get<SweepAttrs>().numbers()) {
    for (std::size_t i = 0; i < count; ++i) {
      const View& v = c.in[c.in.size() - count + i];
      values[i] = v.dtype == float64 ? *v.as<double>() : *v.as<float>();
    }
  }
  operator std::span<const double>() const { return {values, count}; }
};

// A sweep as an op, for traces: (variable, state..., gradient, numbers...) -> variable, state...
const Op sweep_op =
    internal({.name = "update",
              .doc = "One sweep of an optimizer.",
              .attrs = &attr_type<SweepAttrs>(),
              .inputs = -1,
              .outputs = -1,
              .infer = [](const Call& c, Avals& out) { infer_updated(c, out, false); },
              .kernel =
                  [](const KernelCall& c) {
                    const auto& sweep = c.get<SweepAttrs>();
                    Arrays arrays;
                    for (std::size_t i = 0; i < sweep.written(); ++i) {
                      arrays.from[i] = c.in[i].as<char>();
                      arrays.to[i] = c.out[i].as<char>();
                    }
                    Run(sweep, c.in[0].dtype, OpNumbers(c))
                        .dense(arrays, c.in[sweep.written()].as<char>(), c.in[0].count());
                  },
              .expression = [](const Call& c, std::span<const Expr> in) -> Exprs {
                const auto& sweep = c.get<SweepAttrs>();
                const std::size_t n = sweep.written() + 1;
                return sweep_body(sweep, in.first(n), in.subspan(n));
              },
              .in_place_ok = true},
             "updates of variables are not differentiated", Where::traced);

// The same over some rows: (variable, state..., indices, values, numbers...).
const Op rows_op = internal(
    {.name = "update_rows",
     .doc = "One sweep of an optimizer over the rows that have a gradient.",
     .attrs = &attr_type<SweepAttrs>(),
     .inputs = -1,
     .outputs = -1,
     .infer = [](const Call& c, Avals& out) { infer_updated(c, out, true); },
     .kernel =
         [](const KernelCall& c) {
           const auto& sweep = c.get<SweepAttrs>();
           const std::size_t n = sweep.written();
           Arrays arrays;
           for (std::size_t i = 0; i < n; ++i) {
             if (c.out[i].data != c.in[i].data && c.out[i].count() > 0)
               std::memcpy(c.out[i].data, c.in[i].data,
                           static_cast<std::size_t>(c.out[i].count()) * size_of(c.out[i].dtype));
             arrays.from[i] = arrays.to[i] = c.out[i].as<char>();
           }
           Run(sweep, c.in[0].dtype, OpNumbers(c)).rows(arrays, c.shape(0), c.in[n], c.in[n + 1]);
         },
     .in_place_ok = true},
    "updates of variables are not differentiated", Where::traced);

// The update as part of what is being traced.
void trace(const SweepAttrs& sweep, const Variable& variable, std::span<const Variable> state,
           const Gradient& g, bool by_rows, std::span<const Tensor> numbers) {
  SmallVector<Tensor, 8> in;
  in.push_back(thread_context.variables->read(*variable.state()));
  for (const Variable& s : state) in.push_back(thread_context.variables->read(*s.state()));
  if (by_rows) in.push_back(g.indices());
  in.push_back(by_rows ? g.values() : g.tensor());
  for (const Tensor& x : numbers.first(sweep.numbers()))
    in.push_back(cast(x, number_dtype(variable.dtype())));
  const Tensors out = (by_rows ? rows_op : sweep_op).run(in, &sweep);
  thread_context.variables->write(*variable.state(), out[0]);
  for (std::size_t i = 0; i < state.size(); ++i)
    thread_context.variables->write(*state[i].state(), out[i + 1]);
}

}  // namespace

std::optional<UpdateRule> update_rule(const std::string& name) {
  for (int i = 0; i < kUpdateRules; ++i)
    if (definition_of(static_cast<UpdateRule>(i)).name == name) return static_cast<UpdateRule>(i);
  return std::nullopt;
}
int state_count(UpdateRule rule) { return definition_of(rule).state; }
DType state_dtype(DType of_variable) { return number_dtype(of_variable); }

Update::Update(UpdateRule rule, const UpdateSettings& s)
    : rule_(rule), decays_(s.weight_decay != 0) {
  const RuleDefinition& definition = definition_of(rule);
  if (s.settings.size() != static_cast<std::size_t>(definition.settings))
    fail<InvalidArgumentError>("[", definition.name, "_update] got ", s.settings.size(),
                               " settings; expected ", definition.settings);
  if (thread_context.variables) {
    const Tensor rate = cast(s.learning_rate, float64);
    traced_ =
        definition.traced({rate, cast(s.step, float64), cast(s.product, float64), s.settings});
    traced_.push_back(rate * s.weight_decay);
  } else {
    const auto rate = s.learning_rate.item<double>();
    numbers_ = definition.now({rate, s.step.item<double>(), s.product.item<double>(), s.settings});
    numbers_.push_back(rate * s.weight_decay);
  }
}

void Update::operator()(const Variable& variable, std::span<const Variable> state,
                        const Gradient& gradient, bool decays) const {
  const RuleDefinition& definition = definition_of(rule_);
  check(definition, variable, state, gradient);
  const SweepAttrs sweep{rule_, decays_ && decays};
  const bool by_rows = gradient.is_rows() && definition.by_rows && !sweep.decays;
  if (thread_context.variables) return trace(sweep, variable, state, gradient, by_rows, traced_);

  const Run run(sweep, variable.dtype(), numbers_);
  const Tensor g = by_rows ? gradient.values() : gradient.tensor();
  std::optional<Writable> locks[kMaxArrays];
  Arrays arrays;
  for (std::size_t i = 0; i <= state.size(); ++i)
    arrays.from[i] = arrays.to[i] = locks[i].emplace(i == 0 ? variable : state[i - 1]).data();
  if (by_rows) {
    const auto view = [](const Tensor& t) { return View{t.impl()->data, &t.shape(), t.dtype()}; };
    run.rows(arrays, gradient.dense_shape(), view(gradient.indices()), view(g));
  } else {
    run.dense(arrays, static_cast<const char*>(g.raw_data()), g.num_elements());
  }
}

void sgd_update(const Variable& variable, const Gradient& gradient, double learning_rate) {
  Update(UpdateRule::sgd, {.learning_rate = learning_rate})(variable, {}, gradient);
}

void momentum_update(const Variable& variable, const Variable& velocity, const Gradient& gradient,
                     double learning_rate, double momentum, bool nesterov) {
  Update(nesterov ? UpdateRule::nesterov : UpdateRule::momentum,
         {.learning_rate = learning_rate, .settings = {momentum}})(variable, {velocity}, gradient);
}

void adagrad_update(const Variable& variable, const Variable& accumulator, const Gradient& gradient,
                    double learning_rate, double epsilon) {
  Update(UpdateRule::adagrad, {.learning_rate = learning_rate, .settings = {epsilon}})(
      variable, {accumulator}, gradient);
}

void adam_update(const Variable& variable, const Variable& m, const Variable& v,
                 const Gradient& gradient, In step, const AdamSettings& s) {
  Update(UpdateRule::adam, {.learning_rate = s.learning_rate,
                            .step = step,
                            .settings = {s.beta_1, s.beta_2, s.epsilon},
                            .weight_decay = s.weight_decay})(variable, {m, v}, gradient);
}

}  // namespace gradus
