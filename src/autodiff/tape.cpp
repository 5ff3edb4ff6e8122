// The tape and its reverse sweep.
//
// Sources are found as numbers of the recording. A first pass upwards marks what depends on them,
// so that the sweep downwards visits an op only if a cotangent has arrived at it and something
// wanted lies behind it; then it loads what the op saved, runs its rule and adds what the rule
// gives to the inputs' sums. Nothing is recursive, and nothing is looked up in a map.
#include "autodiff/tape.h"

#include <algorithm>
#include <cstring>

#include "autodiff/cotangent_table.h"
#include "autodiff/densify.h"
#include "autodiff/thread_tapes.h"
#include "base/check.h"
#include "gradus/interrupt.h"
#include "gradus/ops.h"
#include "graph/context.h"
#include "graph/symbols.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Id = Recording::Id;

struct NodeSink final : GradientSink {
  CotangentTable& table;
  std::span<const Id> edges;
  SweepProbe* probe = nullptr;
  std::size_t node = 0;

  explicit NodeSink(CotangentTable& t) : table(t) {}
  void add(int input, Cotangent g) override {
    if (probe && !g.is_zero()) probe->added(node, input, g);
    const Id edge = edges[static_cast<std::size_t>(input)];
    if (edge != Recording::kNone) table.add(edge, std::move(g));
  }
  const Tensor* accumulator(int input) override {
    if (probe) return nullptr;
    return table.accumulator(edges[static_cast<std::size_t>(input)]);
  }
};

// The first node that makes a value numbered v or higher.
std::size_t node_at(const Recording& r, Id v) {
  std::size_t low = 0, high = r.node_count();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (r.node(middle).first_out + r.node(middle).out_count <= v) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

std::vector<Cotangent> sweep(Recording& recording, Recording::Followers bit,
                             const SweepRequest& request) {
  std::vector<Cotangent> results(request.sources.size());
  const std::size_t values = recording.value_count();
  // Where each source's sum is collected: its reads share one result.
  std::vector<std::pair<Id, std::size_t>> source_of;
  Id lowest = Recording::kNone;
  for (std::size_t s = 0; s < request.sources.size(); ++s) {
    for (Id id : request.sources[s]) {
      source_of.emplace_back(id, s);
      lowest = std::min(lowest, id);
    }
  }
  CotangentTable table(values);
  Id highest = 0;
  const auto start = [&](Id id, const Cotangent& seed) {
    if (id == Recording::kNone || !(recording.followers(id) & bit)) return;
    table.add(id, seed);
    highest = std::max(highest, id);
  };
  for (std::size_t t = 0; t < request.targets.size(); ++t)
    if (request.targets[t].impl()->has(kTracked))
      start(recording.find(request.targets[t]), request.seeds[t]);
  for (std::size_t t = 0; t < request.target_ids.size(); ++t)
    start(request.target_ids[t], request.seeds[t]);
  for (std::size_t s = 0; s < request.initial.size(); ++s) {
    if (!request.sources[s].empty())
      table.add(request.sources[s][0], std::move(request.initial[s]));
  }
  if (source_of.empty()) return results;
  std::sort(source_of.begin(), source_of.end());

  const std::size_t first = node_at(recording, lowest), last = node_at(recording, highest);
  constexpr std::uint8_t kSource = 1, kBehind = 2;
  std::vector<std::uint8_t> leads_to_source(values, 0);
  for (const auto& [id, s] : source_of) leads_to_source[id] = kSource;
  constexpr std::uint8_t kNoPast = 4;
  const std::uint8_t last_stop = request.stop_at_sources ? kNoPast | kSource : kNoPast;
  for (const auto& [id, tapes] : recording.watched_late())
    if (tapes & bit) leads_to_source[id] |= kNoPast;
  for (std::size_t k = first; k <= last && k < recording.node_count(); ++k) {
    const Recording::Node& n = recording.node(k);
    if (n.cut || !n.op) continue;
    bool leads = false;
    for (Id in : recording.edges(n))
      leads |= in != Recording::kNone && (leads_to_source[in] & (kSource | kBehind));
    if (!leads) continue;
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      const Id out = n.first_out + i;
      if ((recording.followers(out) & bit) && !(leads_to_source[out] & kNoPast))
        leads_to_source[out] |= kBehind;
    }
  }

  // A source's sum is complete when the sweep reaches the op that made it.
  const auto collect = [&](Id id, const Cotangent& ct) {
    auto it =
        std::lower_bound(source_of.begin(), source_of.end(), std::pair<Id, std::size_t>{id, 0});
    for (; it != source_of.end() && it->first == id; ++it) {
      results[it->second] = add_cotangents(std::move(results[it->second]), ct);
    }
  };

  NodeSink sink(table);
  sink.probe = request.probe;
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  SmallVector<Cotangent, 4> cts;
  alignas(16) std::byte attrs[512];
  for (std::size_t k = std::min(last + 1, recording.node_count()); k-- > first;) {
    const Recording::Node n = recording.node(k);  // a copy: rules may record and move the arrays
    bool any = false;
    cts.clear();
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      cts.push_back(table.take(n.first_out + i));
      if (cts.back().is_zero()) continue;
      if (leads_to_source[n.first_out + i] & kSource) collect(n.first_out + i, cts.back());
      if (leads_to_source[n.first_out + i] & last_stop) cts.back() = Cotangent();
      any = any || !cts.back().is_zero();
    }
    if (!any || n.cut || !n.op) continue;
    std::uint32_t wanted = 0;
    const SmallVector<Id, 8> edges(recording.edges(n).begin(), recording.edges(n).end());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (edges[i] != Recording::kNone && edges[i] < values &&
          (leads_to_source[edges[i]] & (kSource | kBehind)) &&
          n.op->is_differentiable_in(static_cast<int>(i))) {
        wanted |= position(i);
      }
    }
    if (wanted) {
      if ((k & 0xff) == 0) check_interrupt();
      recording.load(n, in, out, avals);
      GRADUS_ASSERT(n.op->attrs().bytes <= sizeof attrs);
      std::memcpy(attrs, recording.attrs(n), n.op->attrs().bytes);
      sink.edges = edges;
      sink.node = k;
      if (request.probe) request.probe->visiting(k, cts);
      const AttributeTo line(n.where);
      pull_back({*n.op, attrs, in, out, avals}, cts, wanted, sink);
      in.clear();
      out.clear();
    }
    if (request.release && (recording.open_bits() & ~bit) == 0) recording.release(n);
  }
  return results;
}

