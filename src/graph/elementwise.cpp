#include "graph/elementwise.h"

#include <string>

#include "base/check.h"
#include "graph/complex_loop.h"
#include "graph/loop_nest.h"

namespace gradus {
namespace {

// All inputs of an op as expressions of a probe program in float64, to find out what a derived
// expression reads.
struct Probe {
  expr::Builder builder;
  Expr g;
  std::vector<Expr> in, tangents;
  Expr out;

  explicit Probe(const ElementwiseRule& rule) {
    g = builder.input(float64);
    for (int i = 0; i < rule.arity; ++i) {
      in.push_back(builder.input(rule.bool_inputs >> i & 1 ? bool_ : float64));
    }
    for (int i = 0; i < rule.arity; ++i) tangents.push_back(builder.input(float64));
    out = builder.input(float64);
  }

  Reads reads_of(Expr e) const {
    Reads reads;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (depends_on(e, in[i])) reads.in |= 1u << i;
    }
    if (depends_on(e, out)) reads.out = 1;
    return reads;
  }
  bool is_zero(Expr e) const {
    const expr::Instr& instr = builder.instr(e.id());
    return instr.code == expr::Code::constant && instr.bits == 0;
  }
};

// A value of which nothing is known while expressions are built, so that nothing folds.
const expr::Fn placeholder_fn{"placeholder", 1, [](const Expr* x) { return x[0]; }, {nullptr}};

// Puts the values that a derived op was given back into the positions of the original's inputs;
// positions that are not read hold placeholders.
struct Unpacked {
  std::vector<Expr> in;
  Expr out;

  Unpacked(ElementwiseRule::Exprs given, const Reads& reads, int arity) {
    std::size_t next = 0;
    for (int i = 0; i < arity; ++i) {
      in.push_back(reads.in >> i & 1 ? given[next++] : Expr());
    }
    if (reads.out) out = given[next];
  }
  void fill(Expr like, std::uint32_t bool_inputs) {
    const auto next = [&] { return like = call(placeholder_fn, like); };
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i].valid()) continue;
      in[i] = bool_inputs >> i & 1 ? next() != 0 : next();
    }
    if (!out.valid()) out = next();
  }
};

// Which of a derived op's inputs, given as (leading values, in..., out), are masks.
std::uint32_t masks_of(const ElementwiseRule& rule, const Reads& reads, int leading) {
  std::uint32_t masks = 0;
  int position = leading;
  for (int i = 0; i < rule.arity; ++i) {
    if (!(reads.in >> i & 1)) continue;
    if (rule.bool_inputs >> i & 1) masks |= 1u << position;
    ++position;
  }
  return masks;
}

std::unique_ptr<Op> derived_op(const std::string& name, const std::string& doc, const Op& self,
                               std::unique_ptr<ElementwiseRule> rule) {
  OpInfo info{.name = Text(name).c_str(),
              .doc = Text(doc).c_str(),
              .dtypes = self.info.dtypes,
              .inputs = rule->arity,
              .low = self.info.low,
              .high = self.info.high};
  return std::unique_ptr<Op>(new Op(make_elementwise(info, std::move(rule), true)));
}

}  // namespace

bool computes(const Op& op, Expr (*function)(Expr, Expr)) {
  const ElementwiseRule* rule = op.elementwise.get();
  if (!rule || rule->arity != 2 || rule->makes_bool || rule->bool_inputs) return false;
  if (!(op.info.dtypes & one_dtype(float64))) return false;
  const Probe probe(*rule);
  return rule->value(probe.in).same_as(function(probe.in[0], probe.in[1]));
}

Expr ElementwiseRule::scale(int i, Expr g, Exprs in, Expr out) const {
  if (!scales.empty()) return scales[i] ? scales[i](g, in, out) : constant(g, 0);
  const Expr y = value(in);
  // One call of a named function on just these inputs: its own rule may use the saved output.
  const expr::Instr& instr = y.builder().instr(y.id());
  if (instr.code == expr::Code::call && instr.fn->arity == arity && !instr.fn->scales.empty()) {
    bool direct = true;
    for (int k = 0; k < arity; ++k) direct &= operand(instr, k) == in[k].id();
    if (direct) {
      return instr.fn->scales[i] ? instr.fn->scales[i](g, in.data(), out) : constant(g, 0);
    }
  }
  return scale_through(y, in[i], g);
}

const ElementwiseRule::Derived& ElementwiseRule::derive(
    std::uint32_t key, const std::function<Derived()>& make) const {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [k, d] : derived_)
      if (k == key) return *d;
  }
  auto made = std::make_unique<Derived>(make());
  const std::lock_guard lock(mutex_);
  for (const auto& [k, d] : derived_)
    if (k == key) return *d;
  derived_.emplace_back(key, std::move(made));
  return *derived_.back().second;
}

