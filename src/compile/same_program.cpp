#include "compile/same_program.h"

#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"
#include "graph/bind.h"
#include "graph/context.h"
#include "graph/inner_graphs.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Term = std::uint32_t;
constexpr std::int64_t kMostBytes = 64 << 20;  // of a constant that is computed

template <class T>
void add_bytes(std::string& key, const T& x) {
  key.append(reinterpret_cast<const char*>(&x), sizeof x);
}

// All terms of the programs that are compared; equal ones have one number.
class Terms {
 public:
  Term of(const std::string& key) {
    return numbers_.try_emplace(key, static_cast<Term>(numbers_.size())).first->second;
  }

  // By elements; one that somebody follows is only itself.
  Term of_constant(const Tensor& t) {
    std::string key = "c";
    const TensorImpl& impl = *t.impl();
    const bool is_itself = impl.has(kTracked) || impl.has(kHasTangent) || impl.has(kNotConcrete);
    add_bytes(key, is_itself ? t.impl() : nullptr);
    if (is_itself) return of(key);
    add_bytes(key, t.dtype());
    for (std::int64_t n : t.shape()) add_bytes(key, n);
    if (t.num_bytes() <= 64) {
      key.append(static_cast<const char*>(t.raw_data()), t.num_bytes());
      return of(key);
    }
    std::vector<Tensor>& alike = constants_[of(key)];
    std::uint32_t number = 0;
    while (number < alike.size() && alike[number].impl() != t.impl() &&
           std::memcmp(alike[number].raw_data(), t.raw_data(), t.num_bytes()) != 0)
      ++number;
    if (number == alike.size()) alike.push_back(t);
    add_bytes(key, number);
    return of(key);
  }

 private:
  std::unordered_map<std::string, Term> numbers_;
  std::unordered_map<Term, std::vector<Tensor>> constants_;  // large ones, by dtype and shape
};

// One program, with its sizes.
class Reader {
 public:
  Reader(Terms& terms, Renumbered& numbers, const Graph& graph, const Sizes& sizes)
      : terms_(terms), numbers_(numbers), graph_(graph), sizes_(sizes) {}

