// Why a gradient is none, zero, NaN or infinite.
//
// None: the recording also keeps ops without a derivative and notes assignments. A walk up from the
// source and a walk down from the target, over all of these, meet on the ways between the two; what
// cuts them is named. Zero and NaN: the sweep is made once more with somebody watching it, who
// remembers the first op that lost or spoiled what came to it.
#include "gradus/explain.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "autodiff/tape.h"
#include "gradus/ops.h"
#include "graph/context.h"
#include "graph/places.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using Id = Recording::Id;
using Node = Recording::Node;

struct Health {
  bool nan = false, infinite = false, nonzero = false;
  bool bad() const { return nan || infinite; }
  const char* name() const { return nan ? "NaN" : "inf"; }

  void look(double x) {
    nan |= std::isnan(x);
    infinite |= std::isinf(x);
    nonzero |= x != 0;
  }
};

// Of values that can be looked at: not traced, not batched, and float or complex.
std::optional<Health> health_of(const Tensor& t) {
  if (!t.defined() || !is_concrete(t) || !is_differentiable(t.dtype())) return {};
  Health health;
  visit_dtype(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = static_cast<const T*>(t.raw_data());
    for (std::int64_t i = 0; i < t.num_elements(); ++i) {
      if constexpr (is_complex(dtype_v<T>)) {
        health.look(static_cast<double>(x[i].real()));
        health.look(static_cast<double>(x[i].imag()));
      } else if constexpr (sizeof(T) == 2) {
        health.look(static_cast<double>(static_cast<float>(x[i])));
      } else {
        health.look(static_cast<double>(x[i]));
      }
    }
  });
  return health;
}

std::string names(const Source& s) {
  if (s.is_variable()) return "the variable '" + s.variable().name() + "'";
  return "the source (" + std::string(name_of(s.dtype())) + ", shape " + to_string(s.shape()) + ")";
}

std::string lines(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += "\n  " + part;
  return text;
}

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

std::string why_not_followed(const GradientTape::State& tape, const Source& source) {
  if (!is_differentiable(source.dtype())) {
    return "none: " + names(source) +
           " has no derivatives; cast it to a float dtype and watch the result";
  }
  if (!source.is_variable()) {
    return "none: this tape does not follow " + names(source) +
           "; call watch() on it before it is used";
  }
  std::string text = "none: " + names(source) + " was not read while this tape was recording";
  if (!source.variable().trainable()) {
    text += " and watched; it is not trainable, so the tape only follows it after watch()";
  } else if (!tape.options.watch_accessed_variables) {
    text += " and watched; the tape has watch_accessed_variables = false, call watch()";
  } else {
    text += "; reads before the tape opened or while it was stopped do not count";
  }
  return text;
}

// Everything that the recording knows about ways from some values to another.
class Ways {
 public:
  Ways(const Recording& recording, Recording::Followers bit, std::span<const Id> sources, Id target)
      : r_(recording), bit_(bit), reached_(r_.value_count(), false), needed_(reached_) {
    for (Id id : sources) reached_[id] = true;
    needed_[target] = true;
    for (std::size_t k = 0; k < r_.node_count(); ++k) {
      const Node& n = r_.node(k);
      bool reached = false;
      for (Id in : r_.edges(n)) reached = reached || (in != Recording::kNone && reached_[in]);
      if (!n.op) reached = reached_[n.first_out] || assigned_from(n.first_out, reached_) != nullptr;
      for (std::uint32_t i = 0; reached && i < n.out_count; ++i) reached_[n.first_out + i] = true;
    }
    for (std::size_t k = r_.node_count(); k-- > 0;) {
      const Node& n = r_.node(k);
      if (!is_needed(n)) continue;
      for (Id in : r_.edges(n))
        if (in != Recording::kNone) needed_[in] = true;
      if (!n.op) for_each_assignment(n.first_out, [&](const auto& a) { needed_[a.value] = true; });
    }
  }

  // Whether the target was computed from what the node makes.
  bool is_needed(const Node& n) const {
    for (std::uint32_t i = 0; i < n.out_count; ++i)
      if (needed_[n.first_out + i]) return true;
    return false;
  }

  bool exist(Id target) const { return reached_[target]; }

