// The op record: everything the engine knows about one op, in one value.
//
// An op is made only by one of the factories below. Each asks for what its algebraic kind needs, so
// that an op without a differential rule cannot be built, and the engine derives the rest: forward
// mode, reverse mode, higher orders, batching, tests and documentation.
//
//   elementwise  y and (optionally) g * dy/dx_i as scalar expressions        graph/elementwise.h
//   linear       its transpose
//   bilinear     its transpose in each argument
//   selecting    what is chosen (a residual) and the linear map that the choice parametrises
//   general      a jvp that is linear in the tangents; optionally a faster vjp
//   composite    a body made of other ops; optionally a fast kernel and faster rules
//   not_differentiable   the reason
//
// Rules are ordinary functions over Tensor, written with the same ops that users call. Therefore
// one rule runs as kernel calls (eager), is recorded when a tape is watching (higher order),
// appends to a graph when its arguments are traced, and is vectorised when they are batched. The
// engine, not the rule, takes care of zeros, broadcasting, accumulation and of which gradients are
// wanted.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/small_vector.h"
#include "gradus/tensor.h"
#include "graph/attrs.h"
#include "graph/cotangent.h"

namespace gradus {

class Graph;
class Op;
class TextReader;
struct ElementwiseRule;  // graph/elementwise.h
struct ProductFacts;     // graph/product.h
namespace expr {
class Expr;
}

// What is known of a value without its data.
struct Aval {
  DType dtype;
  Shape shape;
};
using Avals = SmallVector<Aval, 2>;
using Tensors = SmallVector<Tensor, 4>;

// An operand as shape rules and kernels see it; data is null for shape rules.
struct View {
  void* data;
  const Shape* shape;
  DType dtype;

