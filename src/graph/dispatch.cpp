#include "graph/dispatch.h"

#include <bit>
#include <optional>

#include "base/check.h"
#include "gradus/in.h"
#include "gradus/type_error.h"
#include "graph/ambient_graph.h"
#include "graph/batch.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "graph/elementwise.h"
#include "graph/graph.h"
#include "graph/host_number.h"
#include "graph/profiling.h"
#include "tensor/tensor_impl.h"

namespace gradus {

constinit thread_local ThreadContext thread_context;

namespace {

std::source_location line_of_op() {
  const ThreadContext& c = thread_context;
  return c.fixed || std::exchange(thread_context.in_call, false) ? c.where : std::source_location();
}
// Here, where every program that runs an op has it linked in.
[[maybe_unused]] const bool errors_name_lines = [] {
  line_of_call = line_of_op;
  return true;
}();

// In libstdc++ a source_location is one pointer, and that of no place is null.
static_assert(sizeof(std::source_location) == sizeof(void*));
bool is_nowhere(std::source_location where) { return !std::bit_cast<const void*>(where); }

}  // namespace

namespace detail {

void set_call_site(std::source_location where) noexcept {
  if (thread_context.fixed || is_nowhere(where)) return;
  thread_context.where = where;
  thread_context.in_call = true;
}

}  // namespace detail

namespace {

using Pointers = std::span<const Tensor* const>;

std::uint16_t flags_of(Pointers in) {
  std::uint16_t flags = 0;
  for (const Tensor* t : in) flags |= t->impl()->flags.load(std::memory_order_relaxed);
  return flags;
}

void check_count(const Op& op, std::size_t count) {
  const int expected = op.info.inputs;
  if (expected >= 0 ? count == static_cast<std::size_t>(expected) : count > 0 || expected == kAny)
    return;
  fail<InvalidArgumentError>("[", op.name(), "] got ", count, " tensors; it takes ",
                             expected < 0 ? "at least " : "", std::abs(expected));
}

void check_arguments(const Op& op, Pointers in) {
  check_count(op, in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i]->defined()) {
      fail<InvalidArgumentError>(
          "[", op.name(), "] argument ", i, " is an undefined tensor: it was ",
          "default-constructed or moved from, or is a gradient that does not ", "exist");
    }
  }
}

[[noreturn]] void fail_dtype(const Op& op, DType got) {
  std::string allowed;
  for (int t = 0; t < kDTypeCount; ++t) {
    if (!(op.info.dtypes >> t & 1)) continue;
    allowed += (allowed.empty() ? "" : ", ") + std::string(name_of(static_cast<DType>(t)));
  }
  fail<InvalidArgumentError>("[", op.name(), "] got dtype ", name_of(got), "; it works on ",
                             allowed, "; cast the argument first");
}

// Elementwise: one dtype for all that are not masks. Returns the dtype of the result.
DType elementwise_dtype(const Op& op, std::span<const View> in) {
  const ElementwiseRule& rule = *op.elementwise;
  const View* first = nullptr;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (rule.bool_inputs >> i & 1) {
      if (in[i].dtype != bool_) {
        fail<InvalidArgumentError>("[", op.name(), "] argument ", i, " must be bool, got ",
                                   name_of(in[i].dtype), "; compare it with something first");
      }
      continue;
    }
    if (!first) first = &in[i];
    if (in[i].dtype != first->dtype) {
      fail<TypeError>("[", op.name(), "] got dtypes ", name_of(first->dtype), " and ",
                      name_of(in[i].dtype), "; both must be the same, cast one of them");
    }
  }
  const DType dtype = first ? first->dtype : bool_;
  if (!(op.info.dtypes >> static_cast<int>(dtype) & 1)) fail_dtype(op, dtype);
  return rule.makes_bool ? bool_ : dtype;
}

SmallVector<View, 6> views_of(Pointers in) {
  SmallVector<View, 6> views;
  for (const Tensor* t : in)
    views.push_back({t->impl()->data, &t->impl()->shape, t->impl()->dtype});
  return views;
}

Tensors run_traced(const Op& op, const void* attrs, Pointers in, Graph* graph) {
  SmallVector<Graph::Value, 8> values;
  for (const Tensor* t : in) values.push_back(graph->value(*t));
  const SymbolScope symbols(graph->symbols());
  const Graph::Node node = graph->add(op, attrs, values);
  Tensors out;
  for (std::uint32_t i = 0; i < node.out_count; ++i)
    out.push_back(graph->tensor(node.first_out + i));
  return out;
}

// What has an unknown size, or is made by one, of constants: only the call of the program that is
// traced can make it.
Graph* trace_that_knows(const Op& op, const void* attrs, const Avals& avals) {
  Graph* const graph = thread_context.graph ? thread_context.graph : ambient_graph;
  if (!graph) return nullptr;
  const auto is_known = [](const Aval& a) { return a.shape.is_known(); };
  const bool known = std::ranges::all_of(avals, is_known) && !names_sizes(op.attrs(), attrs);
  return known ? nullptr : graph;
}