  // What ends derivatives on the ways, in the order of the program.
  std::vector<std::string> cuts() const {
    std::vector<std::string> found;
    for (std::size_t k = 0; k < r_.node_count(); ++k) {
      const Node& n = r_.node(k);
      if (!is_needed(n)) continue;
      if (!n.op) {
        if (const auto* a = assigned_from(n.first_out, reached_)) {
          add_once(found, "the assignment to the variable '" + a->variable->name + "' at " +
                              place(a->where) + ": derivatives do not pass through a variable");
        }
        continue;
      }
      const auto edges = r_.edges(n);
      for (std::size_t i = 0; i < edges.size(); ++i) {
        if (edges[i] == Recording::kNone || !reached_[edges[i]]) continue;
        const std::string why = why_cut(n, i, edges[i]);
        if (!why.empty()) add_once(found, op_at(*n.op, n.where) + ": " + why);
      }
    }
    return found;
  }

  std::size_t ops() const {
    std::size_t count = 0;
    for (std::size_t k = 0; k < r_.node_count(); ++k) {
      const Node& n = r_.node(k);
      count += n.op && is_needed(n) && reached_[n.first_out];
    }
    return count;
  }

 private:
  template <class F>
  void for_each_assignment(Id read, F f) const {
    for (const auto& v : r_.variable_reads()) {
      if (v.id != read) continue;
      for (const auto& a : r_.assignments())
        if (a.variable == v.variable && a.value < read) f(a);
    }
  }
  const Recording::Assignment* assigned_from(Id read, const std::vector<bool>& values) const {
    const Recording::Assignment* found = nullptr;
    for_each_assignment(read, [&](const auto& a) {
      if (values[a.value]) found = &a;
    });
    return found;
  }

  std::string why_cut(const Node& n, std::size_t input, Id in) const {
    if (n.op->kind == Kind::not_differentiable) return n.op->why_not;
    if (!n.op->is_differentiable_in(static_cast<int>(input)))
      return "it has no derivative with respect to argument " + std::to_string(input);
    if (!(r_.followers(in) & bit_)) return {};  // cut before
    if (n.cut) return "its result is not float or complex, so it has no derivatives";
    if (!(r_.followers(n.first_out) & bit_)) return "this tape was not recording then";
    return {};
  }

  const Recording& r_;
  Recording::Followers bit_;
  std::vector<bool> reached_, needed_;
};

// What saved tensors say about the forward values.
std::string first_bad_value(const Recording& r, const Ways& ways, const Tensor& target) {
  std::vector<std::optional<Health>> known(r.value_count());
  SmallVector<Tensor, 8> in;
  SmallVector<Tensor, 4> out;
  SmallVector<Aval, 4> avals;
  std::string constant;  // the first operand that nobody follows and is bad
  std::size_t constant_node = r.node_count();
  for (std::size_t k = 0; k < r.node_count(); ++k) {
    const Node& n = r.node(k);
    if (!n.op || n.cut || !ways.is_needed(n)) continue;
    r.load(n, in, out, avals);
    const auto edges = r.edges(n);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto health = health_of(in[i]);
      if (edges[i] != Recording::kNone) {
        if (health) known[edges[i]] = health;
      } else if (health && health->bad() && constant.empty()) {
        constant = "argument " + std::to_string(i) + " of " + op_at(*n.op, n.where) + " holds " +
                   health->name() + " from the start";
        constant_node = k;
      }
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      if (const auto health = health_of(out[i])) known[n.first_out + i] = health;
  }
  const Id target_id = r.find(target);
  if (const auto health = health_of(target); health && target_id != Recording::kNone)
    known[target_id] = health;
  for (std::size_t k = 0; k < r.node_count(); ++k) {
    if (k == constant_node) return constant;
    const Node& n = r.node(k);
    for (std::uint32_t i = 0; i < n.out_count; ++i) {
      const auto& health = known[n.first_out + i];
      if (!health || !health->bad()) continue;
      if (!n.op) return std::string("a watched value holds ") + health->name() + " from the start";
      bool inputs_known = true;
      for (Id id : r.edges(n)) inputs_known &= id == Recording::kNone || known[id].has_value();
      return std::string(health->name()) + (inputs_known ? " is made by " : " is first seen in ") +
             op_at(*n.op, n.where) + (inputs_known ? " from finite arguments" : "'s result");
    }
  }
  return {};
}

class Watcher final : public SweepProbe {
 public:
  explicit Watcher(const Recording& r) : r_(r) {}