std::vector<Id> reads_of(const GradientTape::State& tape, const Source& source) {
  std::vector<Id> ids;
  if (!tape.recording) return ids;
  const Recording& recording = *tape.recording;
  if (source.is_variable()) {
    for (const auto& read : recording.variable_reads()) {
      if (read.variable.get() == source.variable().state() &&
          (recording.followers(read.id) & tape.bit)) {
        ids.push_back(read.id);
      }
    }
  } else {
    const Id id = recording.find(source.tensor());
    if (id != Recording::kNone && (recording.followers(id) & tape.bit)) ids.push_back(id);
  }
  return ids;
}

Gradient to_gradient(const Cotangent& ct) {
  if (ct.is_zero()) return {};
  if (ct.is_rows()) return Gradient(ct.indices(), ct.value(), ct.shape());
  return Gradient(dense(ct));
}

Cotangent to_cotangent(const Gradient& g) {
  if (g.is_none()) return {};
  return g.is_rows() ? Cotangent::rows(g.indices(), g.values(), g.dense_shape())
                     : Cotangent(g.values());
}

Tensor Gradient::tensor() const {
  if (is_none()) {
    fail<InvalidArgumentError>(
        "this gradient is none: the target does not depend on the source in "
        "a differentiable way; tape.explain(target, source) says why");
  }
  return is_rows() ? dense(to_cotangent(*this)) : values_;
}

GradientTape::GradientTape(TapeOptions options) : state_(std::make_unique<State>()) {
  state_->options = options;
  thread_tapes().enter(*state_);
}