  // What the program is: inputs, results and effects.
  std::string read(std::span<const Graph::Value> results) {
    std::string all;
    values_.assign(graph_.value_count(), kNone);
    constants_.resize(graph_.value_count());
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i) {
      const Aval& aval = graph_.info(graph_.inputs()[i]).aval;
      std::string key = "i";
      add_bytes(key, i);
      add_bytes(key, aval.dtype);
      for (std::int64_t n : bind_shape(graph_.symbols(), sizes_, aval.shape)) add_bytes(key, n);
      values_[graph_.inputs()[i]] = terms_.of(key);
      all += key + ";";
    }
    for (Graph::Value v = 0; v < graph_.value_count(); ++v)
      if (graph_.info(v).constant.defined() && values_[v] == kNone)
        give(v, graph_.info(v).constant);
    for (const Graph::Node& n : graph_.nodes()) read(n, all);
    for (Graph::Value v : results) add_bytes(all, values_[v]);
    return all;
  }

 private:
  static constexpr Term kNone = ~0u;

  void give(Graph::Value v, const Tensor& constant) {
    constants_[v] = constant;
    values_[v] = terms_.of_constant(constant);
  }

  void read(const Graph::Node& n, std::string& effects) {
    alignas(16) std::byte attrs[512];
    const AttrType& type = n.op->attrs();
    GRADUS_ASSERT(type.bytes <= sizeof attrs);
    if (type.bytes > 0) std::memcpy(attrs, graph_.attrs(n), type.bytes);
    bind_attrs(graph_.symbols(), sizes_, type, attrs);
    if (n.op->info.renumber) n.op->info.renumber(attrs, numbers_, Renumber::in_order);
    const auto in = graph_.operands(n);
    if (n.op->info.is_view && bound_shape(n.first_out) == bound_shape(in[0])) {
      values_[n.first_out] = values_[in[0]];
      constants_[n.first_out] = constants_[in[0]];
      return;
    }
    if (fold(n, attrs)) return;
    std::string key = "n";
    add_bytes(key, n.op);
    add_attrs(key, n, type, attrs);
    for (Graph::Value v : in) add_bytes(key, values_[v]);
    if (n.op->info.stateful) {  // the effects so far are what it follows
      add_bytes(key, effects_++);
      add_bytes(effects, terms_.of(key));
    }
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      std::string out = key;
      add_bytes(out, i);
      values_[n.first_out + i] = terms_.of(out);
    }
  }

  Shape bound_shape(Graph::Value v) const {
    return bind_shape(graph_.symbols(), sizes_, graph_.info(v).aval.shape);
  }

  // What follows from constants alone is computed.
  bool fold(const Graph::Node& n, const std::byte* attrs) {
    if (n.op->info.stateful || n.out_count == 0) return false;
    SmallVector<Tensor, 8> in;
    for (Graph::Value v : graph_.operands(n)) {
      if (!constants_[v].defined() || !is_concrete(constants_[v]) ||
          constants_[v].impl()->has(kTracked) || constants_[v].impl()->has(kHasTangent))
        return false;
      in.push_back(constants_[v]);
    }
    std::int64_t bytes = 0;
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      bytes += bound_shape(n.first_out + i).num_elements() *
               static_cast<std::int64_t>(size_of(graph_.info(n.first_out + i).aval.dtype));
    if (bytes > kMostBytes) return false;
    Tensors out;
    try {
      out = n.op->run(in, attrs);
    } catch (const Error&) {  // a branch that is not taken may hold what cannot be computed
      return false;
    }
    for (std::uint32_t i = 0; i < n.out_count; ++i) give(n.first_out + i, out[i]);
    return true;
  }

  void add_attrs(std::string& key, const Graph::Node& n, const AttrType& type,
                 const std::byte* attrs) {
    for (const AttrField& f : type.fields) {
      const std::byte* at = attrs + f.offset;
      if (f.kind == AttrKind::ints) {
        const Ints& list = *reinterpret_cast<const Ints*>(at);
        add_bytes(key, list.rank());
        for (std::int64_t x : list) add_bytes(key, x);
      } else if (f.kind == AttrKind::held) {
        add_held(key, n, *reinterpret_cast<Held* const*>(at));
      } else {
        const std::size_t bytes = f.kind == AttrKind::integer   ? f.bytes
                                  : f.kind == AttrKind::boolean ? sizeof(bool)
                                  : f.kind == AttrKind::dtype   ? sizeof(DType)
                                                                : 8;
        key.append(reinterpret_cast<const char*>(at), bytes);
      }
    }
  }

  // Graphs inside are compared as programs; other things are only themselves.
  void add_held(std::string& key, const Graph::Node& n, const Held* held) {
    const auto* inner = dynamic_cast<const HasGraphs*>(held);
    if (!inner) {
      add_bytes(key, held);
      return;
    }
    key += inner->besides();
    for (const HasGraphs::Inner& g : inner->inner_graphs()) {
      Sizes sizes = sizes_;
      if (g.names_own_sizes) {
        std::vector<Aval> in;
        for (Graph::Value v : graph_.operands(n))
          in.push_back({graph_.info(v).aval.dtype, bound_shape(v)});
        in.resize(std::min(in.size(), g.graph->inputs().size()));
        sizes = bind_sizes(*g.graph, in).value_or(sizes_);
      }
      sizes.resize(g.graph->symbols().input_count(), 0);
      add_bytes(key, terms_.of("g" + Reader(terms_, numbers_, *g.graph, sizes).read(g.results)));
    }
  }

  Terms& terms_;
  Renumbered& numbers_;
  const Graph& graph_;
  Sizes sizes_;
  std::vector<Term> values_;
  std::vector<Tensor> constants_;
  std::uint32_t effects_ = 0;
};

}  // namespace

bool same_program(const Graph& symbolic, const Sizes& sizes, const Graph& known) {
  const Mute nobody_is_told(0);
  Terms terms;
  Renumbered a, b;
  return Reader(terms, a, symbolic, sizes).read(symbolic.outputs()) ==
         Reader(terms, b, known, {}).read(known.outputs());
}

}  // namespace gradus