// A result that somebody else has, an operand say, must not change its place in recordings.
Tensors as_results(Tensors out) {
  for (Tensor& t : out) {
    const TensorImpl& impl = *t.impl();
    const bool fresh = impl.refs.load() == 1 && !impl.has(kTracked) && !impl.has(kHasTangent);
    if (!fresh) t = make_alias(t);
  }
  return out;
}

Tensors run_concrete(const Op& op, const void* attrs, Pointers in) {
  if (op.info.find) {
    SmallVector<Tensor, 8> copies;
    for (const Tensor* t : in) copies.push_back(*t);
    return as_results(op.info.find(attrs, copies));
  }
  const auto views = views_of(in);
  Avals avals;
  infer_outputs({op, attrs, views}, avals);
  if (Graph* graph = trace_that_knows(op, attrs, avals)) return run_traced(op, attrs, in, graph);
  Tensors out;
  if (op.info.is_view) {
    out.push_back(make_view(*in[0], avals[0].shape));
    return out;
  }
  for (const Aval& a : avals) out.push_back(make_tensor(a.dtype, a.shape));
  run_kernel(op, attrs, in, out);
  return out;
}

const Tensor* innermost_of(Pointers in) {
  const Tensor* innermost = nullptr;
  for (const Tensor* t : in)
    if (!innermost || level_of(*t) > level_of(*innermost)) innermost = t;
  return innermost;
}

// The region of a branch or loop that is being traced, if it is inside of all operands: it takes
// the op, which runs when the region does, and sees them as values of its surroundings. An example
// of a vmap around it stays one: the node that the region becomes is batched, once it is made.
Graph* region_inside(const Tensor& innermost) {
  Graph* region = thread_context.graph;
  return region && region->is_region() && region->level() > level_of(innermost) ? region : nullptr;
}

// The innermost level decides; values of the others are constants or unbatched for it.
Tensors run_symbolic(const Op& op, const void* attrs, Pointers in) {
  const Tensor& innermost = *innermost_of(in);
  Graph* region = region_inside(innermost);
  if (!region && innermost.impl()->kind == ValueKind::batched) return run_batched(op, attrs, in);
  return run_traced(op, attrs, in, region ? region : innermost.impl()->extra()->graph.get());
}

// A composite that has no kernel, batching or shape rule for these operands is its body. Observers
// see the ops of the body, unless the composite has rules of its own: then they see the composite.
bool runs_by_body(const Op& op, Pointers in) {
  if (op.kind != Kind::composite) return false;
  const Tensor* innermost = innermost_of(in);
  if (!innermost || is_concrete(*innermost)) return !op.info.kernel;
  return innermost->impl()->kind == ValueKind::batched && !region_inside(*innermost)
             ? !op.info.batch
             : !op.info.infer && !op.info.kernel;
}

Tensors run_body(const Op& op, const void* attrs, Pointers in, bool observed) {
  const OpenCall here;
  if (std::all_of(in.begin(), in.end(), [](const Tensor* t) { return is_concrete(*t); })) {
    Avals checked;  // the body would find most mistakes too, but speak of its own ops
    infer_outputs({op, attrs, views_of(in)}, checked);
  }
  SmallVector<Tensor, 8> copies;
  for (const Tensor* t : in) copies.push_back(*t);
  const bool as_one = observed && (op.vjp || op.jvp);
  if (!as_one) return op.body(attrs, copies);
  Tensors out;
  {
    const Mute insides(level_of(*innermost_of(in)));
    out = op.body(attrs, copies);
  }
  out = as_results(std::move(out));
  thread_context.observer->observe(op, attrs, in, out);
  return out;
}

// The path of every op that is not a plain kernel call.
Tensors dispatch_slowly(const Op& op, const void* attrs, Pointers given, std::uint16_t flags) {
  SmallVector<const Tensor*, 8> in;
  for (const Tensor* t : given) in.push_back(t);
  SmallVector<Tensor, 4> held;
  if (flags & kWeak) give_dtypes(op, held, in);
  const bool observed = (flags & (kTracked | kHasTangent)) && thread_context.observer;
  if (runs_by_body(op, in)) return run_body(op, attrs, in, observed);
  Tensors out = flags & kNotConcrete ? run_symbolic(op, attrs, in) : run_concrete(op, attrs, in);
  if (observed && !out.empty()) thread_context.observer->observe(op, attrs, in, out);
  return out;
}

}  // namespace

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (is_same(a, b)) return a;
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const Size x = longer[i + shift], y = shorter[i];
    if (is_same(x, y) || is_same(y, 1)) continue;
    const bool agree = !is_same(x, 1) && sizes_agree(x, y);
    if (agree ? y.is_known() : x == 1) {  // of equal sizes the one that is known says more
      out[i + shift] = y;
    } else if (!agree && y != 1) {
      fail<InvalidArgumentError>("[", op, "] shapes ", a, " and ", b, " do not broadcast: axis ",
                                 i - shorter.rank(), " is ", a.rank() >= b.rank() ? x : y, " and ",
                                 a.rank() >= b.rank() ? y : x, "; sizes must be equal or 1");
    }
  }
  return out;
}