GradientTape::~GradientTape() {
  if (!state_) return;
  stop();
  ThreadTapes::forget(*state_);
}

GradientTape::GradientTape(GradientTape&&) noexcept = default;
GradientTape& GradientTape::operator=(GradientTape&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void GradientTape::stop() { thread_tapes().leave(*state_); }
void GradientTape::resume() {
  if (!state_->recording) state_->used = false;
  thread_tapes().resume(*state_);
}
bool GradientTape::is_recording() const { return state_->entered && !state_->paused; }

void GradientTape::reset() {
  stop();
  ThreadTapes::forget(*state_);
  state_->used = false;
  state_->watched.clear();
  thread_tapes().enter(*state_);
}

GradientTape::Pause::Pause(GradientTape& tape) : tape_(&tape) {
  if (!tape.is_recording()) {
    fail<UsageError>("[GradientTape.stop_recording] the tape is not recording");
  }
  tape.state_->paused = true;
}
GradientTape::Pause::~Pause() { tape_->state_->paused = false; }

void GradientTape::watch(const Tensor& t) {
  if (!state_->recording) fail<UsageError>("[GradientTape.watch] the tape was already used");
  if (!is_differentiable(t.dtype())) {
    fail<InvalidArgumentError>("[GradientTape.watch] got a tensor of ", name_of(t.dtype()),
                               "; only float and complex tensors have gradients, cast it");
  }
  state_->recording->watch(t, state_->bit);
}

void GradientTape::watch(const Variable& v) {
  state_->watched.push_back(v.state()->shared_from_this());
}

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> result;
  if (!state_->recording) return result;
  for (const auto& read : state_->recording->variable_reads()) {
    if (!(state_->recording->followers(read.id) & state_->bit)) continue;
    const Variable v(read.variable);
    if (std::find(result.begin(), result.end(), v) == result.end()) result.push_back(v);
  }
  return result;
}

TapeUse::TapeUse(GradientTape& tape, const char* what)
    : tape_(tape), last_(!tape.state().options.persistent) {
  if (tape.state().used) {
    fail<UsageError>("[GradientTape.", what,
                     "] A non-persistent GradientTape can only be used to "
                     "compute one set of gradients (or jacobians); make it persistent to use it "
                     "again");
  }
  if (!last_) return;
  tape.stop();
  tape.state().used = true;
}

TapeUse::~TapeUse() {
  if (last_) ThreadTapes::forget(tape_.state());
}

void check_targets(const char* what, const std::vector<Tensor>& targets, std::size_t sources,
                   const GradientOptions& options) {
  const auto& given = options.output_gradients;
  if (!given.empty() && given.size() != targets.size()) {
    fail<InvalidArgumentError>("[GradientTape.", what, "] got ", given.size(),
                               " output_gradients for ", targets.size(), " targets");
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i].defined()) {
      fail<InvalidArgumentError>("[GradientTape.", what, "] target ", i, " is an undefined tensor");
    }
    if (given.empty() || !given[i].defined()) continue;
    if (!shapes_agree(given[i].shape(), targets[i].shape()) ||
        given[i].dtype() != targets[i].dtype()) {
      fail<InvalidArgumentError>("[GradientTape.", what, "] output_gradients[", i, "] has shape ",
                                 given[i].shape(), " and dtype ", name_of(given[i].dtype()),
                                 ", its target has ", targets[i].shape(), " and ",
                                 name_of(targets[i].dtype()), "; they must agree");
    }
  }
  if (options.into) {
    if (options.into->empty()) options.into->resize(sources);
    if (options.into->size() != sources) {
      fail<InvalidArgumentError>("[GradientTape.", what, "] got ", options.into->size(),
                                 " buffers for ", sources, " sources");
    }
  }
}

