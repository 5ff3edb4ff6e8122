#include "graph/elementwise.h"

#include <string>

#include "base/check.h"
#include "graph/complex_loop.h"
#include "graph/expression_pieces.h"
#include "graph/loop_nest.h"

namespace gradus {
namespace {

// The inputs of an op, its output, and cotangents or tangents before them: all of them values of a
// program of its own, where each is different from every other. What is derived there is then put
// in place of what reads it. So a derivative cannot take two values for one, whatever it is given
// and however deeply derived ops are nested.
struct Apart {
  expr::Builder builder;
  std::vector<Expr> leading, in;
  Expr out;

  Apart(const ElementwiseRule& rule, int leading_count, expr::Type type) {
    const DType dtype = expr::dtype_of(type);
    for (int i = 0; i < leading_count; ++i) leading.push_back(builder.input(dtype));
    for (int i = 0; i < rule.arity; ++i)
      in.push_back(builder.input(rule.bool_inputs >> i & 1 ? bool_ : dtype));
    out = builder.input(dtype);
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

// A derived expression as a program over (leading values, in..., out), made once for each type: the
// next order asks for it many times.
class DerivedProgram {
 public:
  using Make = std::function<Expr(const Apart&)>;
  DerivedProgram(const ElementwiseRule& rule, int leading_count, const Reads& reads, Make make)
      : rule_(rule), leading_(leading_count), reads_(reads), make_(std::move(make)) {}

  // The expression with the values that a derived op is given: the leading ones, then what it
  // reads.
  Expr at(ElementwiseRule::Exprs given) {
    std::vector<Expr> values(given.begin(), given.begin() + leading_);
    auto next = static_cast<std::size_t>(leading_);
    for (int i = 0; i < rule_.arity; ++i)
      values.push_back(reads_.in >> i & 1 ? given[next++] : Expr());
    values.push_back(reads_.out ? given[next] : Expr());
    return given[0].builder().append(in_type(given[0].type()), values)[0];
  }

 private:
  const expr::Program& in_type(expr::Type type) {
    const std::lock_guard lock(mutex_);
    std::optional<expr::Program>& program = programs_[static_cast<int>(type)];
    if (!program) {
      Apart apart(rule_, leading_, type);
      apart.builder.output(make_(apart), expr::dtype_of(type));
      program = apart.builder.finish();
    }
    return *program;
  }

  const ElementwiseRule& rule_;
  int leading_;
  Reads reads_;
  Make make_;
  std::mutex mutex_;
  std::optional<expr::Program> programs_[expr::kTypeCount];
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
              .dtypes = self.info.dtypes | (rule->makes_bool ? kBools : 0),
              .inputs = rule->arity,
              .low = self.info.low,
              .high = self.info.high};
  return std::unique_ptr<Op>(new Op(make_elementwise(info, std::move(rule), true)));
}

// The ops that compute a rule with too many inputs, in this type.
std::vector<ElementwiseRule::Piece> pieces_of(const ElementwiseRule& wide, const std::string& name,
                                              const Op& self, expr::Type type) {
  std::vector<DType> dtypes;
  for (int i = 0; i < wide.arity; ++i)
    dtypes.push_back(wide.bool_inputs >> i & 1 ? bool_ : expr::dtype_of(type));
  const expr::Program whole = wide.program(dtypes, expr::dtype_of(type), 0);
  std::vector<ElementwiseRule::Piece> pieces;
  for (ExpressionPiece& piece : split_expression(whole, expr::kMaxInputs)) {
    auto rule = std::make_unique<ElementwiseRule>();
    rule->arity = static_cast<int>(piece.sources.size());
    rule->only = type;
    rule->makes_bool = piece.program.outputs[0].dtype == bool_;
    for (std::size_t i = 0; i < piece.sources.size(); ++i)
      if (piece.program.inputs[i].dtype == bool_) rule->bool_inputs |= 1u << i;
    rule->value = [program = std::move(piece.program)](ElementwiseRule::Exprs given) {
      return given[0].builder().append(program, given)[0];
    };
    const std::string number = std::to_string(pieces.size());
    pieces.push_back({derived_op(name + "." + expr::name_of(type) + "part" + number,
                                 "Part " + number + " of " + name + ".", self, std::move(rule)),
                      std::move(piece.sources)});
  }
  return pieces;
}

}  // namespace

bool computes(const Op& op, Expr (*function)(Expr, Expr)) {
  const ElementwiseRule* rule = op.elementwise.get();
  if (!rule || rule->arity != 2 || rule->makes_bool || rule->bool_inputs) return false;
  if (!(op.info.dtypes & one_dtype(float64))) return false;
  const Apart apart(*rule, 0, rule->only.value_or(expr::Type::f64));
  return rule->value(apart.in).same_as(function(apart.in[0], apart.in[1]));
}

Tensor ElementwiseRule::Derived::run(std::span<const Tensor> args) const {
  if (op) return op->run_one(args, nullptr);
  const DType dtype = args[0].dtype();
  const bool in_float = !is_complex(dtype) && expr::type_of(dtype) == expr::Type::f32;
  SmallVector<Tensor, 32> values(args.begin(), args.end());
  for (const Piece& piece : in_float ? float_pieces : double_pieces) {
    SmallVector<Tensor, 16> in;
    for (const int k : piece.args) in.push_back(values[static_cast<std::size_t>(k)]);
    values.push_back(piece.op->run_one(in, nullptr));
  }
  return values.back();
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

void ElementwiseRule::set_op(Derived& d, const Op& self, const std::string& suffix,
                             const std::string& doc, std::unique_ptr<ElementwiseRule> rule) const {
  const std::string name = self.name() + suffix;
  rule->only = only;
  if (rule->arity <= expr::kMaxInputs) {
    d.op = derived_op(name, doc, self, std::move(rule));
    return;
  }
  if (only != expr::Type::f64) d.float_pieces = pieces_of(*rule, name, self, expr::Type::f32);
  if (only != expr::Type::f32) d.double_pieces = pieces_of(*rule, name, self, expr::Type::f64);
}

const ElementwiseRule::Derived& ElementwiseRule::vjp(const Op& self, int input) const {
  if (input < 4) {
    if (const Derived* known = vjp_cache_[input].load(std::memory_order_acquire)) return *known;
  }
  const Derived& made = derive(static_cast<std::uint32_t>(input) << 1, [&] {
    Derived d;
    const auto product = [this, input](const Apart& a) {
      return bool_inputs >> input & 1 ? constant(a.out, 0)
                                      : scale(input, a.leading[0], a.in, a.out);
    };
    const Apart apart(*this, 1, only.value_or(expr::Type::f64));
    const Expr e = product(apart);
    d.is_zero = apart.is_zero(e);
    d.is_identity = e.same_as(apart.leading[0]);
    if (d.is_zero || d.is_identity) return d;
    d.reads = apart.reads_of(e);

    auto rule = std::make_unique<ElementwiseRule>();
    rule->arity = 1 + __builtin_popcount(d.reads.in) + (d.reads.out ? 1 : 0);
    rule->bool_inputs = masks_of(*this, d.reads, 1);
    const auto program = std::make_shared<DerivedProgram>(*this, 1, d.reads, product);
    rule->value = [program](Exprs given) { return program->at(given); };
    const std::string number = std::to_string(input);
    set_op(d, self, ".vjp" + number,
           "The cotangent times d" + std::string(self.name()) + "/dx" + number + ".",
           std::move(rule));
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
    const auto total = [this, inputs](const Apart& a) {
      Expr sum;
      std::size_t next = 0;
      for (int i = 0; i < arity; ++i) {
        if (!(inputs >> i & 1)) continue;
        const Expr term = scale(i, a.leading[next++], a.in, a.out);
        sum = sum.valid() ? sum + term : term;
      }
      return sum.valid() ? sum : constant(a.out, 0);
    };
    const int active = __builtin_popcount(inputs);
    const Apart apart(*this, active, only.value_or(expr::Type::f64));
    const Expr e = total(apart);
    d.is_zero = apart.is_zero(e);
    d.is_identity = active == 1 && e.same_as(apart.leading[0]);
    if (d.is_zero || d.is_identity) return d;
    d.reads = apart.reads_of(e);

    auto rule = std::make_unique<ElementwiseRule>();
    rule->arity = active + __builtin_popcount(d.reads.in) + (d.reads.out ? 1 : 0);
    rule->bool_inputs = masks_of(*this, d.reads, active);
    const auto program = std::make_shared<DerivedProgram>(*this, active, d.reads, total);
    rule->value = [program](Exprs given) { return program->at(given); };
    set_op(d, self, ".jvp" + std::to_string(inputs),
           "The tangent of " + std::string(self.name()) + ".", std::move(rule));
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
  KernelKey key{.out = out, .per_row = per_row};
  for (DType t : in) key.in = key.in << 4 | static_cast<std::uint64_t>(t);
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