void infer_outputs(const Call& call, Avals& out) {
  const Op& op = call.op;
  check_count(op, call.in.size());
  if (op.kind == Kind::elementwise) {
    const DType dtype = elementwise_dtype(op, call.in);
    Shape shape = call.shape(0);
    for (std::size_t i = 1; i < call.in.size(); ++i) {
      shape = broadcast_shapes(op.name(), shape, *call.in[i].shape);
    }
    out.push_back({dtype, shape});
    return;
  }
  if (!call.in.empty()) {
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      if (!has_position(op.info.differentiable, i)) continue;
      if (!(op.info.dtypes >> static_cast<int>(call.in[i].dtype) & 1))
        fail_dtype(op, call.in[i].dtype);
      break;
    }
  }
  if (op.info.infer) {
    op.info.infer(call, out);
  } else {
    out.push_back({call.in[0].dtype, call.shape(0)});
  }
}

void run_kernel(const Op& op, const void* attrs, Pointers in, std::span<const Tensor> out) {
  const auto views = views_of(in);
  std::optional<ProfiledKernel> profiled;
  if (is_profiling.load(std::memory_order_relaxed)) [[unlikely]] {
    SmallVector<View, 4> results;
    for (const Tensor& t : out)
      results.push_back({t.impl()->data, &t.impl()->shape, t.impl()->dtype});
    profiled.emplace(op, attrs, nullptr, thread_context.where, views, results);
  }
  if (op.kind == Kind::elementwise) {
    const TensorImpl& o = *out[0].impl();
    op.elementwise->run(views, {o.data, &o.shape, o.dtype});
    return;
  }
  SmallVector<View, 4> results;
  bool empty = !op.info.stateful && !op.info.checks_values;
  for (const Tensor& t : out) {
    results.push_back({t.impl()->data, &t.impl()->shape, t.impl()->dtype});
    empty &= t.impl()->count == 0;
  }
  if (empty && !out.empty()) return;  // kernels may loop over huge axes around an empty one
  GRADUS_ASSERT(op.info.kernel != nullptr);
  op.info.kernel({{op, attrs, views}, results});
}

Tensors dispatch(const Op& op, const void* attrs, Pointers in) {
  check_arguments(op, in);
  const std::uint16_t flags = flags_of(in);
  Tensors out = flags || runs_by_body(op, {}) ? dispatch_slowly(op, attrs, in, flags)
                                              : run_concrete(op, attrs, in);
  end_of_call();
  return out;
}

namespace {

// The common case by hand: elementwise on equal dtypes and shapes is one run over all elements.
// Returns an undefined tensor if this is not that case.
Tensor run_simply(const Op& op, Pointers in) {
  if (op.kind != Kind::elementwise || in.size() > 4 || op.elementwise->bool_inputs) return {};
  if (is_profiling.load(std::memory_order_relaxed)) [[unlikely]]
    return {};
  const TensorImpl& first = *in[0]->impl();
  if (!(op.info.dtypes >> static_cast<int>(first.dtype) & 1) || first.count > 16384 ||
      is_complex(first.dtype) || in.size() != static_cast<std::size_t>(op.info.inputs)) {
    return {};
  }
  for (std::size_t i = 1; i < in.size(); ++i) {
    const TensorImpl& t = *in[i]->impl();
    if (t.dtype != first.dtype || !is_same(t.shape, first.shape)) return {};
  }
  const DType dtype = op.elementwise->makes_bool ? bool_ : first.dtype;
  Tensor out = make_tensor(dtype, first.shape);
  const DType dtypes[] = {first.dtype, first.dtype, first.dtype, first.dtype};
  expr::LoopArgs args;
  args.cols = first.count;
  for (std::size_t i = 0; i < in.size(); ++i) args.in[i] = in[i]->impl()->data;
  args.out[0] = out.impl()->data;
  op.elementwise->kernel({dtypes, in.size()}, dtype, 0)(args);
  return out;
}

}  // namespace

Tensor dispatch_one(const Op& op, const void* attrs, Pointers in) {
  check_arguments(op, in);
  const std::uint16_t flags = flags_of(in);
  if (!(flags & ~(kTracked | kHasTangent))) {
    if (Tensor out = run_simply(op, in); out.defined()) {
      if (flags && thread_context.observer)
        thread_context.observer->observe(op, attrs, in, {&out, 1});
      end_of_call();
      return out;
    }
  }
  Tensors out = flags || runs_by_body(op, {}) ? dispatch_slowly(op, attrs, in, flags)
                                              : run_concrete(op, attrs, in);
  end_of_call();
  return std::move(out[0]);
}

}  // namespace gradus