const ElementwiseRule::Derived& ElementwiseRule::vjp(const Op& self, int input) const {
  if (input < 4) {
    if (const Derived* known = vjp_cache_[input].load(std::memory_order_acquire)) return *known;
  }
  const Derived& made = derive(static_cast<std::uint32_t>(input) << 1, [&] {
    Derived d;
    Probe probe(*this);
    const Expr e = bool_inputs >> input & 1 ? constant(probe.g, 0)
                                            : scale(input, probe.g, probe.in, probe.out);
    d.is_zero = probe.is_zero(e);
    d.is_identity = e.same_as(probe.g);
    if (d.is_zero || d.is_identity) return d;
    d.reads = probe.reads_of(e);

    auto rule = std::make_unique<ElementwiseRule>();
    rule->arity = 1 + __builtin_popcount(d.reads.in) + (d.reads.out ? 1 : 0);
    rule->bool_inputs = masks_of(*this, d.reads, 1);
    rule->value = [this, input, reads = d.reads](Exprs given) {
      Unpacked at(given.subspan(1), reads, arity);
      at.fill(given[0], bool_inputs);
      return scale(input, given[0], at.in, at.out);
    };
    d.op = derived_op(
        std::string(self.name()) + ".vjp" + std::to_string(input),
        "The cotangent times d" + std::string(self.name()) + "/dx" + std::to_string(input) + ".",
        self, std::move(rule));
    return d;
  });
  if (input < 4) vjp_cache_[input].store(&made, std::memory_order_release);
  return made;
}

const ElementwiseRule::Derived& ElementwiseRule::jvp(const Op& self, std::uint32_t inputs) const {
  inputs &= ~bool_inputs;
  return derive(inputs << 1 | 1, [&] {
    Derived d;
    // The sum over the active inputs of scale_i(t_i).
    const auto total = [this, inputs](Exprs tangents, Exprs in, Expr out) {
      Expr sum;
      std::size_t next = 0;
      for (int i = 0; i < arity; ++i) {
        if (!(inputs >> i & 1)) continue;
        const Expr term = scale(i, tangents[next++], in, out);
        sum = sum.valid() ? sum + term : term;
      }
      return sum;
    };
    const int active = __builtin_popcount(inputs);
    Probe probe(*this);
    std::vector<Expr> tangents;
    for (int i = 0; i < arity; ++i)
      if (inputs >> i & 1) tangents.push_back(probe.tangents[i]);
    const Expr e = active ? total(tangents, probe.in, probe.out) : constant(probe.g, 0);
    d.is_zero = probe.is_zero(e);
    d.is_identity = active == 1 && e.same_as(tangents[0]);
    if (d.is_zero || d.is_identity) return d;
    d.reads = probe.reads_of(e);

    auto rule = std::make_unique<ElementwiseRule>();
    rule->arity = active + __builtin_popcount(d.reads.in) + (d.reads.out ? 1 : 0);
    rule->bool_inputs = masks_of(*this, d.reads, active);
    rule->value = [this, total, active, reads = d.reads](Exprs given) {
      Unpacked at(given.subspan(active), reads, arity);
      at.fill(given[0], bool_inputs);
      return total(given.first(active), at.in, at.out);
    };
    d.op = derived_op(std::string(self.name()) + ".jvp" + std::to_string(inputs),
                      "The tangent of " + std::string(self.name()) + ".", self, std::move(rule));
    return d;
  });
}

expr::Program ElementwiseRule::program(std::span<const DType> in, DType out,
                                       std::uint32_t per_row) const {
  expr::Builder builder;
  std::vector<Expr> inputs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    inputs.push_back(builder.input(in[i], !(per_row >> i & 1)));
  }
  const Expr y = value(inputs);
  builder.output(y.type() == expr::type_of(out) ? y : convert(y, expr::type_of(out)), out);
  return builder.finish();
}

const expr::Kernel& ElementwiseRule::kernel(std::span<const DType> in, DType out,
                                            std::uint32_t per_row) const {
  std::uint64_t key = static_cast<std::uint64_t>(out);
  for (DType t : in) key = key << 4 | static_cast<std::uint64_t>(t);
  key = key << 12 | per_row;
  for (auto* k = kernels_.load(std::memory_order_acquire); k; k = k->next.get()) {
    if (k->key == key) return k->kernel;
  }
  auto made =
      std::make_unique<CachedKernel>(CachedKernel{key, compile(program(in, out, per_row)), {}});
  const std::lock_guard lock(mutex_);
  made->next = std::move(newest_);
  newest_ = std::move(made);
  kernels_.store(newest_.get(), std::memory_order_release);
  return newest_->kernel;
}

void ElementwiseRule::run(std::span<const View> in, const View& out) const {
  bool complex = is_complex(out.dtype);
  for (const View& v : in) complex |= is_complex(v.dtype);
  if (complex) {
    SmallVector<DType, 8> real;
    for (const View& v : in) real.push_back(v.dtype == bool_ ? bool_ : float64);
    run_complex("elementwise", program(real, out.dtype == bool_ ? bool_ : float64, 0), in, out);
    return;
  }
  const LoopNest nest(in, *out.shape);
  DType dtypes[expr::kMaxInputs];
  for (std::size_t i = 0; i < in.size(); ++i) dtypes[i] = in[i].dtype;
  nest.run(kernel({dtypes, in.size()}, out.dtype, nest.per_row), in, {&out, 1});
}

}  // namespace gradus