// While a function is traced the sum is a name that dies with the trace. So it becomes the state of
// a variable, which each run of the program reads and writes.
void GradientBuffer::settle(const Source& source) {
  if (thread_context.variables && !state_.defined()) {
    if (!source.shape().is_known())
      fail<InvalidArgumentError>(
          "[GradientTape.gradient] got a buffer for a source whose size is not known while the "
          "function is traced; add its gradients outside of it");
    struct MadeNow {  // and not by the program
      const ThreadContext inside = thread_context;
      MadeNow() {
        thread_context.graph = nullptr;
        thread_context.variables = nullptr;
      }
      ~MadeNow() { thread_context = inside; }
    } const made_now;
    state_ = Variable(sum_.is_none() ? zeros(source.shape(), source.dtype()) : sum_.tensor(),
                      {.name = "gradient_buffer", .trainable = false});
    sum_ = Gradient();
  }
}

Gradient GradientBuffer::take(const Source& source) {
  settle(source);
  return state_.defined() ? Gradient(state_.value()) : std::exchange(sum_, Gradient());
}

void GradientBuffer::put(Gradient sum) {
  if (state_.defined()) {
    state_.assign(sum.tensor());
  } else {
    sum_ = std::move(sum);
  }
}

Gradient GradientBuffer::value() const {
  return state_.defined() ? Gradient(state_.value()) : sum_;
}

void GradientBuffer::reset() {
  sum_ = Gradient();
  if (state_.defined()) state_.assign(zeros(state_.shape(), state_.dtype()));
}

std::vector<Gradient> GradientTape::gradient(const std::vector<Tensor>& targets,
                                             const std::vector<Source>& sources,
                                             const GradientOptions& options) {
  check_targets("gradient", targets, sources.size(), options);
  const TapeUse use(*this, "gradient");
  std::vector<Cotangent> seeds;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Tensor given = options.output_gradients.empty() ? Tensor() : options.output_gradients[i];
    if (given.defined()) {
      seeds.push_back(broadcast_to(given, targets[i].shape()));  // other names of the same sizes
    } else if (is_differentiable(targets[i].dtype())) {
      seeds.push_back(Cotangent::spread(ones({}, targets[i].dtype()), targets[i].shape()));
    } else {
      seeds.emplace_back();
    }
  }
  std::vector<std::vector<Id>> ids;
  for (const Source& s : sources) ids.push_back(reads_of(*state_, s));
  std::vector<Cotangent> initial;
  if (options.into) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (ids[i].empty() && !(*options.into)[i].value().is_none())
        (*options.into)[i].settle(sources[i]);
      // The sweep holds the only reference then.
      initial.push_back(ids[i].empty() ? Cotangent()
                                       : to_cotangent((*options.into)[i].take(sources[i])));
    }
  }

  const auto results = sweep(*state_->recording, state_->bit,
                             {.targets = targets,
                              .seeds = seeds,
                              .sources = ids,
                              .initial = initial,
                              .release = use.is_last()});
  std::vector<Gradient> gradients;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    gradients.push_back(to_gradient(results[i]));
    if (options.into) {
      if (!gradients[i].is_none()) (*options.into)[i].put(gradients[i]);
      gradients[i] = (*options.into)[i].value();
    }
    if (gradients[i].is_none() && options.unconnected == Unconnected::zero) {
      gradients[i] = zeros(sources[i].shape(), sources[i].dtype());
    }
  }
  return gradients;
}

std::vector<Cotangent> vjp_of(const TensorFunction& f, std::span<const Tensor> primals,
                              std::uint32_t wanted, std::span<const Cotangent> cts) {
  GradientTape tape({.watch_accessed_variables = false});
  SmallVector<Tensor, 8> in;
  std::vector<std::vector<Id>> ids;
  for (std::size_t i = 0; i < primals.size(); ++i) {
    const bool active = has_position(wanted, i);
    in.push_back(active ? identity(primals[i]) : primals[i]);
    if (active) tape.watch(in.back());
    ids.push_back(active ? reads_of(tape.state(), in.back()) : std::vector<Id>());
  }
  const Tensors out = f(in);
  tape.stop();
  return sweep(*tape.state().recording, tape.state().bit,
               {.targets = out, .seeds = cts, .sources = ids, .initial = {}, .release = true});
}

}  // namespace gradus