  std::int64_t count() const { return shape->num_elements(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// Inputs or outputs as a set of bits, by position; the last bit stands for all positions from
// there.
constexpr bool has_position(std::uint32_t set, std::size_t i) {
  return set >> (i < 31 ? i : 31) & 1;
}
constexpr std::uint32_t position(std::size_t i) { return 1u << (i < 31 ? i : 31); }

// One application of an op, for shape, cost and kernel functions.
struct Call {
  const Op& op;
  const void* attrs;
  std::span<const View> in;

  template <class A>
  const A& get() const {
    return *static_cast<const A*>(attrs);
  }
  const Shape& shape(int i) const { return *in[i].shape; }
};

struct KernelCall : Call {
  std::span<const View> out;  // allocated, not initialised
};

// One application of an op, for differential rules. Of the values only those announced in the
// record's `reads` are there; dtype and shape of every input always are.
struct Site {
  const Op& op;
  const void* attrs;
  std::span<const Tensor> in, out;
  std::span<const Aval> args;

  template <class A>
  const A& get() const {
    return *static_cast<const A*>(attrs);
  }
  const Shape& shape(int i) const { return args[i].shape; }
};

// A batched application: inputs with their bit set in `batched` have the batch as axis 0.
struct BatchCall {
  const Op& op;
  const void* attrs;
  std::span<const Tensor> in;
  std::uint32_t batched;
  Size size;
  std::uint64_t level;  // of the vmap (graph/level.h)

  bool is_batched(int i) const { return has_position(batched, static_cast<std::size_t>(i)); }
  template <class A>
  const A& get() const {
    return *static_cast<const A*>(attrs);
  }
};

// Which values a rule reads when only the inputs in `wanted` need a gradient: nothing else is kept.
struct Reads {
  std::uint32_t in = 0, out = 0;
};

enum class Kind : std::uint8_t {
  elementwise,
  linear,
  bilinear,
  selecting,
  general,
  composite,
  not_differentiable
};

using InferFn = void (*)(const Call&, Avals& out);  // throws InvalidArgumentError
using KernelFn = void (*)(const KernelCall&);       // may throw for bad values (indices)
using FindFn = Tensors (*)(const void* attrs, std::span<const Tensor> in);
using TransposeFn = Cotangent (*)(const Site&, int input, const Tensor& ct);
using AccumulateFn = void (*)(const Site&, int input, const Tensor& ct, const Tensor& sum);
using JvpFn = void (*)(const Site&, std::span<const Tensor> tangents, std::span<Tensor> out);
using VjpFn = void (*)(const Site&, std::span<const Tensor> cts, std::uint32_t wanted,
                       std::span<Cotangent> grads);
using BodyFn = Tensors (*)(const void* attrs, std::span<const Tensor> in);
using ResidualFn = Tensors (*)(const Site&);
using PickFn = Tensor (*)(const Site&, const Tensors& residual, const Tensor& t);
using BatchFn = Tensors (*)(const BatchCall&);
using ReadsFn = Reads (*)(const void* attrs, std::uint32_t wanted);
using FlopsFn = double (*)(const Call&);
using ExpressionFn = std::vector<expr::Expr> (*)(const Call&, std::span<const expr::Expr> in);
using RowAxesFn = int (*)(const Call&);
using PermutationFn = const Ints& (*)(const void* attrs);
using PieceFn = std::int64_t (*)(const Call&, int output);
using SizesFn = Size (*)(Size, Size);
using ReadHeldFn = std::shared_ptr<Held> (*)(TextReader&, Graph& around);  // graph/text.h
using Renumbered = std::map<std::int64_t, std::int64_t>;
enum class Renumber : std::uint8_t { anew, in_order };  // by the process, or 0, 1, 2 ...
using RenumberFn = void (*)(void* attrs, Renumbered& known, Renumber how);

// Dtypes as a set.
using DTypes = std::uint32_t;
constexpr DTypes one_dtype(DType t) { return 1u << static_cast<int>(t); }
inline constexpr DTypes kBools = one_dtype(bool_);
inline constexpr DTypes kIntegers = 0x1feu;
inline constexpr DTypes kFloating = 0x1e00u;
inline constexpr DTypes kComplex = 0x6000u;
inline constexpr DTypes kReal = kIntegers | kFloating;
inline constexpr DTypes kNumeric = kReal | kComplex;
inline constexpr DTypes kAnyDType = kNumeric | kBools;

// How the registry tests fill an argument.
enum class Fill : std::uint8_t { real, distinct, integer, boolean, positive_definite, triangular };
struct SampleArg {
  Shape shape;
  double low = -2, high = 2;
  Fill fill = Fill::real;
};
struct Sample {
  std::vector<SampleArg> in;
  std::shared_ptr<void> attrs;
};
template <class A>
Sample sample(std::vector<SampleArg> in, const A& attrs) {
  return {std::move(in), std::make_shared<A>(attrs)};
}

inline constexpr int kAny = -2;

// What every op says about itself. Fields that a factory takes are not repeated here.
struct OpInfo {
  const char* name;
  const char* doc;
  DTypes dtypes = kFloating;  // of the first differentiable argument
  const AttrType* attrs = &attr_type<void>();
  int inputs = 1, outputs = 1;         // -1: one or more; kAny: any number
  std::uint32_t differentiable = ~0u;  // inputs that can have a gradient, by position
  InferFn infer = nullptr;             // null: the first input's dtype and shape
  KernelFn kernel = nullptr;
  // Instead of a kernel, for an op whose results have sizes that only its run finds: makes them.
  // The sizes are unknowns that its attributes name (graph/found_size.h).
  FindFn find = nullptr;
  BatchFn batch = nullptr;            // see graph/batch.h for the usual ones
  ReadsFn reads = nullptr;            // null: the kind's default
  AccumulateFn accumulate = nullptr;  // linear, bilinear: adds the transpose into `sum`
  FlopsFn flops = nullptr;
  // For a compiler that fuses. What the op computes, as one scalar expression for each output over
  // operands that broadcast to the shape of the result, or, with row reductions, over those of the
  // first input with the last row_axes(call) axes as one row. An elementwise op has its expression
  // already. row_axes < 0: not this application.
  ExpressionFn expression = nullptr;
  RowAxesFn row_axes = nullptr;  // null: 0
  // The same in simpler ops, for a compiler to fuse with what is around; no results: not this one.
  BodyFn lower = nullptr;
  // The first input with its axes in this order.
  PermutationFn permutation = nullptr;
  // A result that is one piece of the first input's elements, in order: where it begins, or < 0 if
  // this one is not, or not known to be.
  PieceFn piece = nullptr;
  const ProductFacts* product = nullptr;  // bilinear: what a compiler can do with products
  SizesFn on_sizes = nullptr;             // elementwise: the same of sizes, known or symbols
  ReadHeldFn read_held = nullptr;         // what Held::describe wrote
  // Numbers in the attributes that are unique in a process become other ones, the same for the
  // same: for graphs that came from another process, or are compared.
  RenumberFn renumber = nullptr;
  std::vector<Sample> (*samples)() = nullptr;
  double low = -2, high = 2;  // elementwise: where the registry tests look
  const char* like = "";      // the NumPy or TensorFlow function it equals
  bool commutative = false;
  bool is_view = false;      // the output is the first input's elements, in order
  bool in_place_ok = false;  // the kernel may write over an input of equal size
  // Composite: not zero says that the vjp cannot itself be differentiated and takes cotangents of
  // these outputs only; where more is needed, the body is differentiated instead.
  std::uint32_t first_order_outputs = 0;
  bool stateful = false;   // has an effect or a hidden input: never merged or dropped
  bool is_marker = false;  // what it is says more than its numbers do: it is never folded to them
  // The kernel refuses some values of its inputs (an index out of range). It runs also where its
  // results have no elements, to look at them; other kernels are spared that case.
  bool checks_values = false;
};

class Op {
 public:
  Op(const Op&) = delete;

  const OpInfo info;
  const Kind kind;
  const TransposeFn transpose = nullptr;
  const JvpFn jvp = nullptr;
  const VjpFn vjp = nullptr;
  const BodyFn body = nullptr;
  const ResidualFn residual = nullptr;
  const PickFn pick = nullptr;
  const char* why_not = nullptr;                       // not_differentiable: the reason
  const std::unique_ptr<ElementwiseRule> elementwise;  // elementwise only
  const Op* next = nullptr;                            // the registry's list

  const char* name() const { return info.name; }
  const AttrType& attrs() const { return *info.attrs; }
  bool is_differentiable_in(int i) const {
    return kind != Kind::not_differentiable &&
           has_position(info.differentiable, static_cast<std::size_t>(i));
  }
  Reads reads(const void* attrs, std::uint32_t wanted, int input_count) const;

  // Runs the op (graph/dispatch.h). `where` comes from the op's public function.
  Tensor operator()(const Tensor& a) const;
  Tensor operator()(const Tensor& a, const Tensor& b) const;
  Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& c) const;
  template <class A>
  Tensor operator()(std::span<const Tensor> in, const A& attrs) const {
    return run_one(in, &attrs);
  }
  template <class A>
  Tensor operator()(std::initializer_list<Tensor> in, const A& attrs) const {
    return run_one({in.begin(), in.size()}, &attrs);
  }
  Tensor run_one(std::span<const Tensor> in, const void* attrs) const;
  Tensors run(std::span<const Tensor> in, const void* attrs) const;

 private:
  friend struct OpFactory;
  struct Rules {
    TransposeFn transpose = nullptr;
    JvpFn jvp = nullptr;
    VjpFn vjp = nullptr;
    BodyFn body = nullptr;
    ResidualFn residual = nullptr;
    PickFn pick = nullptr;
    const char* why_not = nullptr;
    ElementwiseRule* elementwise = nullptr;  // taken over
    bool derived = false;    // made by the engine from another op: not in the registry
    bool in_traces = false;  // derived, but texts name it
  };
  Op(const OpInfo& info, Kind kind, Rules rules);

 public:
  ~Op();
};

Op linear(const OpInfo& info, TransposeFn transpose);
Op bilinear(const OpInfo& info, TransposeFn transpose);
Op selecting(const OpInfo& info, ResidualFn residual, PickFn pick);
Op general(const OpInfo& info, JvpFn jvp, VjpFn vjp = nullptr);
Op composite(const OpInfo& info, BodyFn body, VjpFn vjp = nullptr, JvpFn jvp = nullptr);
Op not_differentiable(const OpInfo& info, const char* why);
// An op that the engine makes by itself and nobody calls: it is not in the registry. Those that
// stand in graphs as they are traced are found by their names when such a graph is read.
enum class Where : std::uint8_t { compiled, traced };
Op internal(const OpInfo& info, const char* why, Where where = Where::compiled);

// The records that are linked into this program, as a list over Op::next. For all there are, with
// their families linked in: ops/registry.h.
const Op* newest_op();
// Those that the engine makes, in a list of their own: what stands only in traces, and records
// whose attributes refer to something (Held).
const Op* newest_of_engine();

}  // namespace gradus