  void visiting(std::size_t node, std::span<const Cotangent> cts) override {
    finish();
    node_ = node;
    came_ = {};
    for (const Cotangent& ct : cts) merge(came_, ct);
    gave_ = false;
    gave_nonzero_ = false;
  }
  void added(std::size_t, int input, const Cotangent& g) override {
    Health health;
    merge(health, g);
    gave_ = true;
    gave_nonzero_ |= health.nonzero;
    if (health.bad() && !came_.bad() && spoiled.empty()) {
      spoiled = op_at(*r_.node(*node_).op, r_.node(*node_).where) +
                " turns finite gradients into " + health.name() + " for its argument " +
                std::to_string(input);
    }
  }
  void finish() {
    if (!node_) return;
    const std::string here = op_at(*r_.node(*node_).op, r_.node(*node_).where);
    if (!gave_) add_once(silent, here + ": its derivative is zero everywhere");
    if (gave_ && came_.nonzero && !gave_nonzero_) add_once(zeroed, here);
  }

  std::string spoiled;
  std::vector<std::string> silent, zeroed;

 private:
  static void merge(Health& health, const Cotangent& ct) {
    if (ct.is_zero()) return;
    const auto found = health_of(ct.value());
    if (!found) return;
    health.nan |= found->nan;
    health.infinite |= found->infinite;
    health.nonzero |= found->nonzero;
  }

  const Recording& r_;
  std::optional<std::size_t> node_;  // that is being visited
  Health came_;
  bool gave_ = false, gave_nonzero_ = false;
};

std::string verdict(const Cotangent& gradient, const Recording& r, const Ways& ways,
                    const Tensor& target, const Watcher& watcher) {
  const auto health = health_of(gradient.value());
  if (!health) return "connected: the gradient has no values to look at here (traced or batched)";
  if (health->bad()) {
    const std::string forward = first_bad_value(r, ways, target);
    std::string text = health->nan ? "NaN: " : "infinite: ";
    if (!forward.empty()) return text + "already in the forward values: " + forward;
    if (!watcher.spoiled.empty())
      return text + "the forward values are finite; on the way back, " + watcher.spoiled;
    return text + "the forward values are finite; contributions that are finite add up to it";
  }
  if (!health->nonzero) {
    if (watcher.zeroed.empty()) return "zero: contributions that are not zero cancel each other";
    return "zero: what arrives there is not zero, but is multiplied by 0 in" +
           lines(watcher.zeroed);
  }
  const std::size_t ops = ways.ops();
  std::ostringstream text;
  text << "connected: the gradient is finite and not zero; " << ops << (ops == 1 ? " op" : " ops")
       << " between target and source";
  return text.str();
}

}  // namespace

std::string GradientTape::explain(const Tensor& target, const Source& source) {
  if (state_->used || !state_->recording) {
    return "unknown: this tape was already used and keeps nothing; make it persistent, or call "
           "explain() before gradient()";
  }
  Recording& r = *state_->recording;
  const std::vector<Id> sources = reads_of(*state_, source);
  if (sources.empty()) return why_not_followed(*state_, source);
  const Id id =
      target.defined() && target.impl()->has(kTracked) ? r.find(target) : Recording::kNone;
  if (id == Recording::kNone) {
    return "none: the target was not computed from anything that this tape follows: it was made "
           "before the tape opened, while it was stopped, or from values that are not watched";
  }
  const Ways ways(r, state_->bit, sources, id);
  if (!ways.exist(id)) return "none: the target does not depend on " + names(source);

  const Mute nobody_listens(0);
  Watcher watcher(r);
  const Cotangent seed = is_differentiable(target.dtype())
                             ? Cotangent::spread(ones({}, target.dtype()), target.shape())
                             : Cotangent();
  const auto gradient = sweep(r, state_->bit,
                              {.targets = {&target, 1},
                               .seeds = {&seed, 1},
                               .sources = {&sources, 1},
                               .initial = {},
                               .probe = &watcher})[0];
  watcher.finish();
  if (!gradient.is_zero()) return verdict(gradient, r, ways, target, watcher);
  std::vector<std::string> reasons = ways.cuts();
  for (const std::string& s : watcher.silent) add_once(reasons, s);
  return "none: on the way from " + names(source) + " to the target, derivatives end at" +
         lines(reasons);
}

}  // namespace gradus
